"""Callbacks of a remote core over one stream: concurrent calls travel together."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Iterable
from typing import NamedTuple

import grpc
from switchboard.channels.v1 import callbacks_pb2 as pb
from switchboard.channels.v1 import callbacks_pb2_grpc

from adapters.outbound.core_client.connection import CoreConnection
from adapters.wire.calls import answer_from_pb, call_into_pb
from adapters.wire.refusals import rebuilt
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


class RemoteCallbacks:
    """Opens the stream with the first call, and anew after it broke."""

    def __init__(self, core: CoreConnection) -> None:
        self._core = core
        self._numbers = itertools.count(1)
        self._stream: _Stream | None = None

    async def handle(self, channel_id: str, instance_id: int, call: RawCall) -> RawAnswer:
        if self._stream is None or self._stream.broken:
            self._stream = _Stream(callbacks_pb2_grpc.CallbackServiceStub(self._core.channel))
        outgoing = _Exchange(next(self._numbers), channel_id, instance_id, call)
        outcome = await self._stream.exchange(outgoing)
        if outcome.HasField("answer"):
            return answer_from_pb(outcome.answer)
        refused = outcome.refused
        refusal = rebuilt(refused.reason, refused.message, refused.retry_after)
        raise refusal or CoreError(refused.message)

    async def close(self) -> None:
        if self._stream is not None:
            self._stream.close()


class _Exchange(NamedTuple):
    number: int
    channel_id: str
    instance_id: int
    call: RawCall


class _Stream:
    def __init__(self, stub: callbacks_pb2_grpc.CallbackServiceStub) -> None:
        self._loop = asyncio.get_running_loop()
        self._outgoing: list[_Exchange] = []
        self._news = asyncio.Event()
        self._waiting: dict[int, asyncio.Future[pb.RawOutcome]] = {}
        self.broken = False
        self._reader = asyncio.create_task(self._read(stub))

    async def exchange(self, outgoing: _Exchange) -> pb.RawOutcome:
        future: asyncio.Future[pb.RawOutcome] = self._loop.create_future()
        self._outgoing.append(outgoing)
        self._waiting[outgoing.number] = future
        self._news.set()
        deadline = self._loop.call_later(DEADLINE, _give_up, future)
        try:
            return await future
        finally:
            deadline.cancel()
            self._waiting.pop(outgoing.number, None)

    async def _batches(self) -> AsyncIterator[pb.RawCallBatch]:
        while not self.broken:
            await self._news.wait()
            await asyncio.sleep(0)  # calls that lie in other sockets travel in the same batch
            self._news.clear()
            outgoing, self._outgoing = self._outgoing, []
            while outgoing:
                batch, outgoing = _split(outgoing)
                yield _batch(batch)

    async def _read(self, stub: callbacks_pb2_grpc.CallbackServiceStub) -> None:
        try:
            async for batch in stub.StreamCallbacks(self._batches()):  # type: ignore[attr-defined,arg-type]
                for outcome in batch.outcomes:
                    future = self._waiting.get(outcome.number)
                    if future is not None and not future.done():
                        future.set_result(outcome)
        except grpc.aio.AioRpcError:
            pass
        finally:
            self._break()

    def _break(self) -> None:
        """What was under way may have been stored: the platform is told to come again. `_batches` comes to its
        end, as gRPC's task that reads it would wait for ever."""
        self.broken = True
        self._outgoing = []
        self._news.set()
        for future in self._waiting.values():
            _give_up(future)

    def close(self) -> None:
        self._reader.cancel()


def _split(outgoing: list[_Exchange]) -> tuple[list[_Exchange], list[_Exchange]]:
    """The first calls, as many as fit one message, at least one; and the others."""
    size = 0
    for number, entry in enumerate(outgoing):
        size += len(entry.call.body) + LARGEST_HEAD
        if number and size > BATCH_BYTES:
            return outgoing[:number], outgoing[number:]
    return outgoing, []


def _batch(outgoing: Iterable[_Exchange]) -> pb.RawCallBatch:
    batch = pb.RawCallBatch()
    for entry in outgoing:
        numbered = batch.calls.add(number=entry.number)
        call_into_pb(entry.channel_id, entry.instance_id, entry.call, numbered.call)
    return batch


def _give_up(future: asyncio.Future[pb.RawOutcome]) -> None:
    if not future.done():
        future.set_exception(Unavailable(AWAY))
