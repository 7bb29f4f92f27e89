"""Sources of knowledge bases on a real database: web pages are read in the sandbox, steps are taken one by one."""

import re
from collections.abc import Sequence
from pathlib import Path

from adapters.outbound.knowledge.fetching import PageFetcher
from adapters.outbound.knowledge.parsing.parser import SandboxedParser
from adapters.outbound.knowledge.parsing.sandbox.fork_server import ForkServer
from adapters.outbound.knowledge.web_origin import WebOrigin
from adapters.outbound.net.addresses import AddressPolicy
from adapters.outbound.net.http import AioHttp
from adapters.outbound.storage.audit import PostgresAudit
from adapters.outbound.storage.knowledge.files import PostgresFiles
from adapters.outbound.storage.knowledge.sources import PostgresSources
from adapters.outbound.storage.knowledge.web_hosts import PostgresWebHosts
from adapters.outbound.storage.pool import Database
from domain.access.model import Caller
from domain.knowledge.documents import Block, BlockKind, Document, FileType, Format
from domain.knowledge.rules import Mode, SearchOptions
from domain.knowledge.sources.model import Source, SourceKind, SourcePage, SourceState
from domain.knowledge.sources.reading import SourceReader
from domain.knowledge.sources.service import SourceService
from ports.http import WebPageReader
from ports.indexing import Progress
from ports.knowledge import SourceOrigin
from tests.support.documents import document_of
from tests.support.knowledge import WORKER, Knowledge, PlainParser

HTML = FileType(Format.HTML, "text/html")


class HtmlParser(PlainParser):
    """Reads what stands between the tags of .html too."""

    async def identify(self, path: Path, file_name: str) -> FileType:
        return HTML if file_name.endswith(".html") else await super().identify(path, file_name)

    async def parse(self, path: Path, file_name: str, progress: Progress | None = None) -> Document:
        if not file_name.endswith(".html"):
            return await super().parse(path, file_name, progress)
        text = re.sub(r"<[^>]+>", " ", path.read_text().partition("<body>")[2]).strip()
        return document_of(file_name, [Block(BlockKind.PARAGRAPH, text)], HTML)


class KeptForkServer(ForkServer):
    """Goes on when a parser is closed, for the tests of a module."""

    def stop(self) -> None:
        return

    def end(self) -> None:
        super().stop()


class Sources:
    """All that reads sources, over the services of `knowledge`."""

    def __init__(self, knowledge: Knowledge, reader: WebPageReader, *, policy: AddressPolicy) -> None:
        self.knowledge = knowledge
        self.database: Database = knowledge.database
        self.http = AioHttp(policy)
        self.hosts = PostgresWebHosts(self.database)
        self.store = PostgresSources(self.database)
        self.service = SourceService(
            knowledge.access, self.store, lambda: None, PostgresAudit(self.database, knowledge.clock)
        )
        fetcher = PageFetcher(self.http, self.hosts, 0.0, 2**20)
        self.origins: dict[SourceKind, SourceOrigin] = {SourceKind.WEB: WebOrigin(fetcher, reader)}
        self.reader = self.worker(WORKER)

    def worker(self, owner: int) -> SourceReader:
        return SourceReader(
            self.store,
            self.origins,
            self.knowledge.taking,
            PostgresFiles(self.database),
            self.knowledge.retention,
            owner,
        )

    async def step(self) -> bool:
        """One step of what is under way or due, whatever it waits for; False when there is nothing to do."""
        await self.database.execute(
            "UPDATE kb_source SET due_at = now() WHERE state = 'reading' AND owner IS NULL"
        )
        leased = await self.reader.take()
        if leased is not None:
            await self.reader.work(leased)
        return leased is not None

    async def work_off(self, *, rests: bool = False) -> None:
        """Reads until nothing is to be read, and files until all are ready; `rests`: hosts keep their rests."""
        busy = True
        while busy:
            busy = await self.step()
            while await self.knowledge.work_one():
                busy = True
            if not rests:
                await self.database.execute("UPDATE web_host SET free_at = '-infinity'")
        await self.reader.delete_unused()

    async def add(self, caller: Caller, base: int, url: str, every: float | None = None) -> Source:
        """Has an address read, to its end."""
        source = await self.service.add_pages(caller, base, url, every)
        await self.work_off()
        return await self.source(caller, base, source.id)

    async def again(self, caller: Caller, base: int, source_id: int) -> Source:
        """The next pass, to its end."""
        await self.service.read_now(caller, base, source_id)
        await self.work_off()
        source = await self.source(caller, base, source_id)
        assert source.state is SourceState.IDLE
        return source

    async def source(self, caller: Caller, base: int, source_id: int) -> Source:
        listed = await self.service.list(caller, base, 200, 0)
        return next(source for source in listed.items if source.id == source_id)

    async def pages(self, caller: Caller, base: int, source_id: int) -> Sequence[SourcePage]:
        return (await self.service.pages(caller, base, source_id, "", 200, 0)).items

    async def files(self, caller: Caller, base: int) -> set[str]:
        page = await self.knowledge.base_files.states(caller, base, 200, 0)
        return {file.name for file in page.items if file.status == "ready"}

    async def finds(self, caller: Caller, base: int, query: str) -> set[str]:
        """The names of the files that hold one of the words."""
        options = SearchOptions(mode=Mode.TEXT)
        results = await self.knowledge.search.search(caller, base, query, options)
        return {result.file_name for result in results}


def sandboxed(server: ForkServer) -> SandboxedParser:
    return SandboxedParser(fork_server=server)
