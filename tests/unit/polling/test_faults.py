"""A run that fails by a fault of ours is tried ever later, shows in health, and concerns no other instance."""

from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from adapters.outbound.channels.tests.calls import a_channel
from domain.instances.model import Instance
from domain.knowledge.sources.reading import FolderSync
from domain.polling.model import BACK_OFF
from domain.polling.service import PollingService, ScheduleService
from domain.refusals import StorageAway
from ports.capabilities import Polled
from ports.instances import Due

NOW = datetime(2026, 3, 1, tzinfo=UTC)


class Channel:
    """Polls; finds nothing."""

    default_interval_minutes = 1.0

    async def poll(self, *_: object) -> Polled:
        return Polled((), {})


class World:
    """The stores around the service. `failure` is raised by `fails_at`: "find" or "finish"."""

    def __init__(self, fails_at: str = "", failure: Exception | None = None) -> None:
        self.fails_at, self.failure = fails_at, failure
        self.failures = 0
        self.fresh: list[bool | None] = []
        self.planned_again: list[tuple[int, datetime | None]] = []
        self.planned: list[int] = []
        self.released = 0
        self.failed_with: list[str] = []
        self.succeeded_count = 0
        anything: Any = self
        self.channel = a_channel(poller=Channel())
        health: Any = SimpleNamespace(failed=self._bad, succeeded=self._good)
        clock: Any = SimpleNamespace(now=lambda: NOW)
        channels: Any = SimpleNamespace(find=lambda _: self.channel, all=lambda: [self.channel])
        meter: Any = SimpleNamespace(accepted=lambda *_: None)
        reads: Any = SimpleNamespace(slot=lambda *_: nullcontext())
        self.service = PollingService(
            anything, anything, channels, health, clock, meter, reads, FolderSync(anything)
        )
        self.schedules = ScheduleService(anything, anything, channels, clock)

    async def begin(self, instance_id: int) -> Due:
        return Due(instance_id, NOW, None, self.failures, NOW)

    async def find(self, instance_id: int) -> Instance:
        if self.fails_at == "find" and instance_id == 7 and self.failure:
            raise self.failure
        return Instance(instance_id, "ann", "email", "n", {}, None, NOW, NOW)

    async def finish(self, *_: object, **__: object) -> list[bool | None]:
        if self.fails_at == "finish" and self.failure:
            raise self.failure
        return self.fresh

    async def failed(self, due: Due, at: datetime | None) -> None:
        self.planned_again.append((due.instance_id, at))

    async def release(self, due: Due) -> None:
        self.released += 1

    async def missing(self, ids: object) -> list[int]:
        return [7, 8]

    async def plan(self, instance_id: int, at: datetime | None) -> None:
        self.planned.append(instance_id)

    async def _bad(self, *arguments: object) -> None:
        self.failed_with.append(str(arguments[-1]))

    async def _good(self, *_: object) -> None:
        self.succeeded_count += 1


@pytest.mark.parametrize("fails_at", ["find", "finish"])
@pytest.mark.parametrize("failures", [0, 1, 5, 50])
async def test_a_run_that_fails_is_not_repeated_every_second(fails_at: str, failures: int) -> None:
    world = World(fails_at, ZeroDivisionError("a secret"))
    world.failures = failures
    await world.service.run(7)
    wait = timedelta(seconds=BACK_OFF[min(failures, len(BACK_OFF) - 1)])
    assert world.planned_again == [(7, NOW + wait)]
    assert world.failed_with == ["polling: an internal error; the log has the details"]
    assert world.released == 1


async def test_an_outage_is_no_failure_of_the_instance() -> None:
    world = World("finish", StorageAway("away"))
    with pytest.raises(StorageAway):
        await world.service.run(7)
    assert (world.planned_again, world.failed_with, world.released) == ([], [], 1)


async def test_messages_that_cannot_be_stored_show_in_health() -> None:
    world = World()
    world.fresh = [True, None, False]
    await world.service.run(7)
    assert world.failed_with == ["polling: 1 of 3 new messages could not be stored and are skipped"]
    assert world.succeeded_count == 0


async def test_an_instance_that_cannot_be_planned_keeps_no_other_waiting() -> None:
    world = World("find", ZeroDivisionError("no"))
    await world.schedules.plan_missing()
    assert world.planned == [8]
