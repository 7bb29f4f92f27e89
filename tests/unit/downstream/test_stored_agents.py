"""Stored agents as they run: who waits for them to be read, and when they are read again."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from adapters.outbound.resources.builtin import Builtins
from adapters.outbound.resources.grpc_runner import GrpcChannels
from adapters.outbound.resources.router import Router, Runners
from adapters.outbound.resources.rules_file import RulesFile
from adapters.outbound.resources.stored_agents import StoredAgents
from domain.access.sharing import Level
from domain.agents.model import Agent, AgentDefinition
from domain.refusals import StorageAway
from domain.routing.model import RunRequest, RunResult
from ports.http import HttpAnswer, HttpRequest
from tests.support.runs import Knowledge, Remembered, States, a_request

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def an_agent(slug: str = "support", **changes: Any) -> Agent:
    definition = AgentDefinition("http", {"url": "http://agents.example/ask"})
    return Agent(1, slug, "Support", "ann", definition, NOW, NOW, **changes)


class Store:
    """Agents that are read when `go_on` is set."""

    def __init__(self, *agents: tuple[Agent, Mapping[str, Level]]) -> None:
        self.agents = agents
        self.reads = 0
        self.is_away = False
        self.go_on = asyncio.Event()
        self.go_on.set()

    async def running(self) -> Sequence[tuple[Agent, Mapping[str, Level]]]:
        self.reads += 1
        await self.go_on.wait()
        if self.is_away:
            raise StorageAway("away")
        return self.agents


class Http:
    def __init__(self) -> None:
        self.requests: list[HttpRequest] = []

    async def send(self, request: HttpRequest) -> HttpAnswer:
        raise AssertionError("agents are asked by a stream")

    async def stream(self, request: HttpRequest) -> Any:
        self.requests.append(request)
        assert request.on_head is not None
        request.on_head(HttpAnswer(200, {"content-type": "application/json"}, b""))
        yield b'{"text": "from the agent"}'


class Default:
    async def run(self, request: RunRequest) -> RunResult:
        return RunResult("from the default")


class Scene:
    def __init__(self, store: Store) -> None:
        self.http = Http()
        builtins = Builtins(Knowledge())
        parts: Any = (GrpcChannels(), Remembered(), States(), None, builtins, Knowledge())
        runners = Runners(self.http, *parts, retry=lambda inner: inner)
        file = RulesFile(None, {}.get, runners.build)
        self.agents = StoredAgents(store, runners, file)  # type: ignore[arg-type]
        self.router = Router(file, builtins, Default(), self.agents.find)

    async def ask(self, owner: str = "ann", resource: str = "agent::support") -> str:
        return (await self.router.run(a_request(resource, owner=owner))).text


async def test_all_who_ask_at_the_start_wait_until_the_agents_are_read() -> None:
    store = Store((an_agent(), {"ann": Level.DELETE}))
    store.go_on.clear()
    scene = Scene(store)
    asked = [asyncio.create_task(scene.ask()) for _ in range(3)]
    await asyncio.sleep(0)
    store.go_on.set()

    assert await asyncio.gather(*asked) == ["from the agent"] * 3
    assert store.reads == 1


async def test_what_changes_while_agents_are_read_is_read_again() -> None:
    store = Store((an_agent(), {"ann": Level.DELETE}))
    store.go_on.clear()
    scene = Scene(store)
    first = asyncio.create_task(scene.ask())
    await asyncio.sleep(0)
    scene.agents.forget()
    store.go_on.set()
    await first
    store.agents = ()

    assert await scene.ask() == "from the default"
    assert store.reads == 2


async def test_agents_that_cannot_be_read_are_not_passed_over() -> None:
    store = Store((an_agent(), {"ann": Level.DELETE}))
    store.is_away = True
    scene = Scene(store)
    with pytest.raises(StorageAway):
        await scene.ask()
    store.is_away = False

    assert await scene.ask() == "from the agent"


async def test_without_a_change_nothing_is_read() -> None:
    store = Store((an_agent(), {"ann": Level.READ}))
    scene = Scene(store)
    for _ in range(3):
        assert await scene.ask() == "from the agent"

    assert store.reads == 1


@pytest.mark.parametrize(
    ("levels", "answer"),
    [
        ({"ann": Level.DELETE, "bob": Level.READ}, "from the agent"),
        ({"ann": Level.DELETE}, "No resource is connected to agent::support_0, so nobody can answer."),
    ],
)
async def test_the_owner_of_the_instance_must_have_read(levels: Mapping[str, Level], answer: str) -> None:
    assert await Scene(Store((an_agent(), levels))).ask("bob") == answer


@pytest.mark.parametrize("trusted", [True, False])
async def test_only_a_trusted_agent_is_exempt_from_the_policy(trusted: bool) -> None:
    scene = Scene(Store((an_agent(trusted=trusted), {"ann": Level.DELETE})))
    await scene.ask()

    assert [request.user_address for request in scene.http.requests] == [not trusted]


async def test_an_expert_of_an_agent_is_asked_as_one() -> None:
    scene = Scene(Store((an_agent(), {"ann": Level.DELETE})))
    await scene.ask(resource="agent::support_3")

    assert scene.http.requests[0].json["resource"]["expertIndex"] == 3


async def test_an_agent_that_cannot_be_decrypted_is_not_passed_over() -> None:
    scene = Scene(Store((an_agent(fault="it cannot be decrypted"), {"ann": Level.DELETE})))

    assert (await scene.ask()).startswith("No resource is connected")
