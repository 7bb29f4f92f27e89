"""Files of the knowledge bases of a remote core, in streams."""

import asyncio
from collections.abc import AsyncIterator, Sequence

from switchboard.knowledge.v1 import knowledge_pb2 as pb
from switchboard.knowledge.v1 import knowledge_pb2_grpc

from adapters.outbound.core_client.connection import CoreConnection
from adapters.rpc.files import files_from_messages
from adapters.rpc.messages import to_value
from domain.access.model import Caller
from domain.knowledge.model import ALL_FILES, FileRecord, FilesWanted, Level, UploadedFile
from domain.knowledge.rules import check_files_wanted, require
from domain.refusals import NotFound
from ports.knowledge import Download, IncomingFile

PIECE = 64 * 1024
SLOW = 60.0
"""Seconds for a list of files with their texts."""
UPLOAD = 6 * 3600.0
"""Seconds that an upload may take, its processing included."""


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
        return [to_value(file, UploadedFile) for file in done.files]

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
        return await files_from_messages(answers)

    async def get(self, caller: Caller, file_hash: str) -> FileRecord:
        request = pb.GetFileRequest(file_hash=file_hash)
        answers = self._core.stream(self._stub.StreamFile, request, deadline=SLOW)
        return (await files_from_messages(answers))[0]

    async def download(
        self, caller: Caller, file_hash: str, offset: int = 0, length: int | None = None
    ) -> Download:
        request = pb.DownloadRequest(file_hash=file_hash, offset=offset, length=length)
        answers = self._core.stream(self._stub.Download, request, deadline=UPLOAD)
        first = await anext(answers, None)
        if first is None:
            raise NotFound("File not found")
        return Download(first.start.file_name, first.start.size, _data(answers))


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
