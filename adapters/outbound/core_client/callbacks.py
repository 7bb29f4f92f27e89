"""Callbacks of remote cores, over one stream to each: concurrent calls travel together."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator
from contextlib import aclosing
from functools import partial
from typing import Any, NamedTuple

import grpc
from switchboard.channels.v1 import callbacks_pb2 as pb
from switchboard.channels.v1 import callbacks_pb2_grpc

from adapters.outbound.core_client.connection import CoreConnection, Metadata
from adapters.outbound.core_client.cores import Endpoint
from adapters.rpc.refusals import rebuilt
from adapters.rpc.streams import answer_from_pb, call_into_pb, piece_from_pb
from domain.channels.messages import RawAnswer, RawCall
from domain.refusals import Unavailable

DEADLINE = 45.0
"""Seconds that a call has; a synchronous webhook waits for up to 30."""

BATCH_BYTES = 8 * 1024 * 1024
"""Of the calls of one message, of which gRPC takes 16 MB."""
LARGEST_HEAD = 64 * 1024
"""Bytes that the address and the headers of a call may have."""

AWAY = "the core is away for the moment; try again shortly"


class CoreError(Exception):
    """The core failed in a way that is not a refusal."""


class StreamBroke(Exception):
    """The core went away over a call, which may have been stored."""


class RemoteCallbacks:
    """Opens one stream to each core with the first call, and anew after it broke. A call whose stream broke is sent
    once more, to another core where there is one: its events are stored once, by their keys."""

    def __init__(self, core: CoreConnection) -> None:
        self._core = core
        self._cores = core.cores
        self._numbers = itertools.count(1)
        self._streams: dict[Endpoint, _Stream] = {}

    async def handle(self, channel_id: str, instance_id: int, call: RawCall) -> RawAnswer:
        """Raises refusals of the core, and `Unavailable`."""
        outgoing = _Exchange(next(self._numbers), channel_id, instance_id, call)
        tried: list[Endpoint] = []
        for _ in range(max(2, len(self._cores.endpoints))):
            endpoint = self._cores.pick(tried)
            tried.append(endpoint)
            stream = self._streams.get(endpoint)
            if stream is None or stream.closed:
                stub = callbacks_pb2_grpc.CallbackServiceStub(endpoint.channel(of_streams=False))
                stream = self._streams[endpoint] = _Stream(stub, self._core.as_gateway())
                endpoint.on_retire = [partial(self._retire, endpoint, stream)]
            with contextlib.suppress(StreamBroke):
                outcome = await stream.exchange(outgoing)
                break
        else:
            raise Unavailable(AWAY)
        if outcome.HasField("answer"):
            return answer_from_pb(outcome.answer)
        refused = outcome.refused
        refusal = rebuilt(refused.reason, refused.message, refused.retry_after)
        raise refusal or CoreError(refused.message)

    async def stream(
        self, channel_id: str, instance_id: int, call: RawCall
    ) -> AsyncGenerator[RawAnswer | bytes, None]:
        """Raises refusals of the core, and `Unavailable`."""
        request = pb.StreamAnswerRequest()
        call_into_pb(channel_id, instance_id, call, request.call)
        stub = callbacks_pb2_grpc.CallbackServiceStub(self._core.streams)
        metadata = self._core.as_gateway()
        answers = self._core.stream(stub.StreamAnswer, request, deadline=None, metadata=metadata)
        async with aclosing(answers):
            async for message in answers:
                yield piece_from_pb(message)

    def _retire(self, endpoint: Endpoint, stream: _Stream) -> None:
        """The calls under way are answered yet."""
        del self._streams[endpoint]
        stream.finish()

    async def close(self) -> None:
        for stream in self._streams.values():
            stream.close()


class _Exchange(NamedTuple):
    number: int
    channel_id: str
    instance_id: int
    call: RawCall


class _Stream:
    def __init__(self, stub: callbacks_pb2_grpc.CallbackServiceStub, metadata: Metadata) -> None:
        self._loop = asyncio.get_running_loop()
        self._outgoing: list[_Exchange] = []
        self._news = asyncio.Event()
        self._waiting: dict[int, asyncio.Future[pb.RawOutcome]] = {}
        self.closed = False
        """Takes no calls any more."""
        calls: Any = self._batches()
        outcomes: Any = stub.StreamCallbacks(calls, metadata=metadata)
        self._reader = asyncio.create_task(self._read(outcomes))

    async def exchange(self, outgoing: _Exchange) -> pb.RawOutcome:
        """Raises `StreamBroke`, and `Unavailable` when there is no outcome in time."""
        future: asyncio.Future[pb.RawOutcome] = self._loop.create_future()
        self._outgoing.append(outgoing)
        self._waiting[outgoing.number] = future
        self._news.set()
        deadline = self._loop.call_later(DEADLINE, _fail, future, Unavailable(AWAY))
        try:
            return await future
        finally:
            deadline.cancel()
            self._waiting.pop(outgoing.number, None)

    async def _batches(self) -> AsyncIterator[pb.RawCallBatch]:
        while True:
            await self._news.wait()
            await asyncio.sleep(0)  # calls that lie in other sockets travel in the same batch
            self._news.clear()
            outgoing, self._outgoing = self._outgoing, []
            batch, size = pb.RawCallBatch(), 0
            for entry in outgoing:
                size += len(entry.call.body) + LARGEST_HEAD
                if batch.calls and size > BATCH_BYTES:
                    yield batch
                    batch, size = pb.RawCallBatch(), len(entry.call.body) + LARGEST_HEAD
                numbered = batch.calls.add(number=entry.number)
                call_into_pb(entry.channel_id, entry.instance_id, entry.call, numbered.call)
            if batch.calls:
                yield batch
            if self.closed:
                return

    async def _read(self, outcomes: AsyncIterable[pb.RawOutcomeBatch]) -> None:
        """Hands outcomes to those who wait. What is under way when the stream breaks may have been stored. `_batches`
        comes to its end then, as gRPC's task that reads it would wait for ever."""
        try:
            async for batch in outcomes:
                for outcome in batch.outcomes:
                    future = self._waiting.get(outcome.number)
                    if future is not None and not future.done():
                        future.set_result(outcome)
        except grpc.aio.AioRpcError:
            pass
        finally:
            self._outgoing = []
            self.finish()
            for future in self._waiting.values():
                _fail(future, StreamBroke())

    def finish(self) -> None:
        """Sends what is to be sent; the stream ends after the last outcome."""
        self.closed = True
        self._news.set()

    def close(self) -> None:
        self._reader.cancel()


def _fail(future: asyncio.Future[pb.RawOutcome], error: Exception) -> None:
    if not future.done():
        future.set_exception(error)
