"""Files into a base, and what can be read of them."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field, replace

from domain import limits
from domain.access.model import Caller, Scope
from domain.access.sharing import Level, needs
from domain.audit.model import Action
from domain.file_names import MAX_FILE_NAME, file_name
from domain.knowledge import rules
from domain.knowledge.bases import BaseAccess
from domain.knowledge.ingest import refusal_of
from domain.knowledge.maintenance import Retention
from domain.knowledge.model import (
    ALL_FILES,
    Chunk,
    ChunkPlace,
    FileRecord,
    FileState,
    FileStatus,
    FilesWanted,
    FileText,
    TextWindow,
    UploadedFile,
    UploadRules,
)
from domain.paging import Page, Slice, Window, checked_limit
from domain.refusals import Conflict, Invalid, NotFound, TooLarge, Unavailable
from ports.audit import Audit
from ports.files import BlobReferences, Blobs, StoredBlob
from ports.indexing import Parser
from ports.knowledge import Download, IncomingFile
from ports.knowledge_storage import Begun, KnowledgeFileStore, NewFile, UploadStore

FIRST_LOOK, LONGEST_LOOK = 0.05, 0.25
"""Seconds between looks at an upload that another process works on: soon at first, then more seldom."""
ROUNDS = 10


@dataclass(frozen=True, slots=True)
class UploadLimits:
    """What one upload may bring: bytes of each file, and files."""

    max_bytes: int = 100 * 1024 * 1024
    max_files: int = 20


@dataclass(eq=False)
class UploadService:
    """Takes files in: bytes first, then records, then the wait until they can be found."""

    access: BaseAccess
    blobs: Blobs
    references: BlobReferences
    uploads: UploadStore
    parser: Parser
    retention: Retention
    wake: Callable[[], None]
    limits: UploadLimits
    _next_end: asyncio.Event = field(default_factory=asyncio.Event, init=False)

    def ended(self) -> None:
        """An upload was worked off in this process: all that wait look at theirs again."""
        self._next_end.set()
        self._next_end = asyncio.Event()

    async def upload(
        self, caller: Caller, base_id: int, files: AsyncIterator[IncomingFile], respond_async: bool = False
    ) -> Sequence[UploadedFile]:
        owner = caller.user
        await self.access.require(caller, base_id, Level.UPDATE)
        held: list[NewFile] = []
        try:
            async for file in files:
                await self._take_in(file, held)
            if not held:
                raise Invalid(rules.NO_FILES)
            begun = await self._settle(owner, base_id, held, respond_async)
            recorded = {file.hash: name for file, (_, _, name) in zip(held, begun.files, strict=True)}
            newest = {file.hash: file.name for file in held}
            if newest != recorded:
                await self.uploads.rename(base_id, newest)
            return [
                UploadedFile(file.hash, file.name, file.size, file.mime_type, status)
                for file, (_, status, _) in zip(held, begun.files, strict=True)
            ]
        finally:
            await self.retention.release([file.blob_key for file in held])

    async def _take_in(self, file: IncomingFile, held: list[NewFile]) -> None:
        if len(held) >= self.limits.max_files:
            raise TooLarge(f"at most {self.limits.max_files} files in one upload")
        name = file_name(file.name)

        async def reference(blob: StoredBlob) -> None:
            await self.references.hold(blob.key, blob.size)
            held.append(NewFile(name, blob.key, blob.sha256, blob.size, "", file.source))

        try:
            stored = await self.blobs.put(file.content, self.limits.max_bytes, reference)
        except TooLarge as refusal:
            raise TooLarge(f"{name} is too large: {refusal.message}") from refusal
        async with self.blobs.local(stored.key) as path:
            kind = await self.parser.identify(path, name)
        held[-1] = replace(held[-1], mime_type=kind.mime_type)

    async def _settle(self, owner: str, base_id: int, files: Sequence[NewFile], respond_async: bool) -> Begun:
        """Makes the records and waits until all are ready.

        Begins again when a record went away because it belonged to another upload, which failed.
        """
        ours: list[int] = []
        for _ in range(ROUNDS):
            begun = await self.uploads.begin(base_id, owner, files, respond_async)
            if begun is None:
                raise NotFound(rules.NO_BASE)
            if begun.upload_id is not None:
                ours.append(begun.upload_id)
                self.wake()
            if respond_async:
                return begun
            if await self._ready(begun):
                return Begun(begun.upload_id, [(id_, FileStatus.READY, name) for id_, _, name in begun.files])
            for upload_id in ours:
                failure = await self.uploads.failure(upload_id)
                if failure is not None:
                    raise refusal_of(failure)
        raise Unavailable("the files are also part of other uploads, which keep failing; try again")

    async def _ready(self, begun: Begun) -> bool:
        """Waits until every record is ready; False when one of them failed or went away."""
        file_ids = {id_ for id_, _, _ in begun.files}
        pause = FIRST_LOOK
        while True:
            next_end = self._next_end
            statuses = await self.uploads.statuses(list(file_ids))
            if len(statuses) < len(file_ids) or FileStatus.FAILED in statuses.values():
                return False
            if all(status is FileStatus.READY for status in statuses.values()):
                return True
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(next_end.wait(), pause)
            pause = min(LONGEST_LOOK, pause * 1.5)


@dataclass(eq=False)
class FilesService:
    """Files of bases, their contents and chunks."""

    access: BaseAccess
    files: KnowledgeFileStore
    blobs: Blobs
    uploads: UploadService

    @needs(Scope.KNOWLEDGE_WRITE)
    async def upload(
        self, caller: Caller, base_id: int, files: AsyncIterator[IncomingFile], respond_async: bool = False
    ) -> Sequence[UploadedFile]:
        """Stores, parses, chunks and embeds files, all of them or none. Needs UPDATE.

        Returns once every file can be found, with `respond_async` once every file is stored. Raises
        `NotFound`, `Forbidden`, `Invalid` (no files), `TooLarge`, `Unsupported`, `Unreadable`; the last
        three name the file.
        """
        return await self.uploads.upload(caller, base_id, files, respond_async)

    @needs(Scope.KNOWLEDGE_READ)
    async def list(
        self, caller: Caller, base_id: int, wanted: FilesWanted = ALL_FILES
    ) -> Sequence[FileRecord]:
        """In the order in which they came. Raises `NotFound`, `Forbidden`, `Invalid`."""
        rules.check_files_wanted(wanted)
        await self.access.inside(caller, base_id, documented=True)
        return await self.files.of_base(base_id, wanted)

    @needs(Scope.KNOWLEDGE_READ)
    async def get(self, caller: Caller, file_hash: str) -> FileRecord:
        """Raises `NotFound`."""
        readable = self.access.only_readable(caller, documented=True)
        record = None
        if rules.is_file_hash(file_hash):
            record = await self.files.find(file_hash, caller.user_id, readable=readable)
        if record is None:
            raise NotFound(rules.NO_FILE)
        return record[0]

    @needs(Scope.KNOWLEDGE_READ)
    async def download(
        self, caller: Caller, file_hash: str, offset: int = 0, length: int | None = None
    ) -> Download:
        """Raises `NotFound`."""
        file = await self.get(caller, file_hash)
        if await self.blobs.size(file.blob_key) != file.size:
            raise NotFound(rules.NO_FILE)
        start = min(max(0, offset), file.size)
        return Download(file.name, file.size, self.blobs.open(file.blob_key, start, length))

    @needs(Scope.KNOWLEDGE_READ)
    async def text(self, caller: Caller, file_hash: str, limit: int, offset: int) -> TextWindow:
        """`limit` characters of the text from `offset` on. Raises `NotFound`, `Invalid`."""
        rules.check_window(limit, offset, rules.LARGEST_WINDOW)
        readable = self.access.only_readable(caller)
        window = None
        if rules.is_file_hash(file_hash):
            window = await self.files.text(file_hash, caller.user_id, offset, limit, readable=readable)
        if window is None:
            raise NotFound(rules.NO_FILE)
        return window

    @needs(Scope.KNOWLEDGE_READ)
    async def chunk(self, caller: Caller, chunk_id: str) -> Chunk:
        """Raises `NotFound`."""
        record = await self.files.chunk(chunk_id, caller.user_id) if rules.is_chunk_id(chunk_id) else None
        readable = self.access.only_readable(caller, documented=True)
        if record is None or (readable and record[1] < Level.READ):
            raise NotFound(rules.NO_CHUNK)
        return record[0]

    @needs(Scope.KNOWLEDGE_READ)
    async def chunks(self, caller: Caller, file_hash: str, limit: int = 5, offset: int = 0) -> Slice[Chunk]:
        """Raises `NotFound`, `Invalid`."""
        rules.check_window(limit, offset)
        file = await self.get(caller, file_hash)
        chunks, total = await self.files.chunks(file, limit, offset)
        return Slice(chunks, Window(limit, offset, total))


MOST_CHARACTERS = 200_000
"""Of one stretch of text: chunks behind it are left for the next one."""


@dataclass(eq=False)
class BaseFilesService:
    """The files of one base: their states, texts, and what to do with them. `wake` tells the worker of an upload.

    Each method with an id raises `NotFound`, `Forbidden`.
    """

    access: BaseAccess
    files: KnowledgeFileStore
    retention: Retention
    parser: Parser
    wake: Callable[[], None]
    limits: UploadLimits
    audit: Audit

    @needs(Scope.KNOWLEDGE_READ)
    async def rules(self, caller: Caller) -> UploadRules:
        return UploadRules(self.limits.max_bytes, self.limits.max_files, self.parser.available())

    @needs(Scope.KNOWLEDGE_READ)
    async def states(
        self, caller: Caller, base_id: int, limit: int, cursor: int, name: str = ""
    ) -> Page[FileState, int]:
        """The newest first; `cursor`: 0 for the first page; `name`: only files whose names hold it, in any case."""
        limits.check_text("name", name, MAX_FILE_NAME)
        await self.access.inside(caller, base_id)
        files = await self.files.states(base_id, checked_limit(limit) + 1, cursor, name)
        shown = files[:limit]
        return Page(shown, shown[-1].id if len(files) > limit else None)

    @needs(Scope.KNOWLEDGE_READ)
    async def state(self, caller: Caller, base_id: int, file_hash: str) -> FileState:
        await self.access.inside(caller, base_id)
        file = await self.files.state(base_id, file_hash) if rules.is_file_hash(file_hash) else None
        if file is None:
            raise NotFound(rules.NO_FILE)
        return file

    @needs(Scope.KNOWLEDGE_WRITE)
    async def remove(self, caller: Caller, base_id: int, file_hash: str) -> None:
        """Deletes a file with its chunks; one that is being processed is cancelled, with all of its upload where the
        caller of the upload waits. Needs UPDATE."""
        await self.access.require(caller, base_id, Level.UPDATE)
        if not rules.is_file_hash(file_hash):
            raise NotFound(rules.NO_FILE)
        async with self.audit.change(caller, Action.FILE_DELETED, f"base:{base_id}/file:{file_hash}"):
            unused = await self.files.remove(base_id, file_hash)
            if unused is None:
                raise NotFound(rules.NO_FILE)
        await self.retention.delete_unreferenced(unused)

    @needs(Scope.KNOWLEDGE_WRITE)
    async def retry(self, caller: Caller, base_id: int, file_hash: str) -> None:
        """Has a file that failed processed again. Needs UPDATE. Raises `Conflict` for another one."""
        await self.access.require(caller, base_id, Level.UPDATE)
        owner = caller.user
        if not rules.is_file_hash(file_hash):
            raise NotFound(rules.NO_FILE)
        async with self.audit.change(caller, Action.FILE_RETRIED, f"base:{base_id}/file:{file_hash}"):
            status = await self.files.retry(base_id, file_hash, owner)
            if status is None:
                raise NotFound(rules.NO_FILE)
            if status is not FileStatus.FAILED:
                raise Conflict(f"only a file that failed is processed again; this one is {status}")
        self.wake()

    @needs(Scope.KNOWLEDGE_READ)
    async def text(self, caller: Caller, base_id: int, file_hash: str, limit: int, offset: int) -> FileText:
        """The text around `limit` chunks from `offset` on; fewer where they are very long. Raises `Invalid`."""
        rules.check_window(limit, offset)
        file = await self.state(caller, base_id, file_hash)
        if file.status is not FileStatus.READY:
            return FileText(file, "", 0, 0, (), Window(limit, offset, 0))
        places = await self.files.places(file, limit + 1, offset)
        start, end, shown = _window(places, limit, offset)
        text, length = await self.files.text_of(file, start, end - start)
        return FileText(file, text, start, length, shown, Window(limit, offset, file.chunk_count))


def _window(places: Sequence[ChunkPlace], limit: int, offset: int) -> tuple[int, int, Sequence[ChunkPlace]]:
    """From where to where the text of the first `limit` chunks reaches, and which of them stand in it.

    The stretches of windows that follow each other hold the whole text: the first begins where the text does, each
    ends where the next begins, or with its last chunk, which may reach further.
    """
    if not places:
        return 0, 0, ()
    start = places[0].start or 0 if offset else 0
    shown = [place for place in places[:limit] if place.reach - start <= MOST_CHARACTERS] or places[:1]
    following = places[len(shown)].start if len(places) > len(shown) else None
    reach = max(place.reach for place in shown)
    end = start + MOST_CHARACTERS if following is None else following
    return start, min(start + MOST_CHARACTERS, max(end, reach)), shown
