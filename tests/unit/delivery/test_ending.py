"""How the work on a part ends that fails by a fault of ours: a bounded number of tries, then a dead letter."""

from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from adapters.outbound.channels.tests.calls import a_channel
from domain.channels.answers import OutboundMessage
from domain.channels.messages import Outcome, Sent
from domain.delivery.service import MAX_FAULTS, DeliveryService
from domain.instances.model import Instance
from domain.refusals import Invalid, StorageAway, Unavailable
from domain.routing.indicators import LingeringTyping
from ports.outbox import QueuedMessage, QueuedMessages
from ports.queue import QueueKey

NOW = datetime(2026, 3, 1, tzinfo=UTC)
KEY = QueueKey(7, "s")
INSTANCE = Instance(7, "ann", "x", "n", {}, None, NOW, NOW)
PART = QueuedMessage(1, OutboundMessage({"text": "hi"}), {}, "key", 0)


class Channel:
    def __init__(self) -> None:
        self.sent: list[OutboundMessage] = []

    def render(self, *_: object) -> list[OutboundMessage]:
        return []

    async def send(self, config: object, target: object, part: OutboundMessage, key: str) -> Sent:
        self.sent.append(part)
        return Sent(Outcome.SENT, ref="r" * 6000)


def _nothing(*_: object) -> None:
    return


class World:
    """Everything around the service; each of `refused` is raised once where a part is noted as sent."""

    def __init__(self, *refused: Exception, refusal: Exception | None = None) -> None:
        self.refused = list(refused)
        self._refusal = refusal
        self.instance: Instance | Exception = INSTANCE
        self.channel = Channel()
        self.notes: list[tuple[Any, ...]] = []
        self.failed: list[str] = []
        anything: Any = self
        health: Any = SimpleNamespace(failed=self._failed, succeeded=self._succeeded)
        limiter: Any = SimpleNamespace(acquire=self._acquire, release=_nothing, record=self._record)
        clock: Any = SimpleNamespace(now=lambda: NOW)
        meter: Any = SimpleNamespace(delivered=_nothing)
        ids: Any = SimpleNamespace(chance=lambda: 0.0)
        self.service = DeliveryService(
            anything, anything, anything, health, limiter, ids, anything, clock, meter, LingeringTyping()
        )

    async def cached(self, instance_id: int) -> Instance:
        if isinstance(self.instance, Exception):
            raise self.instance
        return self.instance

    def find(self, channel_id: str) -> Any:
        return a_channel(sender=self.channel)

    async def _acquire(self, request: object) -> float:
        if self._refusal:
            raise self._refusal
        return 0.0

    async def _record(self, request: object, sent: Sent) -> None:
        return None

    async def sent(self, key: QueueKey, part: QueuedMessage, ref: str, *, last: bool) -> None:
        if self.refused:
            raise self.refused.pop(0)
        self.notes.append(("sent", part.id, len(ref), last))

    async def dead(self, key: QueueKey, part: QueuedMessage, error: str, *, last: bool) -> None:
        self.notes.append(("dead", part.id, error, last))

    async def retry(self, key: QueueKey, part: QueuedMessage, error: str, delay: float) -> None:
        self.notes.append(("retry", part.id, error, delay))

    async def release(self, key: QueueKey, delay: float = 0.0) -> None:
        self.notes.append(("released", delay))

    async def _failed(self, *arguments: object) -> None:
        self.failed.append(str(arguments[-1]))

    async def _succeeded(self, *_: object) -> None:
        return None

    async def work(self, *parts: QueuedMessage) -> None:
        await self.service.work(QueuedMessages(KEY, parts))


async def test_a_part_whose_id_cannot_be_stored_is_not_sent_again() -> None:
    world = World(Invalid("too long"))
    await world.work(PART, replace(PART, id=2))
    assert world.notes == [("sent", 1, 0, False), ("sent", 2, 6000, True)]
    assert len(world.channel.sent) == 2


@pytest.mark.parametrize("refused", [[Invalid("no"), ZeroDivisionError("no")], [Unavailable("busy")]])
async def test_a_part_that_cannot_be_put_on_record_as_sent_is_not_sent_again(
    refused: list[Exception],
) -> None:
    world = World(*refused)
    await world.work(PART)
    assert [each[0] for each in world.notes] == ["retry"]
    await world.work(replace(PART, attempts=1))
    assert world.notes[1:] == [("sent", 1, 6000, True)]
    assert len(world.channel.sent) == 1


