"""The steps of lost_access.feature. The clock of streams is moved; a message is a page at which they look at it."""

import time
from collections.abc import Iterator
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from adapters.inbound import streams
from adapters.inbound.console.sessions import LIVE, SESSION
from adapters.outbound.system import event_feed
from domain.access.model import Role
from tests.drivers.ways import INSTANCES, Rest
from tests.drivers.web_chat import Stream
from tests.drivers.world import SERVICE_KEY, World
from tests.support.waiting import until

WORKER = False
EVENTS, KEYS, USERS, TEAMS = (f"/api/agent/{name}" for name in ("events", "keys", "users", "teams"))
HALF_A_MINUTE = 30.0
scenarios("lost_access.feature")


class Scene:
    def __init__(self, world: World, rest: Rest) -> None:
        self.world, self.rest = world, rest
        self.ahead = 0.0
        self.key = self.parent = self.session = ""
        self.streams: dict[str, Stream] = {}
        self.keys = {"adam": self.made_key("adam", Role.ADMIN), "ann": self.made_key("ann", Role.MEMBER)}
        for user in ("bob", "dan"):
            self.keys[user] = self.made_key(user, Role.MEMBER)
        members = {"name": "Help", "members": [{"userId": "dan"}]}
        self.team = self.done("adam", "POST", TEAMS, members)["id"]
        self.bots = {"ann": self.made_bot("ann", "Support")}
        self.share(userId="bob", level=1)
        self.share(teamId=self.team, level=1)

    def made_key(self, user: str, role: Role) -> str:
        return self.world.run(self.world.container.access().create_key(user, role))[1]

    def made_bot(self, user: str, name: str) -> int:
        body = {"channelId": "http-webhook", "channelName": name, "config": {}}
        return int(self.done(user, "POST", INSTANCES, body)["instanceId"])

    def share(self, **permission: Any) -> None:
        self.done("ann", "PUT", f"{INSTANCES}/{self.bots['ann']}/permissions", permission)

    def done(self, user: str, method: str, path: str, body: Any = None, key: str = "") -> Any:
        options = {} if body is None else {"json": body}
        headers = {"authorization": f"Bearer {key or self.keys[user]}"}
        answer = self.rest.request(method, path, headers=headers, **options)
        assert answer.is_success, answer.text
        return answer.json() if answer.content else None

    def follow(self, who: str, path: str, headers: dict[str, str]) -> None:
        # The database was emptied: the feed says once a minute only that somebody listens.
        self.world.run(self.world.container.storage().event_log.listen("watchers"))
        stream = Stream(self.world, self.rest.app, path, "kinds=message.received", headers)
        self.streams[who] = stream
        until(lambda: b"\n\n" in stream.body, "the stream begins")

    def write(self, text: str, owner: str = "ann") -> None:
        path = f"/api/agent/channels/http-webhook/{self.bots[owner]}/webhook"
        answer = self.rest.request("POST", path, json={"message": text, "sessionId": "kim"})
        assert answer.is_success, answer.text

    def texts(self, who: str) -> list[str]:
        return [event["data"]["text"] for _, event in self.streams[who].events]

    def sign_in(self, user: str) -> dict[str, str]:
        sessions = self.world.container.use_cases().sessions
        self.session = self.world.run(sessions.sign_in(self.keys[user], "127.0.0.1")).token
        return {"cookie": f"{SESSION}={self.session}"}


@pytest.fixture
def scene(world: World, rest: Rest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    scene = Scene(world, rest)
    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + scene.ahead)
    monkeypatch.setattr(streams, "time", clock)
    yield scene
    for stream in scene.streams.values():
        stream.leave()


@given(parsers.re(r"(?P<who>bob|eve) follows events with (?P<what>.+)"))
def follows_with(scene: Scene, who: str, what: str) -> None:
    path, headers = EVENTS, {}
    if who == "eve":
        scene.keys["eve"] = scene.made_key("eve", Role.ADMIN)
    if what == "a key that ends in a day":
        scene.key = scene.done(who, "POST", KEYS, {"expiresInDays": 1})["token"]
    elif what == "a key that another one made":
        answer = scene.done(who, "POST", KEYS, {}, scene.made_key(who, Role.MEMBER))
        scene.parent, scene.key = answer["key"]["parentId"], answer["token"]
    elif what == "a service's key":
        scene.key, headers = SERVICE_KEY, {"x-user-id": who}
    elif "session" in what:
        path, headers = LIVE, scene.sign_in(who)
    else:
        scene.key = scene.keys[who]
    if scene.key:
        headers["authorization"] = f"Bearer {scene.key}"
    scene.follow(who, path, headers)


