"""The steps of ways.feature."""

from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from domain.channels.messages import Identity
from domain.routing.model import Confirmation, RunRequest, RunResult
from tests.drivers.groups import GROUPS, Group
from tests.drivers.platform import PlatformDriver
from tests.drivers.resource import Resource
from tests.drivers.ways import INSTANCES, Rest
from tests.drivers.world import World
from tests.support.waiting import until

scenarios("ways.feature")

APPROVALS = "/api/agent/approvals"
UNFINISHED = "SELECT count(*) FROM approval_request WHERE decision IS NOT NULL AND finished_at IS NULL"
WAITS = "The tool refund waits for an approval on http-webhook"
CANNOT = "You cannot decide this"


@pytest.fixture(scope="module")
def platform_driver(request: pytest.FixtureRequest) -> Iterator[PlatformDriver]:
    """One address for all platforms, one after the other."""
    driver = PlatformDriver()
    addresses = {name: driver.url + group.api for group, _ in GROUPS.values() for name in group.settings}
    request.module.SETTINGS = addresses
    yield driver
    driver.close()


def _answer(request: RunRequest) -> RunResult:
    if request.approval is not None:
        return RunResult(f"{request.approval.tool}: {request.approval.decision}")
    if request.text == "money back":
        return RunResult("", confirmation=Confirmation("refund", {"order": 4711}))
    if "valve" in request.text:
        return RunResult("", confirmation=Confirmation("open_valve", {}))
    return RunResult(f"heard {request.text}")


class Scene:
    """A shop whose customers write to a webhook, and a bot on a platform, where bob is notified."""

    def __init__(self, world: World, rest: Rest, driver: PlatformDriver) -> None:
        self.world = world
        self.rest = rest
        self.driver = driver
        self.resource = Resource(world, _answer)
        self.shop = self.bot = self.looked_at = 0

    def do(self, method: str, path: str, user: str, body: Any = None) -> Any:
        response = self.rest.request(method, path, user, **({} if body is None else {"json": body}))
        assert response.is_success, response.text
        return response.json() if response.content else None

    def create(self, channel_id: str, config: dict[str, Any], **more: Any) -> int:
        body = {"channelId": channel_id, "channelName": channel_id, "config": config, **more}
        created = self.rest.create("ann", {**body, "downStreamResourceId": "agent::works"})
        assert created.outcome == "created", created.body
        return int(created.body["instanceId"])

    def post(self, call: Any) -> None:
        reply = self.rest.call(self.group.channel_id, self.bot, call.body, call.headers, call.callback)
        assert reply.outcome == "done", reply
        self.world.settle()

    def write(self, who: str, text: str) -> None:
        self.post(self.group.write(who, text, self.world.clock.now()))

    def open(self, platform: str, *, direct: bool) -> None:
        group, standin = GROUPS[platform]
        self.driver.show(standin())
        self.group: Group = group(self.driver.platform)
        self.group.direct = direct
        identifies = {} if platform == "SMS" else {"identifyUsers": True}
        self.bot = self.create(self.group.channel_id, {**self.group.configured(), **identifies})
        self.write("bob", "hello")
        [conversation] = self.do("GET", f"{INSTANCES}/{self.bot}/conversations", "ann")["conversations"]
        self.do("PUT", f"{INSTANCES}/{self.bot}/permissions", "ann", {"userId": "bob", "level": 2})
        via = {"instanceId": self.bot, "to": conversation["sessionId"]}
        settings = {"kinds": {"approval": ["message"]}, "notifyVia": via}
        self.do("PUT", "/api/agent/me/notifications", "bob", settings)

    def notify(self) -> None:
        self.world.run(self.world.container.notification_writer().work())
        self.world.run(self.world.container.notification_delivery().work())
        until(lambda: self.read(WAITS), "bob is notified")
        self.world.settle()

    def approval(self) -> dict[str, Any]:
        [approval] = self.do("GET", APPROVALS, "admin")["approvals"]
        return dict(approval)

    def read(self, words: str) -> bool:
        """Whether the platform got these words, whatever markup they have."""
        seen = self.driver.platform.seen[self.looked_at :]
        bodies = [each.body.decode(errors="replace") for each in seen]
        return any(words in plain(body) for body in bodies)


def plain(text: str) -> str:
    for markup in ("`", "<code>", "</code>", "\\\\", "%60"):
        text = text.replace(markup, "")
    return text.replace("+", " ")


@pytest.fixture
def scene(world: World, rest: Rest, platform_driver: PlatformDriver) -> Iterator[Scene]:
    world.clock.stop()
    yield Scene(world, rest, platform_driver)
    assert platform_driver.platform.faults == []


