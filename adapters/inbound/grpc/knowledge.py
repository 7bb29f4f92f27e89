"""Servicer of the knowledge service: convert, call, convert. Files cross in pieces of at most 64 KiB."""

from collections.abc import AsyncIterator
from typing import Any

from switchboard.knowledge.v1 import knowledge_pb2 as pb
from switchboard.knowledge.v1 import knowledge_pb2_grpc

from adapters.inbound.grpc.interceptors import caller
from adapters.wire import knowledge as wire
from adapters.wire.pages import PAGE_BYTES, page
from domain.knowledge.model import FilesWanted
from domain.knowledge.rules import upload_message
from domain.refusals import Invalid, TooLarge
from ports.knowledge import IncomingFile, KnowledgeBases, KnowledgeFiles, KnowledgeSearch

DEFAULT_LIMIT = 5
PIECE = 64 * 1024
UNORDERED = "an upload is an UploadStart, then for each file a FileStart and its data"


class KnowledgeServicer(knowledge_pb2_grpc.KnowledgeServiceServicer):
    def __init__(self, bases: KnowledgeBases, files: KnowledgeFiles, search: KnowledgeSearch) -> None:
        self._bases = bases
        self._files = files
        self._search = search

    async def ListBases(self, request: pb.ListBasesRequest, context: Any) -> pb.ListBasesResponse:
        listed = [wire.BASE.to_pb(base) for base in await self._bases.list(caller())]
        bases, following = page(listed, request.page_token)
        return pb.ListBasesResponse(bases=bases, next_page_token=following)

    async def CreateBase(self, request: pb.CreateBaseRequest, context: Any) -> pb.CreateBaseResponse:
        made = await self._bases.create(caller(), wire.new_from_pb(request))
        return pb.CreateBaseResponse(
            id=made.id,
            name=made.name,
            description=made.description,
            type="kb",
            status="published",
            base=wire.BASE.to_pb(made),
        )

    async def GetBase(self, request: pb.GetBaseRequest, context: Any) -> pb.Base:
        return wire.BASE.to_pb(await self._bases.get(caller(), request.id))

    async def UpdateBase(self, request: pb.UpdateBaseRequest, context: Any) -> pb.UpdateBaseResponse:
        await self._bases.update(caller(), request.id, wire.CHANGE.from_pb(request))
        return pb.UpdateBaseResponse()

    async def DeleteBase(self, request: pb.DeleteBaseRequest, context: Any) -> pb.DeleteBaseResponse:
        await self._bases.delete(caller(), request.id)
        return pb.DeleteBaseResponse()

    async def SetPermission(self, request: pb.SetPermissionRequest, context: Any) -> pb.SetPermissionResponse:
        level = request.permission_level
        await self._bases.set_permission(caller(), request.id, request.user_id, level)
        return pb.SetPermissionResponse()

    async def ListPermissions(
        self, request: pb.ListPermissionsRequest, context: Any
    ) -> pb.ListPermissionsResponse:
        granted = await self._bases.permissions(caller(), request.id)
        listed = [pb.Permission(user_id=entry.user_id, permission_level=entry.level) for entry in granted]
        permissions, following = page(listed, request.page_token)
        return pb.ListPermissionsResponse(permissions=permissions, next_page_token=following)

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
        return pb.UploadResponse(message=message, files=map(wire.UPLOADED.to_pb, done))

    async def ListFiles(
        self, request: pb.ListFilesRequest, context: Any
    ) -> AsyncIterator[pb.ListFilesResponse]:
        limit = request.limit if request.HasField("limit") else None
        wanted = FilesWanted(limit, request.offset, request.name, not request.without_text)
        for file in await self._files.list(caller(), request.knowledge_base_id, wanted):
            for message in wire.file_messages(file):
                yield message

    async def GetFile(self, request: pb.GetFileRequest, context: Any) -> pb.File:
        file = wire.FILE.to_pb(await self._files.get(caller(), request.file_hash))
        if file.ByteSize() > PAGE_BYTES:
            raise TooLarge(
                f"the text of the file is over {PAGE_BYTES // 1024 // 1024} MB; StreamFile gives it"
            )
        return file

    async def StreamFile(
        self, request: pb.GetFileRequest, context: Any
    ) -> AsyncIterator[pb.ListFilesResponse]:
        for message in wire.file_messages(await self._files.get(caller(), request.file_hash)):
            yield message

    async def Download(self, request: pb.DownloadRequest, context: Any) -> AsyncIterator[pb.DownloadResponse]:
        length = request.length if request.HasField("length") else None
        file = await self._files.download(caller(), request.file_hash, request.offset, length)
        yield pb.DownloadResponse(start=pb.DownloadStart(file_name=file.name, size=file.size))
        async for piece in file.content:
            yield pb.DownloadResponse(data=piece)

    async def Search(self, request: pb.SearchRequest, context: Any) -> pb.SearchResponse:
        options = wire.options_from_pb(request.options)
        results = await self._search.search(caller(), request.knowledge_base_id, request.query, options)
        return pb.SearchResponse(results=map(wire.result_to_pb, results))

    async def GetChunk(self, request: pb.GetChunkRequest, context: Any) -> pb.Chunk:
        return wire.CHUNK.to_pb(await self._files.chunk(caller(), request.chunk_id))

    async def ListChunks(self, request: pb.ListChunksRequest, context: Any) -> pb.ListChunksResponse:
        limit = request.limit if request.HasField("limit") else DEFAULT_LIMIT
        return wire.page_to_pb(await self._files.chunks(caller(), request.file_id, limit, request.offset))


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
