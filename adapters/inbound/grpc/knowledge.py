"""Files of knowledge bases over gRPC, in streams: they cross in pieces of at most 64 KiB."""

from collections.abc import AsyncIterator
from typing import Any

from switchboard.knowledge.v1 import knowledge_pb2 as pb

from adapters.inbound.grpc.interceptors import caller
from adapters.rpc.files import file_messages
from adapters.rpc.messages import to_message
from adapters.rpc.pages import PAGE_BYTES
from domain.knowledge.model import FilesWanted
from domain.knowledge.rules import upload_message
from domain.refusals import Invalid, TooLarge
from ports.knowledge import IncomingFile, KnowledgeFiles

PIECE = 64 * 1024
UNORDERED = "an upload is an UploadStart, then for each file a FileStart and its data"


class KnowledgeServicer:
    def __init__(self, files: KnowledgeFiles) -> None:
        self._files = files

    async def Upload(
        self, request_iterator: AsyncIterator[pb.UploadRequest], context: Any
    ) -> pb.UploadResponse:
        first = await anext(request_iterator, None)
        if first is None or first.WhichOneof("part") != "start":
            raise Invalid(UNORDERED)
        start = first.start
        done = await self._files.upload(
            caller(), start.knowledge_base_id, _incoming(request_iterator), start.respond_async
        )
        message = upload_message(len(done), respond_async=start.respond_async)
        return pb.UploadResponse(message=message, files=[to_message(file, pb.UploadedFile) for file in done])

    async def ListFiles(
        self, request: pb.ListFilesRequest, context: Any
    ) -> AsyncIterator[pb.ListFilesResponse]:
        limit = request.limit if request.HasField("limit") else None
        wanted = FilesWanted(limit, request.offset, request.name, not request.without_text)
        for file in await self._files.list(caller(), request.knowledge_base_id, wanted):
            for message in file_messages(file):
                yield message

    async def GetFile(self, request: pb.GetFileRequest, context: Any) -> pb.File:
        file = to_message(await self._files.get(caller(), request.file_hash), pb.File)
        if file.ByteSize() > PAGE_BYTES:
            raise TooLarge(
                f"the text of the file is over {PAGE_BYTES // 1024 // 1024} MB; StreamFile gives it"
            )
        return file

    async def StreamFile(
        self, request: pb.GetFileRequest, context: Any
    ) -> AsyncIterator[pb.ListFilesResponse]:
        for message in file_messages(await self._files.get(caller(), request.file_hash)):
            yield message

    async def Download(self, request: pb.DownloadRequest, context: Any) -> AsyncIterator[pb.DownloadResponse]:
        length = request.length if request.HasField("length") else None
        file = await self._files.download(caller(), request.file_hash, request.offset, length)
        yield pb.DownloadResponse(start=pb.DownloadStart(file_name=file.name, size=file.size))
        async for piece in file.content:
            yield pb.DownloadResponse(data=piece)


async def _incoming(requests: AsyncIterator[pb.UploadRequest]) -> AsyncIterator[IncomingFile]:
    """The files of an upload; each content ends where the next FileStart stands."""
    following: list[pb.UploadRequest] = []
    async for request in requests:
        following.append(request)
        while following:
            start = following.pop()
            if start.WhichOneof("part") != "file":
                raise Invalid(UNORDERED)
            yield IncomingFile(start.file.file_name, _content(requests, following))


async def _content(
    requests: AsyncIterator[pb.UploadRequest], following: list[pb.UploadRequest]
) -> AsyncIterator[bytes]:
    async for request in requests:
        if request.WhichOneof("part") != "data":
            following.append(request)
            return
        yield request.data