@given(parsers.parse("{who} has a bot and follows all events with a key"))
def follows_all(scene: Scene, who: str) -> None:
    scene.bots[who] = scene.made_bot(who, "Own")
    scene.follow(who, EVENTS, {"authorization": f"Bearer {scene.keys[who]}"})


@given(parsers.parse('kim wrote "before", of which {who} is told'))
def is_told_before(scene: Scene, who: str) -> None:
    scene.write("before")
    until(lambda: scene.texts(who) == ["before"], f"{who} is told")


@when("adam suspends bob")
def suspends(scene: Scene) -> None:
    scene.done("adam", "PUT", f"{USERS}/bob", {"state": "suspended"})


@when("adam deletes bob")
def deletes(scene: Scene) -> None:
    scene.done("adam", "DELETE", f"{USERS}/bob")


@when("adam deletes ann in favour of bob")
def hands_over(scene: Scene) -> None:
    scene.done("adam", "DELETE", f"{USERS}/ann?successor=bob")


@when(parsers.parse("eve becomes a {role}"))
def becomes(scene: Scene, role: str) -> None:
    scene.done("adam", "PUT", f"{USERS}/eve", {"role": role})


@when("that key is revoked")
def is_revoked(scene: Scene) -> None:
    [key] = scene.done("bob", "GET", KEYS)["keys"]
    scene.done("adam", "DELETE", f"{KEYS}/{key['id']}")


@when("the other key is revoked")
def other_is_revoked(scene: Scene) -> None:
    scene.done("adam", "DELETE", f"{KEYS}/{scene.parent}")


@when("a day passes")
def day_passes(scene: Scene) -> None:
    scene.world.clock.advance(timedelta(days=1, seconds=1))


@when("the session is signed out")
def is_signed_out(scene: Scene) -> None:
    scene.world.run(scene.world.container.use_cases().sessions.sign_out(scene.session))


@when("ann takes the permission of bob back")
def takes_back(scene: Scene) -> None:
    scene.share(userId="bob", level=0)


@when("ann takes the team's permission back")
def takes_back_of_team(scene: Scene) -> None:
    scene.share(teamId=scene.team, level=0)


@when("dan is taken out of the team")
def is_taken_out(scene: Scene) -> None:
    scene.done("adam", "PUT", f"{TEAMS}/{scene.team}", {"members": []})


@when("adam deletes the team")
def deletes_team(scene: Scene) -> None:
    scene.done("adam", "DELETE", f"{TEAMS}/{scene.team}")


@when("half a minute passes")
def half_a_minute(scene: Scene) -> None:
    assert event_feed.QUIET_SECONDS + streams.CHECK_SECONDS < HALF_A_MINUTE
    scene.ahead += streams.CHECK_SECONDS


@when('kim writes "after"')
def writes_after(scene: Scene) -> None:
    scene.write("after")


@when(parsers.parse('kim writes "after" to ann\'s bot, then "mine" to the bot of {who}'))
def writes_both(scene: Scene, who: str) -> None:
    scene.write("after")
    scene.write("mine", who)


@then(parsers.parse("the stream of {who} ends"))
def ends(scene: Scene, who: str) -> None:
    until(lambda: scene.streams[who].ended, "the stream ends")


@then(parsers.parse('{who} is not told of "after"'))
def is_not_told(scene: Scene, who: str) -> None:
    assert scene.texts(who) == ["before"]


@then(parsers.parse('{who} is told of "before" and "mine" alone'))
def is_told_of_own(scene: Scene, who: str) -> None:
    until(lambda: "mine" in scene.texts(who), "the last message is told")
    assert scene.texts(who) == ["before", "mine"]


@then('bob is told of "before", "after" and "mine"')
def is_told_all(scene: Scene) -> None:
    until(lambda: "mine" in scene.texts("bob"), "the last message is told")
    assert scene.texts("bob") == ["before", "after", "mine"]
