"""The knowledge use cases of a remote core."""

import asyncio
from collections.abc import AsyncIterator, Sequence

from switchboard.knowledge.v1 import base_files_pb2 as files_pb
from switchboard.knowledge.v1 import base_files_pb2_grpc, knowledge_pb2_grpc
from switchboard.knowledge.v1 import knowledge_pb2 as pb

from adapters.outbound.core_client.connection import CoreConnection
from adapters.wire import knowledge as wire
from adapters.wire.base_files import WINDOW
from adapters.wire.explanations import explanation_from_pb
from domain.access.model import Caller
from domain.knowledge.file_states import TextWindow
from domain.knowledge.model import (
    ALL_FILES,
    Base,
    BaseChange,
    Chunk,
    ChunkPage,
    FileRecord,
    FilesWanted,
    Level,
    NewBase,
    Permission,
    SearchResult,
    UploadedFile,
)
from domain.knowledge.rules import LARGEST_WINDOW, check_files_wanted, check_window, require
from domain.knowledge.search.explanation import Explanation
from domain.knowledge.search.options import DEFAULT, SearchOptions, check_options
from domain.refusals import Invalid, NotFound
from ports.knowledge import Download, IncomingFile

PIECE = 64 * 1024
SLOW = 60.0
"""Seconds for calls that may wait for the model to be loaded, or delete much."""
UPLOAD = 6 * 3600.0
"""Seconds that an upload may take, its processing included."""
LARGEST = 2**63 - 1


class RemoteBases:
    def __init__(self, core: CoreConnection) -> None:
        self._core = core
        self._stub = knowledge_pb2_grpc.KnowledgeServiceStub(core.channel)

    async def list(self, caller: Caller) -> Sequence[Base]:
        pages = self._core.pages(self._stub.ListBases, pb.ListBasesRequest())
        return [wire.BASE.from_pb(base) async for page in pages for base in page.bases]

    async def create(self, caller: Caller, new: NewBase) -> Base:
        made = await self._core.call(self._stub.CreateBase, wire.NEW.to_pb(new))
        return wire.BASE.from_pb(made.base)

    async def get(self, caller: Caller, base_id: int) -> Base:
        return wire.BASE.from_pb(await self._core.call(self._stub.GetBase, pb.GetBaseRequest(id=base_id)))

    async def update(self, caller: Caller, base_id: int, change: BaseChange) -> None:
        await self._core.call(self._stub.UpdateBase, wire.CHANGE.to_pb(change, id=base_id))

    async def delete(self, caller: Caller, base_id: int) -> None:
        await self._core.call(self._stub.DeleteBase, pb.DeleteBaseRequest(id=base_id), deadline=SLOW)

    async def permissions(self, caller: Caller, base_id: int) -> Sequence[Permission]:
        pages = self._core.pages(self._stub.ListPermissions, pb.ListPermissionsRequest(id=base_id))
        return [
            Permission(permission.user_id, Level(permission.permission_level))
            async for page in pages
            for permission in page.permissions
        ]

    async def set_permission(self, caller: Caller, base_id: int, user_id: str, level: int) -> None:
        if not -(2**31) <= level < 2**31:
            raise Invalid("permission_level: must be 0 (none), 1 (READ), 2 (UPDATE) or 3 (DELETE)")
        request = pb.SetPermissionRequest(id=base_id, user_id=user_id, permission_level=level)
        await self._core.call(self._stub.SetPermission, request)


