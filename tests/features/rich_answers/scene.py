"""A conversation on a platform, its bot, and the resource behind it, which answers with rich content."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from adapters.outbound.resources.messages import result_of
from domain.routing.conversation import ProcessingFailed
from domain.routing.model import Confirmation, RunRequest, RunResult
from tests.drivers.groups import GROUPS, Group
from tests.drivers.platform import PlatformDriver
from tests.drivers.resource import Resource
from tests.drivers.ways import Rest
from tests.drivers.world import World
from tests.support.platforms.standin import Seen

SETTINGS = [(name, group.api) for group, _ in GROUPS.values() for name in group.settings]


class Scene:
    """`answer` is the JSON that the resource answers "order" with. `asks`: it asks for a tool instead. `reply` is
    what a program was answered at the HTTP webhook, `reference` that of its form."""

    def __init__(self, world: World, driver: PlatformDriver) -> None:
        self.world = world
        self.driver = driver
        self.answer: dict[str, Any] = {}
        self.fails = False
        self.asks = False
        self.resource = Resource(world, self.script)
        self.instance_id = 0
        self.reply: dict[str, Any] = {}
        self.reference = ""
        self.heard = 0
        self.seen = 0
        self.replies: list[Any] = []

    def script(self, request: RunRequest) -> RunResult:
        if self.fails:
            raise ProcessingFailed("Sorry.", "the resource is down")
        if self.asks:
            return RunResult("", confirmation=Confirmation("pay", {"amount": 3}))
        if request.text == "order":
            return result_of(self.answer)
        return RunResult(f"heard {request.text[:40]}")

    def open(self, platform: str, *, direct: bool = False) -> None:
        group, standin = GROUPS[platform]
        self.driver.show(standin())
        self.group: Group = group(self.driver.platform)
        self.group.direct = direct
        body = {
            "channelId": self.group.channel_id,
            "channelName": "Works",
            "config": self.group.configured(),
            "downStreamResourceId": "agent::works",
        }
        made = Rest(self.world).create("ann", body)
        assert made.outcome == "created", made.body
        self.instance_id = int(made.body["instanceId"])

    def call(self, **body: Any) -> None:
        """Calls the HTTP webhook as a program does."""
        if not self.instance_id:
            made = {
                "channelId": "http-webhook",
                "channelName": "Hook",
                "config": {"syncResponse": True},
                "downStreamResourceId": "agent::works",
            }
            self.instance_id = int(Rest(self.world).create("ann", made).body["instanceId"])
        self.heard = len(self.resource.requests)
        content = json.dumps({"sessionId": "s", **body}).encode()
        self.reply = Rest(self.world).call("http-webhook", self.instance_id, content, {}, "webhook").body

    def restart(self) -> None:
        requests = self.resource.requests
        self.world.restart()
        self.resource = Resource(self.world, self.script)
        self.resource.requests = requests

    def post(self, *calls: Any) -> None:
        rest = Rest(self.world)
        self.heard = len(self.resource.requests)
        self.seen = len(self.driver.platform.seen)
        self.replies = []
        for call in calls:
            reply = rest.call(self.group.channel_id, self.instance_id, call.body, call.headers, call.callback)
            assert reply.outcome in ("done", "accepted"), reply
            self.replies.append(reply.body)
        self.world.settle()

    def write(self, who: str, text: str) -> None:
        self.post(self.group.write(who, text, self.world.clock.now()))

    def press(self, who: str, value: str, number: int = -1, at_once: int = 1) -> None:
        position = number % len(self.group.questions())
        self.post(*(self.group.press(who, position, value, self.world.clock.now()) for _ in range(at_once)))

    def fill_in(self, who: str, values: dict[str, Any], at_once: int = 1) -> None:
        self.post(*(self.group.fill_in(who, values, self.world.clock.now()) for _ in range(at_once)))

    def buttons(self, number: int = -1) -> dict[str, str]:
        return self.group.questions()[number]

    def texts(self) -> list[str]:
        """All that the platform was sent and answered since the last step, as texts."""
        shown = [*_texts(self.driver.platform.seen[self.seen :]), *_strings(self.replies)]
        return [text.replace("\\", "") for text in shown]

    def sender_id(self, who: str) -> str:
        users: dict[str, Any] = getattr(self.group, "users", {})
        return str(users.get(who, self.resource.requests[0].sender.external_id))


def _texts(calls: Sequence[Seen]) -> Iterator[str]:
    """The texts of calls, whatever they look like."""
    for seen in calls:
        try:
            yield from _strings(json.loads(seen.body))
        except ValueError:
            yield from seen.form.values()


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for member in value.values():
            yield from _strings(member)
    elif isinstance(value, list):
        for member in value:
            yield from _strings(member)
