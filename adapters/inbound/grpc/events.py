"""Events over gRPC."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

from switchboard.events.v1 import events_pb2 as pb

from adapters.inbound.grpc.interceptors import authenticate_again, caller
from adapters.inbound.streams import while_allowed
from adapters.rpc.events import page_to_pb
from domain.refusals import Fault, Invalid, TooMany
from ports.use_cases import Events

MOST_STREAMS = 800
"""Streams that are open at a time; further calls need some of those that the server takes."""
BUSY_SECONDS = 5.0


class EventServicer:
    def __init__(self, events: Events) -> None:
        self._events = events
        self._streams = 0

    async def Watch(self, request: pb.WatchRequest, context: Any) -> AsyncIterator[pb.WatchResponse]:
        after = request.after if request.HasField("after") else None
        if after is not None and after < 0:
            raise Invalid.of([Fault("after", "must not be negative")])
        if self._streams >= MOST_STREAMS:
            raise TooMany(f"{MOST_STREAMS} streams of events are open; end some of them", BUSY_SECONDS)
        pages = await self._events.watch(caller(), after, request.kinds, request.instance_ids)
        self._streams += 1
        try:
            async with aclosing(while_allowed(pages, authenticate_again())) as allowed:
                async for page in allowed:
                    for message in page_to_pb(page):
                        yield message
        finally:
            self._streams -= 1
