"""Callbacks of a remote core over one stream: concurrent calls travel together."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator

import grpc
from switchboard.channels.v1 import callbacks_pb2 as pb
from switchboard.channels.v1 import callbacks_pb2_grpc

from adapters.outbound.core_client.connection import CoreConnection
from adapters.wire.calls import answer_from_pb, call_to_pb
from adapters.wire.refusals import rebuilt
from domain.channels.messages import RawAnswer, RawCall
from domain.refusals import Unavailable

DEADLINE = 45.0
"""Seconds that a call has; a synchronous webhook waits for up to 30."""

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
        number = next(self._numbers)
        outcome = await self._stream.exchange(number, call_to_pb(channel_id, instance_id, call))
        if outcome.HasField("answer"):
            return answer_from_pb(outcome.answer)
        refused = outcome.refused
        refusal = rebuilt(refused.reason, refused.message, refused.retry_after)
        raise refusal or CoreError(refused.message)

    async def close(self) -> None:
        if self._stream is not None:
            self._stream.close()


class _Stream:
    def __init__(self, stub: callbacks_pb2_grpc.CallbackServiceStub) -> None:
        self._outgoing: list[pb.NumberedCall] = []
        self._news = asyncio.Event()
        self._waiting: dict[int, asyncio.Future[pb.RawOutcome]] = {}
        self.broken = False
        self._reader = asyncio.create_task(self._read(stub))

    async def exchange(self, number: int, call: pb.RawCall) -> pb.RawOutcome:
        future: asyncio.Future[pb.RawOutcome] = asyncio.get_running_loop().create_future()
        self._outgoing.append(pb.NumberedCall(number=number, call=call))
        self._waiting[number] = future
        self._news.set()
        try:
            async with asyncio.timeout(DEADLINE):
                return await future
        except TimeoutError:
            raise Unavailable(AWAY) from None
        finally:
            self._waiting.pop(number, None)

    async def _batches(self) -> AsyncIterator[pb.RawCallBatch]:
        while True:
            await self._news.wait()
            self._news.clear()
            calls, self._outgoing = self._outgoing, []
            if calls:
                yield pb.RawCallBatch(calls=calls)

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
        """What was under way may have been stored: the platform is told to come again."""
        self.broken = True
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(Unavailable(AWAY))

    def close(self) -> None:
        self._reader.cancel()
