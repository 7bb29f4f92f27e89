"""The steps of peers.feature: clients of the core with and without the proof of a gateway, over a socket."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import grpc
import pytest
from google.rpc.error_details_pb2 import RetryInfo
from grpc_status import rpc_status
from pytest_bdd import parsers, scenarios, then, when
from switchboard.access.v1 import access_pb2, access_pb2_grpc
from switchboard.channels.v1 import web_chat_pb2 as pb
from switchboard.channels.v1 import web_chat_pb2_grpc

from domain.access.model import Caller
from domain.instances.model import NewInstance
from tests.drivers.world import SERVICE_KEY, World
from tests.support.certificates import LOOPBACK, new_authority

WORKER = False
scenarios("peers.feature")

ANN, VISITOR = "192.0.2.77", "192.0.2.88"
WITH_KEY, WITH_CERTIFICATE = "a gateway with the service key", "a gateway with a client certificate"
WAIT, WRONG = grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.UNAUTHENTICATED
Metadata = tuple[tuple[str, str], ...]


class Client:
    """A client of the core of a world; `errors` are those of its calls, None for a call that went well."""

    def __init__(self, world: World, metadata: Metadata, credentials: grpc.ChannelCredentials | None) -> None:
        self.world, self.metadata = world, metadata
        self.errors: list[grpc.aio.AioRpcError | None] = []
        address = f"127.0.0.1:{world.grpc.port}"
        connect = grpc.aio.insecure_channel
        self.channel = grpc.aio.secure_channel(address, credentials) if credentials else connect(address)
        self.streams: list[Any] = []

    async def call(self, method: Any, request: Any) -> Any:
        call = method(request, metadata=self.metadata, timeout=60)
        try:
            if not hasattr(call, "__aiter__"):
                answer = await call
            else:
                self.streams.append(call)
                answer = await anext(aiter(call))
        except grpc.aio.AioRpcError as error:
            self.errors.append(error)
        else:
            self.errors.append(None)
            return answer

    async def close(self) -> None:
        await self.channel.close()

    @property
    def codes(self) -> list[grpc.StatusCode | None]:
        return [error and error.code() for error in self.errors]


class Scene:
    def __init__(self, world: World) -> None:
        self.world = world
        self.clients: list[Client] = []
        self.kind = ""
        self.public_id = ""

    def client(
        self, caller: str, address: str = "", credentials: grpc.ChannelCredentials | None = None
    ) -> Client:
        keys = {"somebody with an API key": lambda: self.world.key_of("bob"), WITH_KEY: lambda: SERVICE_KEY}
        metadata = (("authorization", f"Bearer {keys[caller]()}"),) if caller in keys else ()
        metadata += (("x-client-address", address),) if address else ()

        async def made() -> Client:
            return Client(self.world, metadata, credentials)

        self.clients.append(self.world.run(made()))
        return self.clients[-1]

    def try_keys(self, client: Client, addresses: list[str]) -> None:
        async def tried() -> None:
            method = access_pb2_grpc.AccessServiceStub(client.channel).SignIn
            for address in addresses:
                await client.call(method, access_pb2.SignInRequest(credential="sb_wrong", address=address))

        self.world.run(tried())

    def visit(self, client: Client, kind: str, count: int) -> None:
        """So many calls of one visitor at once."""
        web_chat = self.world.container.use_cases().web_chat

        async def visited() -> None:
            stub: Any = web_chat_pb2_grpc.WebChatServiceStub(client.channel)
            visitor = (await web_chat.open(self.public_id, "", "")).visitor
            named = {"public_id": self.public_id, "visitor": visitor}
            calls = []
            for number in range(count):
                method, request = {
                    "chats": (stub.OpenChat, pb.OpenChatRequest(**named)),
                    "messages": (
                        stub.PostMessage,
                        pb.PostMessageRequest(**named, id=str(uuid4()), text="hi"),
                    ),
                    "streams": (stub.WatchChat, pb.WatchChatRequest(**named)),
                    "looks at origins": (
                        stub.CheckOrigin,
                        pb.CheckOriginRequest(public_id=self.public_id, origin=f"https://{number}.example"),
                    ),
                }[kind]
                calls.append(client.call(method, request))
            await asyncio.gather(*calls)

        self.world.run(visited())


@pytest.fixture
def scene(world: World, make_world: Callable[..., World]) -> Iterator[Scene]:
    scene = Scene(world)
    yield scene
    for client in scene.clients:
        client.world.run(client.close())


@when(parsers.parse("{caller} tries a wrong key for each of {count:d} addresses"))
def _(scene: Scene, caller: str, count: int, make_world: Callable[..., World], tmp_path: Path) -> None:
    credentials = None
    if caller == WITH_CERTIFICATE:
        scene.world, credentials = with_client_certificates(make_world, tmp_path)
    client = scene.client(caller, credentials=credentials)
    scene.try_keys(client, [f"192.0.2.{number}" for number in range(count)])


def with_client_certificates(
    make_world: Callable[..., World], folder: Path
) -> tuple[World, grpc.ChannelCredentials]:
    """A core that takes clients with a certificate alone, and the credentials of one."""
    authority = new_authority()
    files = authority.issue(*LOOPBACK).write(folder / "core", authority.pem)
    names = {"CERT_FILE": "certificate", "KEY_FILE": "key", "CLIENT_CA_FILE": "ca"}
    settings = {f"GRPC_TLS_{name}": str(files[file]) for name, file in names.items()}
    world = make_world(worker=False, **settings)
    client = authority.issue("gateway")
    return world, grpc.ssl_channel_credentials(authority.pem, client.key_pem, client.pem)


@then("the caller is told to wait")
def _(scene: Scene) -> None:
    assert scene.clients[-1].codes == [WRONG] * 20 + [WAIT] * 10


@then("the caller is told each time that it is wrong")
def _(scene: Scene) -> None:
    assert set(scene.clients[-1].codes) == {WRONG}


@when("somebody without any proof tries 30 wrong keys for ann's address")
def _(scene: Scene) -> None:
    scene.try_keys(scene.client("somebody without any proof", ANN), [ANN] * 30)


@then("a wrong key from ann's address is only told to be wrong")
def _(scene: Scene) -> None:
    client = scene.client(WITH_KEY)
    scene.try_keys(client, [ANN])
    assert client.codes == [WRONG]


def a_shop(world: World) -> str:
    """The public id of a web chat."""
    instances = world.container.use_cases().instances
    new = NewInstance("web-chat", "shop", {"allowedOrigins": "https://www.example.com"}, "agent::echo")
    made = world.run(instances.create(Caller("ann"), new))
    return world.run(instances.get(Caller("ann"), made.instance_id)).public_id or ""


@when(parsers.re(r"(?P<caller>.*) (?:makes|passes on) (?P<count>\d+) (?P<kind>.*?)(?: of one visitor)?"))
def _(scene: Scene, caller: str, count: str, kind: str) -> None:
    scene.public_id, scene.kind = a_shop(scene.world), kind
    address = "192.0.2.99" if caller == WITH_KEY else VISITOR
    scene.visit(scene.client(caller, address), kind, int(count))


@then("those beyond the limit are refused, and told when to try again")
def _(scene: Scene) -> None:
    refused = [error for error in scene.clients[-1].errors if error]
    assert 0 < len(refused) < len(scene.clients[-1].errors)
    for error in refused:
        assert error.code() is WAIT, error
        assert any(detail.Is(RetryInfo.DESCRIPTOR) for detail in rpc_status.from_call(error).details)


@then("a visitor of a gateway can still do that")
def _(scene: Scene) -> None:
    client = scene.client(WITH_KEY, VISITOR)
    scene.visit(client, scene.kind, 1)
    assert client.codes == [None]
