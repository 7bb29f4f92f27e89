"""A call over gRPC that is refused anyway ends before its message is read."""

from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
from google.protobuf.message import DecodeError
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from adapters.inbound.grpc.interceptors import Guard, caller
from adapters.outbound.system.clock import RandomIds
from domain.access.model import Caller, Role
from domain.refusals import Unauthenticated

SERVICE = "switchboard.verification.v1.VerificationService"
NO_MESSAGE = b"no message"
METHODS = ("ListIdentities", "CompleteBotMessenger")


class Access:
    """Knows one key; fails in its own way for another."""

    async def authenticate(self, token: str, acting_for: str | None) -> Caller:
        if token == "broken":
            raise RuntimeError("the words of an internal error")
        if token != "good":
            raise Unauthenticated("Unauthorized")
        return Caller("ann", Role.MEMBER)


class Server:
    """A server behind the guard whose methods echo, and what was read of messages."""

    def __init__(self) -> None:
        self.read: list[bytes] = []
        self.port = 0
        unused: Any = Access()
        self._server = grpc.aio.server(
            interceptors=[Guard(unused, lambda token: False, RandomIds(), lambda request_id: None)]
        )

    async def start(self) -> None:
        handlers: dict[str, Any] = {
            name: grpc.unary_unary_rpc_method_handler(self._echo, request_deserializer=self._deserialized)
            for name in METHODS
        }
        health_pb2_grpc.add_HealthServicer_to_server(health.aio.HealthServicer(), self._server)
        self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, handlers),))
        self.port = self._server.add_insecure_port("127.0.0.1:0")
        await self._server.start()

    async def stop(self) -> None:
        await self._server.stop(None)

    def _deserialized(self, message: bytes) -> bytes:
        self.read.append(message)
        if message == NO_MESSAGE:
            raise DecodeError
        return message

    async def _echo(self, request: bytes, context: Any) -> bytes:
        return caller().user_id.encode()


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    running = Server()
    await running.start()
    yield running
    await running.stop()


async def called(server: Server, method: str, key: str | None, message: bytes = b"message") -> bytes:
    metadata = (("authorization", f"Bearer {key}"),) if key else ()
    async with grpc.aio.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        answer: bytes = await channel.unary_unary(f"/{SERVICE}/{method}")(
            message, metadata=metadata, timeout=60
        )
    return answer


@pytest.mark.parametrize(
    ("method", "key", "code"),
    [
        ("ListIdentities", None, grpc.StatusCode.UNAUTHENTICATED),
        ("ListIdentities", "wrong", grpc.StatusCode.UNAUTHENTICATED),
        ("CompleteBotMessenger", "good", grpc.StatusCode.PERMISSION_DENIED),
        ("ListIdentities", "broken", grpc.StatusCode.INTERNAL),
    ],
)
async def test_a_refused_call_ends_before_its_message_is_read(
    server: Server, method: str, key: str | None, code: grpc.StatusCode
) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await called(server, method, key)
    assert refused.value.code() is code
    assert "internal error" not in str(refused.value.details())
    assert server.read == []


async def test_what_is_no_message_is_refused_without_a_stack_trace(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await called(server, "ListIdentities", "good", NO_MESSAGE)
    assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert not [record for record in caplog.records if record.exc_info]


async def test_a_call_with_a_key_is_served_for_its_user(server: Server) -> None:
    assert await called(server, "ListIdentities", "good") == b"ann"
    assert server.read == [b"message"]


async def test_the_health_of_the_core_can_be_watched(server: Server) -> None:
    async with grpc.aio.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        watching = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest(), timeout=60)
        assert (await watching.read()).status == health_pb2.HealthCheckResponse.SERVING
