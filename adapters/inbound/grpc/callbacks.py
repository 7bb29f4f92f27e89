"""The callback service: single calls, and many over one stream."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import Any

from switchboard.channels.v1 import callbacks_pb2 as pb
from switchboard.channels.v1 import callbacks_pb2_grpc

from adapters.wire.calls import answer_into_pb, answer_to_pb, call_from_pb
from domain.channels.messages import RawAnswer, RawCall
from domain.refusals import Refusal
from ports.clock import Ids
from ports.use_cases import Callbacks

BATCH_BYTES = 8 * 1024 * 1024
"""Of the answers of one message, of which gRPC takes 16 MB."""

log = logging.getLogger("switchboard.grpc")


class CallbackServicer(callbacks_pb2_grpc.CallbackServiceServicer):
    def __init__(self, callbacks: Callbacks, ids: Ids) -> None:
        self._callbacks = callbacks
        self._ids = ids

    async def HandleCallback(self, request: pb.RawCall, context: Any) -> pb.RawAnswer:
        call = _named(call_from_pb(request), self._ids)
        answer = await self._callbacks.handle(request.channel_id, request.instance_id, call)
        return answer_to_pb(answer)

    async def StreamCallbacks(
        self, request_iterator: AsyncIterator[pb.RawCallBatch], context: Any
    ) -> AsyncIterator[pb.RawOutcomeBatch]:
        calls = _StreamedCalls(self._callbacks, self._ids)
        reader = asyncio.create_task(calls.read(request_iterator))
        try:
            while (ready := await calls.next()) is not None:
                for batch in _batches(ready):
                    yield batch
        finally:
            reader.cancel()
            calls.cancel()


def _named(call: RawCall, ids: Ids) -> RawCall:
    """The call with a request id of ours, where the client gave none."""
    return call if call.id else replace(call, id=ids.request_id())


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

    def __init__(self, callbacks: Callbacks, ids: Ids) -> None:
        self._callbacks = callbacks
        self._ids = ids
        self._ready: list[_Ready] = []
        self._news = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._ended = False

    async def read(self, batches: AsyncIterator[pb.RawCallBatch]) -> None:
        try:
            async for batch in batches:
                for numbered in batch.calls:
                    task = asyncio.create_task(self._work(numbered))
                    self._tasks.add(task)
                    task.add_done_callback(self._tasks.discard)
            await asyncio.gather(*self._tasks)
        finally:
            self._ended = True
            self._news.set()

    async def _work(self, numbered: pb.NumberedCall) -> None:
        call = numbered.call
        outcome: RawAnswer | pb.Refused
        try:
            named = _named(call_from_pb(call), self._ids)
            outcome = await self._callbacks.handle(call.channel_id, call.instance_id, named)
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
