"""The callback service: single calls, and many over one stream."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import quote
from uuid import NAMESPACE_URL, uuid5

from switchboard.channels.v1 import callbacks_pb2 as pb

from adapters.inbound.grpc.interceptors import peer
from adapters.rpc.streams import answer_into_pb, answer_to_pb, call_from_pb, piece_to_pb
from domain.channels.messages import RawAnswer, RawCall
from domain.refusals import Refusal, TooLarge
from domain.use_cases import Callbacks
from ports.system import Ids

BATCH_BYTES = 8 * 1024 * 1024
"""Of the answers of one message, of which gRPC takes 16 MB."""
LARGEST_HEAD = 64 * 1024
"""Characters of the address and the headers of one call, as over HTTP."""
MOST_CALLS = 4000
"""Calls of one stream that are worked on at a time; further ones wait unread."""

log = logging.getLogger("switchboard.grpc")


class CallbackServicer:
    """`agent_url`: the public base address."""

    def __init__(self, callbacks: Callbacks, ids: Ids, agent_url: str) -> None:
        self._callbacks = callbacks
        self._ids = ids
        self._agent_url = agent_url

    async def HandleCallback(self, request: pb.RawCall, context: Any) -> pb.RawAnswer:
        return answer_to_pb(await self._handle(request, peer().is_gateway))

    async def StreamAnswer(
        self, request: pb.StreamAnswerRequest, context: Any
    ) -> AsyncIterator[pb.StreamAnswerResponse]:
        call = self._call(request.call, peer().is_gateway)
        pieces = self._callbacks.stream(request.call.channel_id, request.call.instance_id, call)
        async with aclosing(pieces):
            async for piece in pieces:
                yield piece_to_pb(piece)

    async def _handle(self, request: pb.RawCall, from_gateway: bool) -> RawAnswer:
        call = self._call(request, from_gateway)
        return await self._callbacks.handle(request.channel_id, request.instance_id, call)

    def _call(self, request: pb.RawCall, from_gateway: bool) -> RawCall:
        """A call that comes from no gateway gets the public address of its instance, and an id that no call of
        another instance has. Raises `TooLarge`: a gateway has refused such a head itself."""
        call = call_from_pb(request)
        if not from_gateway:
            head = len(call.url) + sum(len(name) + len(value) for name, value in call.headers.items())
            if head > LARGEST_HEAD:
                raise TooLarge(f"the address and headers of the call are over {LARGEST_HEAD // 1024} KB")
            _, mark, query = call.url.partition("?")
            path = f"channels/{quote(request.channel_id)}/{request.instance_id}/{quote(call.callback)}"
            url = f"{self._agent_url}/api/agent/{path}{mark}{query}"
            call_id = call.id and str(uuid5(NAMESPACE_URL, f"call {call.id} of {url}"))
            call = replace(call, url=url, id=call_id)
        if not call.id:
            call = replace(call, id=self._ids.request_id())
        return call

    async def StreamCallbacks(
        self, request_iterator: AsyncIterator[pb.RawCallBatch], context: Any
    ) -> AsyncIterator[pb.RawOutcomeBatch]:
        calls = _StreamedCalls(partial(self._handle, from_gateway=peer().is_gateway))
        reader = asyncio.create_task(calls.read(request_iterator))
        try:
            while (ready := await calls.next()) is not None:
                for batch in _batches(ready):
                    yield batch
        finally:
            reader.cancel()
            calls.cancel()


_Ready = tuple[int, RawAnswer | pb.Refused]
"""The number of a call and how it ended."""


def _batches(ready: list[_Ready]) -> Iterator[pb.RawOutcomeBatch]:
    """The outcomes in messages that gRPC takes."""
    batch, size = pb.RawOutcomeBatch(), 0
    for number, outcome in ready:
        length = len(outcome.body) if isinstance(outcome, RawAnswer) else 0
        if size and size + length > BATCH_BYTES:
            yield batch
            batch, size = pb.RawOutcomeBatch(), 0
        size += length
        message = batch.outcomes.add(number=number)
        if isinstance(outcome, RawAnswer):
            message.answer.SetInParent()
            answer_into_pb(outcome, message.answer)
        else:
            message.refused.CopyFrom(outcome)
    yield batch


class _StreamedCalls:
    """Works on the calls of one stream, all at once; outcomes that are ready together leave together."""

    def __init__(self, handle: Callable[[pb.RawCall], Awaitable[RawAnswer]]) -> None:
        self._handle = handle
        self._ready: list[_Ready] = []
        self._news = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._ended = False

    async def read(self, batches: AsyncIterator[pb.RawCallBatch]) -> None:
        try:
            async for batch in batches:
                for numbered in batch.calls:
                    while len(self._tasks) >= MOST_CALLS:
                        await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)
                    task = asyncio.create_task(self._work(numbered))
                    self._tasks.add(task)
                    task.add_done_callback(self._tasks.discard)
            await asyncio.gather(*self._tasks)
        finally:
            self._ended = True
            self._news.set()

    async def _work(self, numbered: pb.NumberedCall) -> None:
        outcome: RawAnswer | pb.Refused
        try:
            outcome = await self._handle(numbered.call)
        except Refusal as refusal:
            retry_after = getattr(refusal, "retry_after", 0.0)
            outcome = pb.Refused(reason=refusal.reason, message=refusal.message, retry_after=retry_after)
        except Exception:
            log.exception("a callback failed")
            outcome = pb.Refused(reason="INTERNAL", message="Internal server error")
        self._ready.append((numbered.number, outcome))
        self._news.set()

    async def next(self) -> list[_Ready] | None:
        """The outcomes that are ready, None after the last."""
        while not self._ready:
            if self._ended:
                return None
            await self._news.wait()
            self._news.clear()
        ready, self._ready = self._ready, []
        return ready

    def cancel(self) -> None:
        for task in self._tasks:
            task.cancel()