@given(
    'a shop of ann\'s whose resource wants to use the tool "refund", about which the team Billing of bob and cleo'
    " decides"
)
def shop(scene: Scene) -> None:
    for user in ("ann", "bob", "cleo", "admin"):
        scene.do("GET", "/api/agent/me", user)
    body = {"name": "Billing", "members": [{"userId": "bob"}, {"userId": "cleo"}]}
    team = scene.do("POST", "/api/agent/teams", "admin", body)["id"]
    scene.shop = scene.create("http-webhook", {}, approvalPolicy=[{"tool": "refund", "by": f"team:{team}"}])


@given(parsers.parse("bob is notified in his own conversation with ann's bot on {platform}"))
def direct(scene: Scene, platform: str) -> None:
    scene.open(platform, direct=True)


@given(parsers.parse("bob is notified in a channel on {platform} where others write too"))
def channel(scene: Scene, platform: str) -> None:
    scene.open(platform, direct=False)


@when("a customer asks for money back")
def asks(scene: Scene) -> None:
    body = orjson.dumps({"message": "money back", "sessionId": "customer"})
    reply = scene.rest.call("http-webhook", scene.shop, body, {}, "webhook")
    assert reply.outcome == "done", reply
    scene.world.settle()
    scene.notify()


@when(parsers.parse('"{who}" presses "{label}"'))
def presses(scene: Scene, who: str, label: str) -> None:
    [question] = scene.group.questions()
    scene.post(scene.group.press(who, 0, question[label], scene.world.clock.now()))


@when(parsers.parse('"bob" writes "{text}"'))
def writes(scene: Scene, text: str) -> None:
    scene.write("bob", text)


@when('"bob" asks the bot for something that needs his own confirmation')
def asks_himself(scene: Scene) -> None:
    scene.write("bob", "open the valve")


@when("cleo rejects it in the console")
def rejects(scene: Scene) -> None:
    path = f"{APPROVALS}/{scene.approval()['id']}/decision"
    scene.do("POST", path, "cleo", {"decision": "rejected"})


@when('bob verifies that he is "bob" there')
def verifies(scene: Scene) -> None:
    """An admin trusts the bot of ann's, as its calls are proved by her secret alone."""
    query = "SELECT event FROM inbox WHERE instance_id = %s ORDER BY id DESC LIMIT 1"
    event = scene.world.run(scene.world.container.database().fetch_value(query, [scene.bot]))
    identities = [Identity(*stored) for stored in orjson.loads(event)["identities"]]
    assert identities
    scene.world.run(scene.world.container.storage().identities.give("bob", identities))
    assert scene.rest.trust("admin", scene.bot, trusted=True).outcome == "done"


@then('"bob" reads that the tool "refund" waits, with the parameters')
def reads_question(scene: Scene) -> None:
    assert scene.read(WAITS)
    assert scene.read("4711")


@then(parsers.re(r'"bob" reads that the tool "refund" was (?P<decision>\w+) by (?P<who>\w+)'))
def reads_outcome(scene: Scene, decision: str, who: str) -> None:
    words = f"The tool refund was {decision} by {who}."
    until(lambda: scene.read(words), f"bob reads {words}: {scene.driver.platform.seen[-2:]}")


@then("somebody reads that they cannot decide this")
def reads_refusal(scene: Scene) -> None:
    until(lambda: scene.read(CANNOT), f"the refusal is read: {scene.driver.platform.seen[-2:]}")
    scene.looked_at = len(scene.driver.platform.seen)


@then(parsers.re(r"bob has (?P<decision>\w+) it"))
def has_decided(scene: Scene, decision: str) -> None:
    approval = scene.approval()
    assert (approval["state"], approval["decidedBy"]) == (decision, "bob")


@then("nobody has decided")
def undecided(scene: Scene) -> None:
    assert scene.approval()["state"] == "waiting"


@then(parsers.re(r"the resource is told once that it was (?P<decision>\w+)"))
def told_once(scene: Scene, decision: str) -> None:
    count = scene.world.container.database().fetch_value
    until(lambda: scene.world.run(count(UNFINISHED)) == 0, "the resource is told")
    [approval] = [request.approval for request in scene.resource.requests if request.approval]
    assert (approval.tool, approval.decision) == ("refund", decision)


@then("the resource is told that bob's own tool was approved")
def told_own(scene: Scene) -> None:
    [approval] = [request.approval for request in scene.resource.requests if request.approval]
    assert (approval.tool, approval.decision) == ("open_valve", "approved")


@then(parsers.parse('the resource gets "{text}" as a message'))
def gets(scene: Scene, text: str) -> None:
    assert scene.resource.requests[-1].text == text
    assert scene.resource.requests[-1].approval is None
