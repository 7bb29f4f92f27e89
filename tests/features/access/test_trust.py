"""The steps of trust.feature."""

from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from domain.channels.messages import Identity, RawCall
from domain.instances.health import TRUSTED, UNTRUSTED
from domain.routing.model import Confirmation, RunRequest, RunResult
from tests.drivers.groups import GROUPS, Group
from tests.drivers.platform import PlatformDriver
from tests.drivers.resource import Resource
from tests.drivers.ways import Reply, RestOverGrpc
from tests.drivers.world import World

scenarios("trust.feature")


@pytest.fixture(scope="module")
def platform_driver(request: pytest.FixtureRequest) -> Iterator[PlatformDriver]:
    """One address for all platforms, one after the other."""
    driver = PlatformDriver()
    addresses = {name: driver.url + group.api for group, _ in GROUPS.values() for name in group.settings}
    request.module.SETTINGS = addresses
    yield driver
    driver.close()


class Scene:
    """A channel, the resource behind it, and how its messages are listed."""

    def __init__(self, world: World, driver: PlatformDriver) -> None:
        self.world, self.driver = world, driver
        self.rest = RestOverGrpc(world)
        self.resource = Resource(world, _answer)
        self.owner, self.instance = "", 0
        self.reply: Reply | None = None

    def open(self, platform: str, owner: str, **settings: Any) -> None:
        group, standin = GROUPS[platform]
        self.driver.show(standin())
        self.group: Group = group(self.driver.platform)
        self.owner = owner
        self.config = {**self.group.configured(), "identifyUsers": True, **settings}
        body = {"channelId": self.group.channel_id, "channelName": "Works", "config": self.config}
        made = self.rest.create(owner, {**body, "downStreamResourceId": "agent::works"})
        assert made.outcome == "created", made.body
        self.instance = made.body["instanceId"]

    def call(self, who: str, text: str) -> RawCall:
        return self.group.write(who, text, self.world.clock.now())

    def post(self, call: RawCall) -> None:
        reply = self.rest.call(self.group.channel_id, self.instance, call.body, call.headers, call.callback)
        assert reply.outcome == "done", reply
        self.world.settle()

    def verify(self, user: str, who: str) -> None:
        """What an instance that recognises nobody stores of a message is what the user verifies."""
        self.post(self.call(who, "hello"))
        (row,) = self.world.run(self.world.container.database().fetch("SELECT event FROM inbox"))
        identities = [Identity(*stored) for stored in orjson.loads(row[0])["identities"]]
        assert identities
        self.world.run(self.world.container.storage().identities.give(user, identities))
        self.resource.requests.clear()

    def trust(self, user: str, trusted: str) -> Reply:
        return self.rest.trust(user, self.instance, trusted=trusted == "trusts")


def _answer(request: RunRequest) -> RunResult:
    if "valve" in request.text and request.approval is None:
        return RunResult("", confirmation=Confirmation("open_valve", {}))
    return RunResult(f"heard {request.text}")


@pytest.fixture
def scene(world: World, platform_driver: PlatformDriver) -> Iterator[Scene]:
    world.clock.stop()
    made = Scene(world, platform_driver)
    yield made
    made.rest.close()
    assert platform_driver.platform.faults == []


@given(
    parsers.re(
        r'a channel of (?P<owner>\w+)\'s on (?P<platform>\w+), and bob has verified who "bob" is there'
    )
)
def a_channel(scene: Scene, owner: str, platform: str) -> None:
    scene.open(platform, owner)
    scene.verify("bob", "bob")


@given(
    'a channel of ann\'s on Mattermost that serves verified users only, and bob has verified who "bob" is there'
)
def serves_verified_users(scene: Scene) -> None:
    scene.open("Mattermost", "ann", accessMode="allowlist")
    scene.verify("bob", "bob")


@given('a trusted channel of ann\'s on Mattermost, and bob has verified who "bob" is there')
def a_trusted_channel(scene: Scene) -> None:
    a_channel(scene, "ann", "Mattermost")
    scene.trust("admin", "trusts")


@given('"bob" was asked there whether a tool may run')
def was_asked(scene: Scene) -> None:
    scene.post(scene.call("bob", "open the valve"))
    assert scene.resource.requests[0].sender.user_id == "bob"


