"""Steps that the features of chat platforms share.

A module of such a feature says in `CHAT` what its platform is.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pytest
from pytest_bdd import given, parsers, then, when

from domain.channels.messages import RawCall
from tests.drivers.platform import PlatformDriver
from tests.drivers.ways import Reply, Rest
from tests.drivers.world import World
from tests.support.platforms.standin import StandIn
from tests.support.waiting import until


@dataclass(frozen=True)
class Chat:
    """A chat platform in features.

    `call` makes the call of a recorded body at a moment, the second one with a proof of origin that is
    wrong; `said` lists what was written on the platform, each with the place where it stands. `setting` names
    the settings that hold the platform's address, separated by spaces; `{platform}` stands for it in `config`.

    The features speak in words: `events` gives the recorded body for each name of what the platform posts,
    `replies` the JSON value for each name of an acknowledgement, `places` the name of each place.
    """

    channel_id: str
    config: Mapping[str, Any]
    standin: type[StandIn]
    setting: str
    call: Callable[[str, datetime], RawCall]
    forged: Callable[[str, datetime], RawCall]
    said: Callable[[Any], list[tuple[str, str]]]
    events: Mapping[str, str]
    places: Mapping[str, str] = field(default_factory=dict)
    replies: Mapping[str, Any] = field(default_factory=dict)
    api: str = ""

    def reply(self, name: str) -> Any:
        return None if name == "nothing" else self.replies[name]


@dataclass
class Instance:
    """The instance under test, and how the calls of its platform ended."""

    chat: Chat
    rest: Rest
    driver: PlatformDriver
    id: int = 0
    created: Any = None
    replies: list[Reply] = field(default_factory=list)

    def post(self, call: RawCall) -> None:
        self.replies.append(
            self.rest.call(self.chat.channel_id, self.id, call.body, call.headers, call.callback)
        )

    def said(self) -> list[tuple[str, str]]:
        """What was written on the platform, each with the name of its place."""
        return [
            (self.chat.places.get(place, place), text) for place, text in self.chat.said(self.driver.platform)
        ]


@pytest.fixture(scope="module", autouse=True)
def platform_driver(request: pytest.FixtureRequest) -> Iterator[PlatformDriver | None]:
    """The platform's server, whose address is a setting of the module's world."""
    chat: Chat | None = getattr(request.module, "CHAT", None)
    if chat is None:
        yield None
        return
    driver = PlatformDriver()
    addresses = dict.fromkeys(chat.setting.split(), driver.url + chat.api)
    request.module.SETTINGS = {**addresses, "AGENT_URL": "https://agents.example"}
    yield driver
    driver.close()


@pytest.fixture
def instance(
    request: pytest.FixtureRequest, rest: Rest, platform_driver: PlatformDriver
) -> Iterator[Instance]:
    chat: Chat = request.module.CHAT
    platform = chat.standin()
    platform_driver.show(platform)
    yield Instance(chat, rest, platform_driver)
    assert platform.faults == []


@given("a bot that echoes")
def a_bot(instance: Instance) -> None:
    create(instance, {})


@given("a bot that echoes for verified users alone")
def an_exclusive_bot(instance: Instance) -> None:
    create(instance, {"accessMode": "allowlist"})


def create(instance: Instance, settings: Mapping[str, Any]) -> None:
    body = {
        "channelId": instance.chat.channel_id,
        "channelName": "Bot",
        "config": {**_filled(instance.chat.config, instance.driver.url), **settings},
        "downStreamResourceId": "agent::echo",
    }
    instance.created = instance.rest.create("ann", body).body
    instance.id = instance.created["instanceId"]


def _filled(config: Mapping[str, Any], url: str) -> dict[str, Any]:
    return {
        name: value.replace("{platform}", url) if isinstance(value, str) else value
        for name, value in config.items()
    }


@given(parsers.parse("the platform asks to wait {seconds:d} second once it is written to"))
def asks_to_wait(instance: Instance, seconds: int) -> None:
    platform = instance.driver.platform
    answer, waited = platform.answer, []

    def slow(seen: Any) -> Any:
        with instance.driver.unseen():
            reply = answer(seen)
            if not waited and instance.said():
                waited.append(seen)
                _forget(platform)
                return type(reply)(
                    429, {"ok": False, "retry_after": seconds}, headers={"Retry-After": str(seconds)}
                )
        return reply

    platform.answer = slow  # type: ignore[method-assign]


def _forget(platform: StandIn) -> None:
    """What was refused was not written."""
    for name, value in vars(platform).items():
        if isinstance(value, list) and name not in ("seen", "faults"):
            value.clear()


@given(parsers.parse("the platform posts {name}"))
@when(parsers.parse("the platform posts {name}"))
def posts(world: World, instance: Instance, name: str) -> None:
    instance.post(instance.chat.call(instance.chat.events[name], world.clock.now()))


@when(parsers.parse("the platform repeats {name}"))
def repeats(world: World, instance: Instance, name: str) -> None:
    for _ in range(2):
        instance.post(instance.chat.call(instance.chat.events[name], world.clock.now()))


@when("the answer is on record as sent")
def sent(world: World) -> None:
    def is_sent() -> bool:
        return bool(world.run(world.container.database().fetch("SELECT 1 FROM outbox WHERE status = 1")))

    until(is_sent, "the answer is on record as sent")


@then("nothing else is asked")
def nothing_else_asked(world: World) -> None:
    assert len(world.run(world.container.database().fetch("SELECT 1 FROM inbox"))) == 1


@then(parsers.re("(this is|these are) (?P<number>one|two) conversations?"))
def conversations(world: World, number: str) -> None:
    fetch = world.container.database().fetch
    assert len(world.run(fetch("SELECT DISTINCT session_key FROM inbox"))) == ("one", "two").index(number) + 1


@when(parsers.parse("somebody else posts {name}"))
def forges(world: World, instance: Instance, name: str) -> None:
    instance.post(instance.chat.forged(instance.chat.events[name], world.clock.now()))


@then(parsers.re(r"(it is acknowledged with|(Discord|Slack|Teams) is told) (?P<name>.+)"))
def acknowledged(instance: Instance, name: str) -> None:
    reply = instance.replies[-1]
    assert reply.outcome == "done", reply.body
    given = reply.body.decode() if isinstance(reply.body, bytes) else reply.body
    assert given == instance.chat.reply(name)


@then(parsers.parse('"{text}" is written to {place}'))
def written(instance: Instance, text: str, place: str) -> None:
    assert instance.driver.wait_until(lambda: (place, text) in instance.said()), instance.said()


@then("it is written once")
def written_once(world: World, instance: Instance) -> None:
    assert instance.driver.wait_until(lambda: len(instance.said()) > 0)
    assert world.run(world.container.database().fetch("SELECT 1 FROM outbox")).__len__() == 1
    assert len(instance.said()) == 1


@then(parsers.parse('the call is refused as "{outcome}"'))
def refused(instance: Instance, outcome: str) -> None:
    assert instance.replies[-1].outcome == outcome


@then("nobody is asked")
def nobody_asked(world: World, instance: Instance) -> None:
    assert world.run(world.container.database().fetch("SELECT 1 FROM inbox")) == []
    assert instance.said() == []
