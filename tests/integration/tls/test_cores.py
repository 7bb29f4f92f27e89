"""A gateway before several cores: which of them takes a call, and which calls are sent to another one."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import grpc
import pytest
from grpc import aio
from grpc_health.v1 import health_pb2_grpc
from grpc_health.v1._async import HealthServicer
from grpc_health.v1.health_pb2 import HealthCheckResponse
from switchboard.channels.v1 import callbacks_pb2 as pb
from switchboard.channels.v1 import instances_pb2, instances_pb2_grpc
from switchboard.channels.v1.callbacks_pb2_grpc import (
    CallbackServiceServicer,
    add_CallbackServiceServicer_to_server,
)

from adapters.outbound.core_client.callbacks import RemoteCallbacks
from adapters.outbound.core_client.connection import CoreConnection
from domain.channels.messages import RawCall
from domain.refusals import Unavailable
from tests.support.ports import free_port

CALL = RawCall("r1", "POST", "webhook", "https://gateway.example/webhook", {}, b"{}")


class Core(CallbackServiceServicer, instances_pb2_grpc.InstanceServiceServicer):
    """Goes away over each call while `leaves` is set."""

    def __init__(self) -> None:
        self.health = HealthServicer()
        self.calls: list[str] = []
        self.leaves = False
        self.port = 0

    async def _take(self, name: str, context: Any) -> None:
        self.calls.append(name)
        if self.leaves:
            await context.abort(grpc.StatusCode.UNAVAILABLE, "Socket closed")

    async def StreamCallbacks(  # noqa: N802
        self, batches: AsyncIterator[pb.RawCallBatch], context: Any
    ) -> AsyncIterator[pb.RawOutcomeBatch]:
        async for batch in batches:
            for call in batch.calls:
                await self._take(call.call.request_id, context)
                outcome = pb.RawOutcome(number=call.number, answer=pb.RawAnswer(status=200))
                yield pb.RawOutcomeBatch(outcomes=[outcome])

    async def GetInstance(self, request: Any, context: Any) -> Any:  # noqa: N802
        await self._take("get", context)
        return instances_pb2.Instance()

    async def DeleteInstance(self, request: Any, context: Any) -> Any:  # noqa: N802
        await self._take("delete", context)
        return instances_pb2.DeleteInstanceResponse()

    async def tell(self, serving: bool) -> None:
        states = HealthCheckResponse
        await self.health.set("", states.SERVING if serving else states.NOT_SERVING)


@asynccontextmanager
async def serving(core: Core, host: str = "127.0.0.1") -> AsyncIterator[aio.Server]:
    server = aio.server(options=[("grpc.so_reuseport", 0)])
    add_CallbackServiceServicer_to_server(core, server)
    instances_pb2_grpc.add_InstanceServiceServicer_to_server(core, server)
    health_pb2_grpc.add_HealthServicer_to_server(core.health, server)
    await core.tell(serving=True)
    core.port = server.add_insecure_port(f"{host}:{core.port}")
    await server.start()
    try:
        yield server
    finally:
        await server.stop(None)


@pytest.fixture
async def cores() -> AsyncIterator[list[Core]]:
    cores = [Core(), Core()]
    async with AsyncExitStack() as stack:
        for core in cores:
            await stack.enter_async_context(serving(core))
        yield cores


@pytest.fixture
async def connection(cores: list[Core]) -> AsyncIterator[CoreConnection]:
    connection = CoreConnection(",".join(f"127.0.0.1:{core.port}" for core in cores))
    connection.cores.start()
    yield connection
    await connection.close()


async def usable(connection: CoreConnection, count: int) -> None:
    """Waits until so many cores are known to serve."""
    async with asyncio.timeout(60):
        while sum(endpoint.serving for endpoint in connection.cores.endpoints) != count:
            await asyncio.sleep(0.01)


async def get(connection: CoreConnection) -> None:
    stub = instances_pb2_grpc.InstanceServiceStub(connection.channel)
    await connection.call(stub.GetInstance, instances_pb2.GetInstanceRequest())


async def test_cores_take_turns(cores: list[Core], connection: CoreConnection) -> None:
    await usable(connection, 2)
    callbacks = RemoteCallbacks(connection)
    for _ in range(4):
        await get(connection)
        await callbacks.handle("x", 1, CALL)
    assert sorted(len(core.calls) for core in cores) == [4, 4]
    await callbacks.close()


async def test_a_core_that_cannot_serve_gets_no_calls(cores: list[Core], connection: CoreConnection) -> None:
    await cores[0].tell(serving=False)
    await usable(connection, 1)
    for _ in range(4):
        await get(connection)
    assert [len(core.calls) for core in cores] == [0, 4]

    await cores[1].tell(serving=False)
    await usable(connection, 0)
    await get(connection)
    assert sum(len(core.calls) for core in cores) == 5, "one of them says best what is wrong"


async def test_a_call_over_which_a_core_goes_away_is_made_again_where_that_is_safe(
    cores: list[Core], connection: CoreConnection
) -> None:
    await usable(connection, 2)
    cores[0].leaves = True
    callbacks = RemoteCallbacks(connection)
    for _ in range(3):
        await get(connection)
        assert (await callbacks.handle("x", 1, CALL)).status == 200
    assert set(cores[1].calls) == {"get", "r1"}, "under the same request id"

    cores[1].leaves = True
    with pytest.raises(Unavailable):
        await callbacks.handle("x", 1, CALL)
    cores[0].calls, cores[1].calls = [], []
    stub = instances_pb2_grpc.InstanceServiceStub(connection.channel)
    with pytest.raises(Unavailable):
        await connection.call(stub.DeleteInstance, instances_pb2.DeleteInstanceRequest())
    assert cores[0].calls + cores[1].calls == ["delete"], "it may have been done"
    await callbacks.close()


async def test_any_call_goes_to_another_core_where_there_was_no_connection(cores: list[Core]) -> None:
    connection = CoreConnection(f"127.0.0.1:{free_port()},127.0.0.1:{cores[0].port}")
    stub = instances_pb2_grpc.InstanceServiceStub(connection.channel)
    for _ in range(2):
        await connection.call(stub.DeleteInstance, instances_pb2.DeleteInstanceRequest())
    assert cores[0].calls == ["delete", "delete"]
    await connection.close()


async def test_a_name_stands_for_all_its_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that it gets later too; those that it loses are left once their calls have ended."""
    found = ["127.0.0.1", "127.0.0.2"]

    async def resolve(_host: str, port: int, **_: object) -> list[Any]:
        if not found:
            raise socket.gaierror("away")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in found]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", resolve)
    first, second = Core(), Core()
    async with serving(first):
        second.port = first.port
        async with serving(second, "127.0.0.2"):
            connection = CoreConnection(f"dns:///cores.internal:{first.port}")
            await connection.cores.refresh()
            await usable(connection, 2)
            for _ in range(4):
                await get(connection)
            assert [len(first.calls), len(second.calls)] == [2, 2]

            found.remove("127.0.0.1")
            await connection.cores.refresh()
            await get(connection)
            found.clear()
            await connection.cores.refresh()
            await get(connection)
            assert [len(first.calls), len(second.calls)] == [2, 4]
            await connection.close()
