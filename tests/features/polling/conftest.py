"""Steps that the features of what runs by the clock share.

A module says in `PLATFORM` which platform is polled, if any, and in `SETTING` where its address goes.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from pytest_bdd import parsers, then, when

from adapters.inbound.jobs import uploads as arq_worker
from tests.drivers.platform import PlatformDriver
from tests.drivers.ways import Reply, Rest
from tests.drivers.world import World
from tests.support.platforms.standin import Reply as Answer
from tests.support.platforms.standin import Seen, StandIn
from tests.support.waiting import until

DUE = (
    "UPDATE schedule SET next_run_at = now() - %s::interval WHERE instance_id = %s AND owner IS NULL"
    " RETURNING next_run_at"
)
PLAN = "SELECT next_run_at, cursor, owner FROM schedule WHERE instance_id = %s"


class Resource(StandIn):
    """What stands behind the instance: keeps what it is asked, and answers it."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[dict[str, Any]] = []
        self.refuses = False

    def answer(self, seen: Seen) -> Answer:
        self.asked.append(seen.json)
        if self.refuses:
            return Answer(400, {"error": "no"})
        return Answer(json={"text": f"Noted: {seen.json['text'].partition(':')[0]}", "artifacts": []})


@dataclass
class Watch:
    """The instance under test, its platform, the resource behind it, and how calls ended."""

    rest: Rest
    world: World
    platform: PlatformDriver
    resource: PlatformDriver
    channel_id: str
    id: int = 0
    replies: list[Reply] = field(default_factory=list)

    def create(self, config: Mapping[str, Any]) -> Reply:
        body = {
            "channelId": self.channel_id,
            "channelName": "Watch",
            "config": {name: self._filled(value) for name, value in config.items()},
            "downStreamResourceId": "workflow::7",
        }
        reply = self.rest.create("ann", body)
        if reply.outcome == "created":
            self.id = reply.body["instanceId"]
        self.replies.append(reply)
        return reply

    def _filled(self, value: Any) -> Any:
        return value.replace("{platform}", self.platform.url) if isinstance(value, str) else value

    @property
    def asked(self) -> list[str]:
        resource = self.resource.platform
        assert isinstance(resource, Resource)
        return [each["text"] for each in resource.asked]

    def _row(self, query: str, *parameters: object) -> tuple[Any, ...] | None:
        row: tuple[Any, ...] | None = self.world.run(
            self.world.container.database().fetch_one(query, (*parameters, self.id))
        )
        return row

    def has_answered(self) -> bool:
        """Whether an answer is on record as sent."""
        return self._row("SELECT 1 FROM outbox WHERE status = 1 AND instance_id = %s") is not None

    def is_failed(self) -> bool:
        """Whether an event is on record as failed."""
        return self._row("SELECT 1 FROM inbox WHERE status = 2 AND instance_id = %s") is not None

    def begin(self) -> None:
        """Waits until watching has begun: the first poll has noted what is there."""

        def has_cursor() -> bool:
            row = self._row(PLAN)
            return row is not None and row[1] is not None

        self._look()
        until(has_cursor, "the first poll")

    def run_now(self, late: str = "1 second") -> None:
        """Makes the next run due, as of so long ago, and waits until it is over."""
        due: list[Any] = []

        def is_due() -> bool:
            row = self._row(DUE, late)
            due.extend(row or ())
            return row is not None

        def is_over() -> bool:
            row = self._row(PLAN)
            return row is None or (row[0] != due[0] and row[2] is None)

        until(is_due, "the instance has a plan")
        self._look()
        until(is_over, "the run")

    def _look(self) -> None:
        """At once, for what the service does every second."""
        container = self.world.container
        self.world.run(container.channels().polling.enqueue_due(container.jobs()))

    @property
    def next_run(self) -> Any:
        row = self._row(PLAN)
        return row[0] if row else None


@pytest.fixture(scope="module")
def drivers(request: pytest.FixtureRequest) -> Iterator[tuple[PlatformDriver, PlatformDriver]]:
    platform, resource = PlatformDriver(), PlatformDriver()
    setting: str = getattr(request.module, "SETTING", "")
    addresses = dict.fromkeys(setting.split(), platform.url)
    request.module.SETTINGS = {**addresses, "DOWNSTREAM_URL": resource.url}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arq_worker, "POLL_SECONDS", 0.02)
        yield platform, resource
    platform.close()
    resource.close()


@pytest.fixture
def watch(
    request: pytest.FixtureRequest, drivers: tuple[PlatformDriver, PlatformDriver], rest: Rest, world: World
) -> Iterator[Watch]:
    platform, resource = drivers
    platform.show(getattr(request.module, "PLATFORM", StandIn)())
    resource.show(Resource())
    yield Watch(rest, world, platform, resource, request.module.CHANNEL_ID)
    assert platform.platform.faults == []


@when("the next look comes")
def next_look(watch: Watch) -> None:
    watch.run_now()


@then(parsers.re(r"the resource is asked '(?P<text>.+)'"))
def resource_asked(watch: Watch, text: str) -> None:
    assert watch.resource.wait_until(lambda: text in watch.asked), watch.asked


@then("the resource is asked nothing")
def resource_not_asked(world: World, watch: Watch) -> None:
    assert world.run(world.container.database().fetch("SELECT 1 FROM inbox")) == []
    assert watch.asked == []


@then(parsers.re(r"the resource is asked (?P<count>once|twice)"))
def resource_asked_so_often(world: World, watch: Watch, count: str) -> None:
    number = {"once": 1, "twice": 2}[count]
    assert watch.resource.wait_until(lambda: len(watch.asked) >= number), watch.asked
    assert len(world.run(world.container.database().fetch("SELECT 1 FROM inbox"))) == number


@then(parsers.parse('the call is "{outcome}"'))
def call_is(watch: Watch, outcome: str) -> None:
    assert watch.replies[-1].outcome == outcome, watch.replies[-1].body
