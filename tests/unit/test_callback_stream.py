"""What a gateway keeps of its stream of callbacks when the core goes away."""

import asyncio
from collections.abc import AsyncIterator

import grpc
import pytest
from grpc import aio
from switchboard.channels.v1 import callbacks_pb2 as pb
from switchboard.channels.v1.callbacks_pb2_grpc import (
    CallbackServiceServicer,
    add_CallbackServiceServicer_to_server,
)

from adapters.outbound.core_client.callbacks import RemoteCallbacks
from adapters.outbound.core_client.connection import CoreConnection
from domain.channels.messages import RawCall
from domain.refusals import Unavailable

CALL = RawCall("r1", "POST", "webhook", "https://gateway.example/webhook", {}, b"{}")
READS_CALLS = "_consume_request_iterator"
"""The task of gRPC that reads what is to be sent."""


class Leaving(CallbackServiceServicer):
    """Takes a batch of calls and goes away over it."""

    async def StreamCallbacks(  # noqa: N802
        self, batches: AsyncIterator[pb.RawCallBatch], context: aio.ServicerContext[object, object]
    ) -> AsyncIterator[pb.RawOutcomeBatch]:
        await anext(batches)
        await context.abort(grpc.StatusCode.UNAVAILABLE, "stopping")
        yield pb.RawOutcomeBatch()


async def test_nothing_waits_for_calls_on_a_stream_that_broke() -> None:
    server = aio.server()
    add_CallbackServiceServicer_to_server(Leaving(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    core = CoreConnection(f"127.0.0.1:{port}")
    before = asyncio.all_tasks()
    try:
        with pytest.raises(Unavailable):
            await RemoteCallbacks(core).handle("http-webhook", 1, CALL)
        reading = {
            task
            for task in asyncio.all_tasks() - before
            if READS_CALLS in getattr(task.get_coro(), "__qualname__", "")
        }
        if reading:
            _, waiting = await asyncio.wait(reading, timeout=60)
            assert not waiting
    finally:
        await core.close()
        await server.stop(None)