class RemoteFiles:
    def __init__(self, core: CoreConnection) -> None:
        self._core = core
        self._stub = knowledge_pb2_grpc.KnowledgeServiceStub(core.channel)

    async def upload(
        self, caller: Caller, base_id: int, files: AsyncIterator[IncomingFile], respond_async: bool = False
    ) -> Sequence[UploadedFile]:
        await self._check(caller, base_id)
        sending = _Sending(base_id, files, respond_async)
        try:
            done = await self._core.call(self._stub.Upload, sending.requests(), deadline=UPLOAD)
        except (Exception, asyncio.CancelledError):
            if sending.failure is not None:  # the body that came in broke, and gRPC cancels the call for it
                raise sending.failure from None
            raise
        return [wire.UPLOADED.from_pb(file) for file in done.files]

    async def _check(self, caller: Caller, base_id: int) -> None:
        """What the core checks as well, before a byte of the files is read. Raises refusals."""
        _ = caller.user
        base = await self._core.call(self._stub.GetBase, pb.GetBaseRequest(id=base_id))
        require(Level(base.permission_level), Level.UPDATE)

    async def list(
        self, caller: Caller, base_id: int, wanted: FilesWanted = ALL_FILES
    ) -> Sequence[FileRecord]:
        check_files_wanted(wanted)
        request = pb.ListFilesRequest(
            knowledge_base_id=base_id,
            limit=wanted.limit,
            offset=wanted.offset,
            name=wanted.name,
            without_text=not wanted.with_text,
        )
        answers = self._core.stream(self._stub.ListFiles, request, deadline=SLOW)
        return await wire.files_from_messages(answers)

    async def get(self, caller: Caller, file_hash: str) -> FileRecord:
        request = pb.GetFileRequest(file_hash=file_hash)
        answers = self._core.stream(self._stub.StreamFile, request, deadline=SLOW)
        return (await wire.files_from_messages(answers))[0]

    async def download(
        self, caller: Caller, file_hash: str, offset: int = 0, length: int | None = None
    ) -> Download:
        request = pb.DownloadRequest(file_hash=file_hash, offset=offset, length=length)
        answers = self._core.stream(self._stub.Download, request, deadline=UPLOAD)
        first = await anext(answers, None)
        if first is None:
            raise NotFound("File not found")
        return Download(first.start.file_name, first.start.size, _data(answers))

    async def text(self, caller: Caller, file_hash: str, limit: int, offset: int) -> TextWindow:
        check_window(limit, offset, LARGEST_WINDOW)
        request = files_pb.ReadTextWindowRequest(file_id=file_hash, limit=limit, offset=offset)
        stub = base_files_pb2_grpc.BaseFileServiceStub(self._core.channel)
        return WINDOW.from_pb(await self._core.call(stub.ReadTextWindow, request))

    async def chunk(self, caller: Caller, chunk_id: str) -> Chunk:
        request = pb.GetChunkRequest(chunk_id=chunk_id)
        return wire.CHUNK.from_pb(await self._core.call(self._stub.GetChunk, request))

    async def chunks(self, caller: Caller, file_hash: str, limit: int = 5, offset: int = 0) -> ChunkPage:
        chunks: list[Chunk] = []
        while True:
            start = min(offset + len(chunks), LARGEST)
            request = pb.ListChunksRequest(file_id=file_hash, limit=limit - len(chunks), offset=start)
            page = wire.page_from_pb(await self._core.call(self._stub.ListChunks, request))
            chunks += page.chunks
            if not page.chunks or len(chunks) >= min(limit, page.total - offset):
                return ChunkPage(chunks, page.total, limit, offset)


class RemoteSearch:
    def __init__(self, core: CoreConnection) -> None:
        self._core = core
        self._stub = knowledge_pb2_grpc.KnowledgeServiceStub(core.channel)

    async def search(
        self, caller: Caller, base_id: int, query: str, options: SearchOptions = DEFAULT
    ) -> Sequence[SearchResult]:
        check_options(options)
        wanted = wire.options_to_pb(options)
        request = pb.SearchRequest(knowledge_base_id=base_id, query=query, options=wanted)
        answer = await self._core.call(self._stub.Search, request, deadline=SLOW)
        return [wire.result_from_pb(result) for result in answer.results]

    async def explain(
        self, caller: Caller, base_id: int, query: str, options: SearchOptions = DEFAULT
    ) -> Explanation:
        check_options(options)
        wanted = wire.options_to_pb(options)
        request = files_pb.ExplainSearchRequest(knowledge_base_id=base_id, query=query, options=wanted)
        stub = base_files_pb2_grpc.BaseFileServiceStub(self._core.channel)
        return explanation_from_pb(await self._core.call(stub.ExplainSearch, request, deadline=SLOW))


class _Sending:
    """The messages of one upload; remembers what went wrong while its files were read."""

    def __init__(self, base_id: int, files: AsyncIterator[IncomingFile], respond_async: bool) -> None:
        self._start = pb.UploadStart(knowledge_base_id=base_id, respond_async=respond_async)
        self._files = files
        self.failure: Exception | None = None

    async def requests(self) -> AsyncIterator[pb.UploadRequest]:
        yield pb.UploadRequest(start=self._start)
        try:
            async for file in self._files:
                yield pb.UploadRequest(file=pb.FileStart(file_name=file.name))
                async for piece in file.content:
                    for start in range(0, len(piece), PIECE):
                        yield pb.UploadRequest(data=piece[start : start + PIECE])
        except Exception as error:
            self.failure = error
            raise


async def _data(answers: AsyncIterator[pb.DownloadResponse]) -> AsyncIterator[bytes]:
    async for answer in answers:
        yield answer.data
