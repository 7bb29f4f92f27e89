"""The sources of bases over gRPC."""

from typing import Any

from switchboard.knowledge.v1 import sources_pb2 as pb
from switchboard.knowledge.v1 import sources_pb2_grpc

from adapters.inbound.grpc.interceptors import caller
from adapters.wire import sources as convert
from adapters.wire.pages import limit_of
from ports.sources import KnowledgeSources


class SourceServicer(sources_pb2_grpc.SourceServiceServicer):
    def __init__(self, sources: KnowledgeSources) -> None:
        self._sources = sources

    async def AddPages(self, request: pb.AddPagesRequest, context: Any) -> pb.Source:
        every = request.every if request.HasField("every") else None
        base = request.knowledge_base_id
        return convert.SOURCE.to_pb(await self._sources.add_pages(caller(), base, request.url, every))

    async def ListSources(self, request: pb.ListSourcesRequest, context: Any) -> pb.ListSourcesResponse:
        base, limit = request.knowledge_base_id, limit_of(request.limit)
        return convert.sources_to_pb(await self._sources.list(caller(), base, limit, request.cursor))

    async def ListSourcePages(
        self, request: pb.ListSourcePagesRequest, context: Any
    ) -> pb.ListSourcePagesResponse:
        base, source, limit = request.knowledge_base_id, request.source_id, limit_of(request.limit)
        pages = await self._sources.pages(caller(), base, source, request.status, limit, request.cursor)
        return convert.pages_to_pb(pages)

    async def ReadSource(self, request: pb.ReadSourceRequest, context: Any) -> pb.ReadSourceResponse:
        await self._sources.read_now(caller(), request.knowledge_base_id, request.source_id)
        return pb.ReadSourceResponse()

    async def RemoveSource(self, request: pb.RemoveSourceRequest, context: Any) -> pb.RemoveSourceResponse:
        base, source = request.knowledge_base_id, request.source_id
        await self._sources.remove(caller(), base, source, keep_files=request.keep_files)
        return pb.RemoveSourceResponse()
