"""The knowledge bases on a real database, with plain text as the only format and hashed vectors."""

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from adapters.outbound.storage.audit import PostgresAudit
from adapters.outbound.storage.blobs import PostgresBlobReferences
from adapters.outbound.storage.knowledge.bases import PostgresBases
from adapters.outbound.storage.knowledge.files import PostgresFiles
from adapters.outbound.storage.knowledge.search import PostgresChunkIndex
from adapters.outbound.storage.knowledge.staging import PostgresStaging
from adapters.outbound.storage.knowledge.uploads import PostgresUploads
from adapters.outbound.storage.pool import Database
from adapters.outbound.system.blobs import FileBlobs
from adapters.outbound.system.clock import RandomIds, SystemClock
from domain.access.model import Caller
from domain.knowledge.bases import BaseAccess, BasesService
from domain.knowledge.chunking import Chunker
from domain.knowledge.documents import Block, BlockKind, Document, FileType, Format, FormatSupport
from domain.knowledge.files import BaseFilesService, FilesService, UploadLimits, UploadService
from domain.knowledge.ingest import IngestService
from domain.knowledge.maintenance import Retention, Sweeper
from domain.knowledge.model import NewBase, ReadPolicy, UploadedFile
from domain.knowledge.search import SearchService
from domain.knowledge.titles import title_of
from domain.refusals import Unreadable, Unsupported
from ports.files import SharedFile
from ports.indexing import Embedder, Progress, ReadPart
from ports.knowledge import IncomingFile
from tests.support.database import opened as a_database
from tests.support.documents import document_of
from tests.support.hashed_embedder import HashedEmbedder, count_words

WORKER = 4711
TXT = FileType(Format.TXT, "text/plain")


class PlainParser:
    """Reads .txt alone: a paragraph for each blank line; 'corrupt' as content, or last paragraph, cannot be read.

    `gate` is waited for before a file is read, `halfway` before each part but the first.
    """

    def __init__(self) -> None:
        self.parsed: list[str] = []
        self.gate: asyncio.Event | None = None
        self.halfway: asyncio.Event | None = None

    async def identify(self, path: Path, file_name: str) -> FileType:
        if not file_name.endswith(".txt"):
            raise Unsupported(f"{file_name}: not a format of ours")
        if path.stat().st_size == 0:
            raise Unreadable(f"{file_name}: is empty")
        return TXT

    async def parse(self, path: Path, file_name: str, progress: Progress | None = None) -> Document:
        if progress:
            progress(0.5)
        if self.gate:
            await self.gate.wait()
        text = path.read_text()
        if text == "corrupt":
            raise Unreadable(f"{file_name}: is corrupt")
        if text == "breaks":
            raise RuntimeError("a fault of the parser")
        self.parsed.append(file_name)
        parts = [part for part in re.split(r"\n\s*\n", text) if part.strip()]
        return document_of(file_name, [Block(BlockKind.PARAGRAPH, part) for part in parts], TXT)

    async def cut(
        self, path: Path, file_name: str, progress: Progress | None = None
    ) -> AsyncGenerator[ReadPart, None]:
        """A part for each paragraph."""
        document = await self.parse(path, file_name, progress)
        chunker, end = Chunker(title_of(document, file_name), count_words), 0
        for block in document.blocks:
            if end and self.halfway:
                await self.halfway.wait()
            if block.text == "corrupt":
                raise Unreadable(f"{file_name}: is corrupt")
            yield ReadPart(document.text[end : block.end], list(chunker.take([block])))
            end = block.end
        yield ReadPart(document.text[end:], list(chunker.end()))

    def available(self) -> Sequence[FormatSupport]:
        return [FormatSupport(each, each is Format.TXT, "this test") for each in Format]

    async def close(self) -> None:
        return


@dataclass
class Moments:
    """A clock that is set by hand."""

    at: datetime = field(default_factory=lambda: datetime.now(UTC))

    def now(self) -> datetime:
        return self.at


