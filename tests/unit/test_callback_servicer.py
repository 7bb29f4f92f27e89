"""Raw calls over gRPC."""

from __future__ import annotations

from collections.abc import AsyncIterator
from uuid import UUID

import pytest
from switchboard.channels.v1 import callbacks_pb2 as pb

from adapters.inbound.grpc.callbacks import CallbackServicer
from adapters.outbound.clock import RandomIds
from domain.channels.messages import RawAnswer, RawCall


class Echo:
    """Answers with the request id of the call."""

    async def handle(self, channel_id: str, instance_id: int, call: RawCall) -> RawAnswer:
        return RawAnswer(200, call.id.encode())


async def once(request: pb.RawCall) -> AsyncIterator[pb.RawCallBatch]:
    yield pb.RawCallBatch(calls=[pb.NumberedCall(number=1, call=request)])


async def answered(request: pb.RawCall) -> list[str]:
    """The request ids under which a call is handled, alone and in a stream."""
    servicer = CallbackServicer(Echo(), RandomIds())
    single = await servicer.HandleCallback(request, None)
    batches = [batch async for batch in servicer.StreamCallbacks(once(request), None)]
    return [single.body.decode(), batches[0].outcomes[0].answer.body.decode()]


async def test_the_request_id_of_the_client_stays() -> None:
    assert await answered(pb.RawCall(request_id="r-1")) == ["r-1", "r-1"]


@pytest.mark.parametrize("request_id", [None, ""])
async def test_a_call_without_one_gets_one(request_id: str | None) -> None:
    for given in await answered(pb.RawCall(request_id=request_id)):
        assert str(UUID(given)) == given
