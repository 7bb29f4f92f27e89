"""The steps of proof_of_origin.feature."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from tests.drivers.platform import PlatformDriver
from tests.drivers.ways import WORDS, Rest
from tests.drivers.world import World
from tests.features.callbacks.origins import MORE_PROOFS, ORIGINS, Make, Place
from tests.support.platforms.teams import Teams

WORKER = False
scenarios("proof_of_origin.feature")

AGENT_URL = "https://agents.example"
NOWHERE = "http://127.0.0.1:9"


@pytest.fixture(scope="module", autouse=True)
def microsoft(request: pytest.FixtureRequest) -> Iterator[PlatformDriver]:
    """The server with the signing keys of Teams; the other platforms are not asked for anything."""
    driver = PlatformDriver()
    away = ("WORKSPACE_CHAT", "GAMING_CHAT", "BOT_MESSENGER", "BUSINESS_MESSAGING", "SMS_PROVIDER")
    request.module.SETTINGS = {
        "AGENT_URL": AGENT_URL,
        "ENTERPRISE_CHAT_LOGIN_URL": driver.url,
        "ENTERPRISE_CHAT_OPENID_URL": driver.url,
        **{f"{name}_API_URL": NOWHERE for name in away},
    }
    yield driver
    driver.close()


@dataclass
class Caller:
    """Calls the callback address of the instance under test."""

    world: World
    rest: Rest
    platform: str
    channel: str = ""
    id: int = 0
    outcome: str = ""
    body: Any = None

    def create(self, channel: str, config: Any) -> None:
        body = {"channelId": channel, "channelName": "Bot", "config": dict(config)}
        made = self.rest.create("ann", body)
        self.channel, self.id = channel, made.body["instanceId"]

    def call(self, make: Make) -> None:
        path = f"/api/agent/channels/{self.channel}/{self.id}/webhook"
        call = make(Place(AGENT_URL + path, self.platform, self.world.clock.now()))
        address = f"{path}?{call.query}" if call.query else path
        answer = self.rest.request(call.method, address, content=call.body, headers=dict(call.headers))
        self.outcome, self.body = WORDS[answer.status_code], answer.text

    def stored(self) -> int:
        return len(self.world.run(self.world.container.database().fetch("SELECT 1 FROM inbox")))


@pytest.fixture
def caller(world: World, rest: Rest, microsoft: PlatformDriver) -> Caller:
    microsoft.show(Teams())
    return Caller(world, rest, microsoft.url)


@given(parsers.parse("an instance of {channel} that lacks {field}"))
def lacking(caller: Caller, channel: str, field: str) -> None:
    unproved = ORIGINS[channel].unproved
    assert unproved
    assert field not in unproved[0]
    caller.create(channel, unproved[0])


@given(parsers.re(r"an instance of (?P<channel>[a-z-]+)"))
def an_instance(caller: Caller, channel: str) -> None:
    caller.create(channel, ORIGINS[channel].config)


@pytest.fixture
def _given_back(world: World) -> Iterator[None]:
    service = world.container.callback_service()
    verifier = service.verifier
    yield
    service.verifier = verifier


@given("a server that requires proof")
def requires_proof(world: World, _given_back: None) -> None:
    service = world.container.callback_service()
    service.verifier = replace(service.verifier, require_signatures=True)


@when("its platform calls")
def calls(caller: Caller) -> None:
    caller.call(ORIGINS[caller.channel].genuine)


@when(parsers.parse("its platform calls with {proof}"))
def calls_with(caller: Caller, proof: str) -> None:
    caller.call(MORE_PROOFS[caller.channel][proof])


@when("a call comes that nothing proves")
def unproved(caller: Caller) -> None:
    unproved = ORIGINS[caller.channel].unproved
    assert unproved
    caller.call(unproved[1])


@when(parsers.parse("a call comes with {fault}"))
def faulty(caller: Caller, fault: str) -> None:
    caller.call(ORIGINS[caller.channel].faults[fault])


@then("the call is accepted")
def accepted(caller: Caller) -> None:
    assert caller.outcome == "done", caller.body


@then("its message is stored")
def stored(caller: Caller) -> None:
    assert caller.stored() == 1


@then(parsers.parse("it is refused as {outcome}"))
def refused(caller: Caller, outcome: str) -> None:
    assert caller.outcome == outcome, caller.body


@then("nothing is stored")
def nothing_stored(caller: Caller) -> None:
    assert caller.stored() == 0


@then(parsers.parse("the refusal names {field}"))
def names(caller: Caller, field: str) -> None:
    assert field in caller.body


@then(parsers.parse("the instance's health names {field}"))
def health_names(caller: Caller, field: str) -> None:
    health = caller.rest.health("ann", caller.id).body
    assert any(field in warning for warning in health["warnings"]), health


@then("no fault that the calls can have is left out")
def complete(caller: Caller) -> None:
    table = Path(__file__).with_name("proof_of_origin.feature").read_text()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines() if "|" in line]
    listed = {(row[0], row[1]) for row in rows}
    wanted = {(channel, fault) for channel, origin in ORIGINS.items() for fault in origin.faults}
    assert wanted <= listed