class Links:
    def address(self, file: SharedFile) -> str:
        return f"https://agent.example.com/{file.record}/{file.name}"


class Knowledge:
    """All services over one database."""

    def __init__(
        self,
        database: Database,
        folder: Path,
        *,
        policy: ReadPolicy = ReadPolicy.DOCUMENTED,
        limits: UploadLimits | None = None,
        memory_sync: bool = False,
        embedder: Embedder | None = None,
        parser: PlainParser | None = None,
    ) -> None:
        self.database = database
        self.parser = parser or PlainParser()
        self.embedder = embedder or HashedEmbedder()
        self.folder = folder
        self.blobs = FileBlobs(folder)
        self.holds = PostgresBlobReferences(database)
        self.uploads = PostgresUploads(database)
        self.staging = PostgresStaging(database)
        self.index = PostgresChunkIndex(database)
        self.clock = Moments()
        self.retention = Retention(self.blobs, self.holds)
        self.audit = PostgresAudit(database, self.clock)
        self.sweeper = Sweeper(self.blobs, self.holds, self.uploads, self.retention, self.clock)
        store = PostgresBases(database)
        self.access = BaseAccess(store, policy, policy)
        self.bases = BasesService(store, self.access, self.retention, self.audit, memory_sync=memory_sync)
        self.woken = asyncio.Event()
        self.taking = UploadService(
            self.access,
            self.blobs,
            self.holds,
            self.uploads,
            self.parser,
            self.retention,
            self.woken.set,
            limits or UploadLimits(),
        )
        self.files = FilesService(self.access, PostgresFiles(database), self.blobs, self.taking)
        self.base_files = BaseFilesService(
            self.access,
            PostgresFiles(database),
            self.retention,
            self.parser,
            self.woken.set,
            limits or UploadLimits(),
            self.audit,
        )
        self.search = SearchService(self.access, self.index, self.embedder, Links())
        self.ingest = self.worker(owner=WORKER)

    def worker(self, owner: int) -> IngestService:
        return IngestService(
            self.uploads,
            self.staging,
            self.blobs,
            self.parser,
            self.embedder,
            self.retention,
            SystemClock(),
            RandomIds(),
            owner,
            self.taking.ended,
        )

    async def work_one(self) -> bool:
        """Takes the next upload and works on it to its end; False when there is none."""
        work = await self.ingest.take()
        if work is not None:
            await self.ingest.work(work)
        return work is not None

    async def base(self, owner: Caller, name: str = "Handbook") -> int:
        return (await self.bases.create(owner, NewBase(name))).id

    async def upload(self, caller: Caller, base_id: int, **files: str | bytes) -> Sequence[UploadedFile]:
        """Uploads files (a name's last underscore stands for the dot) and works until they are ready."""
        named = [(name[::-1].replace("_", ".", 1)[::-1], content) for name, content in files.items()]
        sending = asyncio.create_task(self.files.upload(caller, base_id, incoming(named)))
        try:
            while not sending.done():
                if not await self.work_one():
                    await asyncio.wait({sending}, timeout=0.01)
        finally:
            sending.cancel()
        return await sending

    async def count(self, table: str) -> int:
        row = await self.database.fetch_one(f"SELECT count(*) FROM {table}")
        assert row
        return int(row[0])


async def incoming(files: Iterable[tuple[str, str | bytes]]) -> AsyncIterator[IncomingFile]:
    for name, content in files:
        yield IncomingFile(name, pieces(content if isinstance(content, bytes) else content.encode()))


async def pieces(content: bytes, size: int = 1000) -> AsyncIterator[bytes]:
    for start in range(0, len(content), size):
        yield content[start : start + size]


async def read(content: AsyncIterator[bytes]) -> bytes:
    return b"".join([piece async for piece in content])


@asynccontextmanager
async def opened(database_url: str) -> AsyncIterator[Database]:
    """With the worker of the tests in it, as a living process."""
    async with a_database(Database(database_url)) as found, found.connection() as living:
        await living.execute("SELECT pg_advisory_lock(%s)", (WORKER,))
        yield found