async def test_a_part_whose_sending_an_outage_kept_off_the_record_is_not_sent_again() -> None:
    world = World(StorageAway("away"))
    with pytest.raises(StorageAway):
        await world.work(PART)
    await world.work(PART)
    assert world.notes == [("sent", 1, 6000, True)]
    assert len(world.channel.sent) == 1


async def test_an_outage_leaves_the_part_for_later_and_counts_nothing() -> None:
    world = World(refusal=StorageAway("away"))
    with pytest.raises(StorageAway):
        await world.work(PART)
    assert (world.notes, world.failed) == ([], [])


async def test_a_fault_of_ours_is_tried_again_later() -> None:
    world = World(refusal=ZeroDivisionError("no"))
    await world.work(PART, replace(PART, id=2))
    assert world.notes == [("retry", 1, "an internal error; the log has the details", 1.0)]
    assert world.failed == ["sending a reply: an internal error; the log has the details"]


async def test_after_a_few_tries_it_is_a_dead_letter_and_the_next_part_has_its_turn() -> None:
    world = World(refusal=ZeroDivisionError("no"))
    await world.work(replace(PART, attempts=MAX_FAULTS - 1), replace(PART, id=2))
    assert world.notes[0] == ("dead", 1, "an internal error; the log has the details", False)
    assert world.notes[1][:2] == ("retry", 2)


async def test_the_parts_of_an_instance_that_cannot_be_read_end_too() -> None:
    world = World()
    world.instance = ValueError("encrypted with another key")
    await world.work(replace(PART, attempts=MAX_FAULTS - 1))
    assert world.notes == [("dead", 1, "an internal error; the log has the details", True)]


async def test_a_part_that_cannot_be_read_is_a_dead_letter_at_once() -> None:
    world = World()
    await world.work(replace(PART, unreadable="it is no JSON"), replace(PART, id=2))
    assert world.notes == [("dead", 1, "it is no JSON", False), ("sent", 2, 6000, True)]
    assert world.failed == ["sending a reply: it is no JSON"]


class RefusingWorld(World):
    """The database takes nothing down of a part, but lets it be removed."""

    refusal = ZeroDivisionError("no")

    async def sent(self, key: QueueKey, part: QueuedMessage, ref: str, *, last: bool) -> None:
        raise self.refusal

    async def dead(self, key: QueueKey, part: QueuedMessage, error: str, *, last: bool) -> None:
        raise self.refusal

    async def retry(self, key: QueueKey, part: QueuedMessage, error: str, delay: float) -> None:
        raise self.refusal

    async def drop(self, instance_id: int, part_id: int) -> bool:
        self.notes.append(("dropped", instance_id, part_id))
        return True


@pytest.mark.parametrize("sendable", [True, False])
async def test_a_part_that_takes_no_record_is_removed_in_the_end(*, sendable: bool) -> None:
    world = RefusingWorld(refusal=None if sendable else ValueError("no"))
    for _ in range(MAX_FAULTS - 1):
        with pytest.raises(ZeroDivisionError):  # the lane loop takes it up again, ever later
            await world.work(PART)
    assert world.notes == []

    await world.work(PART)

    assert world.notes == [("dropped", 7, 1), ("released", 0.0)]
    assert len(world.channel.sent) == (1 if sendable else 0)
    assert world.failed[-1] == "sending a reply: an internal error; the log has the details"


async def test_a_part_that_can_be_neither_recorded_nor_removed_is_not_sent_over_and_over() -> None:
    world = RefusingWorld()

    async def drop(*_: object) -> bool:
        raise world.refusal

    sent: list[object] = []

    async def send(*arguments: object) -> Sent:
        sent.append(arguments)
        return Sent(Outcome.TRANSIENT, "no")

    world.channel.send = send  # type: ignore[method-assign]
    world.drop = drop  # type: ignore[method-assign]
    for _ in range(3 * MAX_FAULTS):
        with pytest.raises(ZeroDivisionError):
            await world.work(PART)
    assert len(sent) == MAX_FAULTS