@when('"bob" writes there')
def writes(scene: Scene) -> None:
    scene.post(scene.call("bob", "hello again"))


@when('"yes" is written in the name of "bob"')
def writes_yes(scene: Scene) -> None:
    scene.post(scene.call("bob", "yes"))


@when("bob removes the secret with which calls are signed")
def removes_secret(scene: Scene) -> None:
    config = {name: value for name, value in scene.config.items() if name != "appSecret"}
    assert config != scene.config
    assert scene.rest.update("bob", scene.instance, {"config": config}).outcome == "done"


@when(parsers.re(r"(?P<user>ann|an admin) (?P<trusted>trusts) the channel"))
def trusts(scene: Scene, user: str, trusted: str) -> None:
    scene.reply = scene.trust(user.removeprefix("an "), trusted)


@when("an admin trusts the channel, and then no longer")
def trusts_no_longer(scene: Scene) -> None:
    assert scene.trust("admin", "trusts").body["trusted"] is True
    assert scene.trust("admin", "no longer").body["trusted"] is False


@when("the channel is trusted no longer")
def trusted_no_longer(scene: Scene) -> None:
    scene.trust("admin", "no longer")


@when("ann saves the channel with another name and other settings")
def saves_again(scene: Scene) -> None:
    change = {"channelName": "Works, again", "config": {**scene.config, "mergeSeconds": 0, "ackReaction": ""}}
    assert scene.rest.update("ann", scene.instance, change).outcome == "done"


@when(parsers.re(r"(?P<user>ann|an admin) changes the (?P<field>\w+) of the channel"))
def changes(scene: Scene, user: str, field: str) -> None:
    stored = scene.config[field]
    other = stored.replace("127.0.0.1", "localhost") if field == "SERVER_URL" else stored[::-1]
    change = {"config": {**scene.config, field: other}}
    scene.reply = scene.rest.update(user.removeprefix("an "), scene.instance, change)
    assert scene.reply.outcome == "done"


@when(parsers.re(r"(?P<user>ann|an admin) changes the channel back"))
def changes_back(scene: Scene, user: str) -> None:
    change = {"config": scene.config}
    assert scene.rest.update(user.removeprefix("an "), scene.instance, change).outcome == "done"


@then(parsers.parse("the resource is told that {who} writes, proved by {proof}"))
def told(scene: Scene, who: str, proof: str) -> None:
    (request,) = scene.resource.wait_for(1)
    assert request.sender.user_id == (None if who == "nobody" else who)
    assert request.sender.verified_by == (None if proof == "nobody" else proof.removeprefix("the "))


@then(parsers.parse("the conversation is shown as one of {who}"))
def shown(scene: Scene, who: str) -> None:
    listed = scene.rest.request("GET", "/api/agent/conversations", "ann").json()["conversations"]
    assert [view["sender"]["userId"] for view in listed] == [None if who == "nobody" else who]


@then("the channel and its health say that it is trusted")
def says_trusted(scene: Scene) -> None:
    assert scene.rest.instance("ann", scene.instance).body["trusted"] is True
    assert TRUSTED in scene.rest.health("ann", scene.instance).body["notes"]


@then("the health of the channel says whom it recognises")
def says_untrusted(scene: Scene) -> None:
    assert scene.rest.instance("ann", scene.instance).body["trusted"] is False
    assert UNTRUSTED in scene.rest.health("ann", scene.instance).body["notes"]


@then(parsers.re(r"(ann|an admin) is told that the senders are no longer trusted"))
def told_of_trust(scene: Scene) -> None:
    assert scene.reply is not None
    assert "The senders are no longer trusted" in scene.reply.body["message"]


@then("that is forbidden, as only admins may")
def forbidden(scene: Scene) -> None:
    assert scene.reply is not None
    assert (scene.reply.outcome, "admin" in scene.reply.error) == ("forbidden", True)
    assert scene.rest.instance("ann", scene.instance).body["trusted"] is False


@then("the resource is not asked")
def not_asked(scene: Scene) -> None:
    assert scene.resource.requests == []


@then("the tool is not used")
def not_used(scene: Scene) -> None:
    assert [request.approval for request in scene.resource.requests if request.approval] == []
