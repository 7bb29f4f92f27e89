"""The events of a remote core."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from switchboard.events.v1 import events_pb2 as pb
from switchboard.events.v1 import events_pb2_grpc

from adapters.outbound.core_client.connection import CoreConnection
from adapters.rpc.events import page_from_pb
from domain.access.model import Caller
from domain.events import EventPage


class RemoteEvents:
    """`ports.use_cases.Events`: one call for each reader. What a reader does not take waits in the core."""

    def __init__(self, core: CoreConnection) -> None:
        self._core = core
        self._stub = events_pb2_grpc.EventsStub(core.channel)

    async def watch(
        self, caller: Caller, after: int | None, kinds: Sequence[str], instance_ids: Sequence[int]
    ) -> AsyncGenerator[EventPage, None]:
        request = pb.WatchRequest(after=after, kinds=kinds, instance_ids=instance_ids)
        answers = self._core.stream(self._stub.Watch, request, deadline=None)
        return _pages(await anext(answers), answers)


async def _pages(
    first: pb.WatchResponse, others: AsyncGenerator[pb.WatchResponse, None]
) -> AsyncGenerator[EventPage, None]:
    async with aclosing(others):
        yield page_from_pb(first)
        async for message in others:
            yield page_from_pb(message)
