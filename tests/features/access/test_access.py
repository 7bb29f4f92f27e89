"""The steps of access.feature."""

import copy
from collections.abc import Iterator
from datetime import timedelta
from itertools import count
from typing import Any

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from adapters.outbound.channels.business_messaging.tests import samples
from domain.channels.messages import Identity
from domain.routing.conversation import not_served
from domain.routing.model import RunResult
from tests.drivers.platform import PlatformDriver
from tests.drivers.resource import Resource
from tests.drivers.ways import Reply, Rest
from tests.drivers.world import World
from tests.support.platforms.whatsapp import WhatsApp
from tests.support.waiting import until

AGENT = "https://agents.example"
SETTINGS = {"AGENT_URL": AGENT, "PLATFORM_URL": "https://platform.example"}
EDGE = samples.SETTING
scenarios("access.feature")


class Scene:
    """Numbers of ann's, who writes to them, and what the resource behind them was told."""

    def __init__(self, world: World, rest: Rest, driver: PlatformDriver) -> None:
        self.world = world
        self.rest = rest
        self.platform = WhatsApp()
        driver.show(self.platform)
        self.resource = Resource(world, lambda request: RunResult(f"heard {request.text}"))
        self.settings: dict[str, Any] = {}
        self.instances: list[int] = []
        self.ids = count(1)
        self.written = 0
        self.reply: Reply | None = None

    def create(self, settings: dict[str, Any]) -> Reply:
        self.settings = settings
        body = {
            "channelId": "business-messaging",
            "channelName": f"Number {len(self.instances)}",
            "config": {**samples.CONFIG, **settings},
            "downStreamResourceId": "agent::listener",
        }
        reply = self.rest.create("ann", body)
        if reply.outcome == "created":
            self.instances.append(reply.body["instanceId"])
        return reply

    def write(self, phone: str, text: str, scoped: str | None = None, instance: int = 0) -> None:
        body = copy.deepcopy(samples.fixture("text"))
        value = body["entry"][0]["changes"][0]["value"]
        message = value["messages"][0]
        message |= {"from": phone, "id": f"wamid.{next(self.ids)}", "text": {"body": text}}
        value["contacts"] = [{"profile": {"name": "Somebody"}, "wa_id": phone}]
        if scoped is not None:
            message["from_user_id"] = scoped
        call = samples.posted(body)
        reply = self.rest.call(
            "business-messaging", self.instances[instance], call.body, call.headers, "webhook"
        )
        assert reply.outcome == "done", reply
        self.written += 1
        until(self._settled, "the message is worked off and answered")

    def _settled(self) -> bool:
        row = self.world.run(
            self.world.container.database().fetch_one(
                "SELECT (SELECT count(*) FROM inbox WHERE status <> 0),"
                " (SELECT count(*) FROM outbox WHERE status = 0)"
            )
        )
        return row == (self.written, 0)

    def got(self, phone: str) -> list[str]:
        return [each["text"]["body"] for each in self.platform.messages if each["to"] == phone]

    def identity(self, words: str) -> Identity:
        field, _, value = words.partition(" ")
        return Identity(field, value)


@pytest.fixture
def scene(world: World, rest: Rest, platform_driver: PlatformDriver) -> Iterator[Scene]:
    made = Scene(world, rest, platform_driver)
    yield made
    assert made.platform.faults == []


POLICIES = {
    "identifies its users": {"identifyUsers": True},
    "serves verified users only": {"accessMode": "allowlist"},
    "serves everybody": {"accessMode": "open"},
    "has only the settings it needs": {},
}


@given(parsers.parse("a number that {policy}"))
def a_number(scene: Scene, policy: str) -> None:
    assert scene.create(POLICIES[policy]).outcome == "created"


@given(parsers.re(r"(?P<user>ann|bob) has verified (?P<identity>.+)"))
@when(parsers.re(r"(?P<user>ann|bob) verifies (?P<identity>.+)"))
def verified(scene: Scene, user: str, identity: str) -> None:
    scene.world.run(scene.world.container.storage().identities.give(user, [scene.identity(identity)]))


@when(parsers.re(r"(?P<user>ann|bob) removes (?P<identity>.+)"))
def removed(scene: Scene, user: str, identity: str) -> None:
    assert scene.world.run(scene.world.container.storage().identities.take(user, scene.identity(identity)))


@when(parsers.re(r'(?P<phone>\d+) writes "(?P<text>[^"]*)"'))
def writes(scene: Scene, phone: str, text: str) -> None:
    scene.write(phone, text)


@when(parsers.re(r'(?P<phone>\d+), also called (?P<scoped>\S+), writes "(?P<text>[^"]*)"'))
def writes_scoped(scene: Scene, phone: str, scoped: str, text: str) -> None:
    scene.write(phone, text, scoped)


@when(parsers.re(r'(?P<phone>\d+) writes "(?P<text>[^"]*)" to another number with the same settings'))
def writes_elsewhere(scene: Scene, phone: str, text: str) -> None:
    scene.create(scene.settings)
    scene.write(phone, text, instance=1)


@when(parsers.parse("{hours:d} hours and {minutes:d} minutes pass"))
def pass_hours(scene: Scene, hours: int, minutes: int) -> None:
    scene.world.clock.advance(timedelta(hours=hours, minutes=minutes))


@when(parsers.parse('ann makes a number with the access mode "{mode}"'))
def makes(scene: Scene, mode: str) -> None:
    scene.reply = scene.create({"accessMode": mode})


@then(parsers.parse('it is refused as "{outcome}", naming "{name}"'))
def refused(scene: Scene, outcome: str, name: str) -> None:
    assert scene.reply is not None
    assert scene.reply.outcome == outcome
    assert name in scene.reply.error


@then(parsers.re(r"the resource is told that (?P<who>ann|bob|somebody unknown) writes"))
def told(scene: Scene, who: str) -> None:
    (request,) = scene.resource.wait_for(1)
    assert request.sender.user_id == (None if who == "somebody unknown" else who)


@then("the resource is not asked")
def not_asked(scene: Scene) -> None:
    assert scene.resource.requests == []


@then(parsers.re(r"(?P<phone>\d+) gets the answer"))
def answered(scene: Scene, phone: str) -> None:
    assert scene.got(phone) == ["heard hello"]


@then(parsers.re(r"(?P<phone>\d+) gets (?P<number>\d+) notices? that names? the address where to verify"))
def notices(scene: Scene, phone: str, number: str) -> None:
    found = [each for each in scene.got(phone) if each == not_served(f"{AGENT}/console/identities")]
    assert len(found) == int(number)
    assert len([each for each in scene.got(phone) if not each.startswith("heard")]) == int(number)
