"""Raw calls over gRPC."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import grpc
import pytest
from switchboard.channels.v1 import callbacks_pb2 as pb
from switchboard.channels.v1 import callbacks_pb2_grpc

from adapters.inbound.grpc import callbacks
from adapters.inbound.grpc.callbacks import LARGEST_HEAD, CallbackServicer
from adapters.inbound.grpc.interceptors import Guard
from adapters.outbound.system.clock import RandomIds
from domain.channels.messages import RawAnswer, RawCall
from domain.refusals import TooLarge

OURS = "https://bots.example"


class Echo:
    """Answers with the request id and the address of the call."""

    async def handle(self, channel_id: str, instance_id: int, call: RawCall) -> RawAnswer:
        return RawAnswer(200, f"{call.id} {call.url}".encode())


async def once(request: pb.RawCall) -> AsyncIterator[pb.RawCallBatch]:
    yield pb.RawCallBatch(calls=[pb.NumberedCall(number=1, call=request)])


async def answered(key: str, **fields: Any) -> list[list[str]]:
    """The request id and the address under which a call is handled, alone and in a stream, over a socket."""
    access: Any = None
    ids = RandomIds()
    server = grpc.aio.server(interceptors=[Guard(access, "service-key".__eq__, ids, lambda request_id: None)])
    callbacks_pb2_grpc.add_CallbackServiceServicer_to_server(CallbackServicer(Echo(), ids, OURS), server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    request = pb.RawCall(channel_id="http-webhook", instance_id=7, callback="webhook", **fields)
    metadata = (("authorization", f"Bearer {key}"),)
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        stub: Any = callbacks_pb2_grpc.CallbackServiceStub(channel)
        single = await stub.HandleCallback(request, metadata=metadata)
        [batch] = [batch async for batch in stub.StreamCallbacks(once(request), metadata=metadata)]
    await server.stop(None)
    return [answer.body.decode().split(" ") for answer in (single, batch.outcomes[0].answer)]


async def test_the_request_id_and_the_address_that_a_gateway_names_stay() -> None:
    said = ["r-1", "https://gateway.example/hook?a=b"]
    assert await answered("service-key", request_id=said[0], url=said[1]) == [said, said]


@pytest.mark.parametrize(
    "url", ["", "https://elsewhere.example/api/agent/channels/cron/8/webhook", "//", "?"]
)
async def test_nobody_else_names_the_address_or_the_request_of_another_instance(url: str) -> None:
    """The same id is the same call all the same: it is stored once."""
    answers = await answered("sb_a-key", request_id="r-1", url=url)
    ids, addresses = zip(*answers, strict=True)
    assert {address.rstrip("?") for address in addresses} == {
        f"{OURS}/api/agent/channels/http-webhook/7/webhook"
    }
    assert len(set(ids)) == 1
    assert str(UUID(ids[0])) == ids[0]


@pytest.mark.parametrize("key", ["service-key", ""])
async def test_a_call_without_an_id_gets_one(key: str) -> None:
    ids = [id for id, _ in await answered(key, url="https://gateway.example/hook")]
    assert len(set(ids)) == 2
    assert [str(UUID(id)) for id in ids] == ids


@pytest.mark.parametrize(
    "fields", [{"url": "?" + "x" * LARGEST_HEAD}, {"headers": {"x": "y" * LARGEST_HEAD}}]
)
async def test_a_call_has_no_larger_head_than_over_http(fields: dict[str, Any]) -> None:
    servicer = CallbackServicer(Echo(), RandomIds(), OURS)
    with pytest.raises(TooLarge, match="over 64 KB"):
        await servicer.HandleCallback(pb.RawCall(channel_id="cron", **fields), None)


async def test_the_calls_of_a_stream_beyond_a_limit_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(callbacks, "MOST_CALLS", 3)
    working = most = 0

    class Slow:
        async def handle(self, channel_id: str, instance_id: int, call: RawCall) -> RawAnswer:
            nonlocal working, most
            working += 1
            most = max(most, working)
            for _ in range(5):
                await asyncio.sleep(0)
            working -= 1
            return RawAnswer(200)

    async def batches() -> AsyncIterator[pb.RawCallBatch]:
        for start in (0, 50):
            yield pb.RawCallBatch(calls=[pb.NumberedCall(number=start + number) for number in range(50)])

    servicer = CallbackServicer(Slow(), RandomIds(), OURS)
    outcomes = [
        outcome.number
        async for batch in servicer.StreamCallbacks(batches(), None)
        for outcome in batch.outcomes
    ]
    assert sorted(outcomes) == list(range(100))
    assert most == 3
