"""The sources of bases of a remote core."""

from switchboard.knowledge.v1 import sources_pb2 as pb
from switchboard.knowledge.v1 import sources_pb2_grpc

from adapters.outbound.core_client.connection import CoreConnection
from adapters.wire import sources as convert
from domain.access.model import Caller
from domain.knowledge.sources.model import Source, SourceList, SourcePageList

SLOW = 60.0
"""Seconds for calls that may delete much."""


class RemoteSources:
    """Conforms to `KnowledgeSources`."""

    def __init__(self, core: CoreConnection) -> None:
        self._core = core
        self._stub = sources_pb2_grpc.SourceServiceStub(core.channel)

    async def add_pages(self, caller: Caller, base_id: int, url: str, every: float | None) -> Source:
        request = pb.AddPagesRequest(knowledge_base_id=base_id, url=url, every=every)
        return convert.SOURCE.from_pb(await self._core.call(self._stub.AddPages, request))

    async def list(self, caller: Caller, base_id: int, limit: int, cursor: int) -> SourceList:
        request = pb.ListSourcesRequest(knowledge_base_id=base_id, limit=limit, cursor=cursor)
        return convert.sources_from_pb(await self._core.call(self._stub.ListSources, request))

    async def pages(
        self, caller: Caller, base_id: int, source_id: int, status: str, limit: int, cursor: int
    ) -> SourcePageList:
        request = pb.ListSourcePagesRequest(
            knowledge_base_id=base_id, source_id=source_id, status=status, limit=limit, cursor=cursor
        )
        return convert.pages_from_pb(await self._core.call(self._stub.ListSourcePages, request))

    async def read_now(self, caller: Caller, base_id: int, source_id: int) -> None:
        request = pb.ReadSourceRequest(knowledge_base_id=base_id, source_id=source_id)
        await self._core.call(self._stub.ReadSource, request)

    async def remove(self, caller: Caller, base_id: int, source_id: int, *, keep_files: bool) -> None:
        request = pb.RemoveSourceRequest(
            knowledge_base_id=base_id, source_id=source_id, keep_files=keep_files
        )
        await self._core.call(self._stub.RemoveSource, request, deadline=SLOW)
