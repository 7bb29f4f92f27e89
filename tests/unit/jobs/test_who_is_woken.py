"""Of what is left of a queue that was worked off, only this process is told where it leases it at once."""

import asyncio

import pytest

from adapters.inbound.jobs.queue_worker import SlotAllocator
from adapters.outbound.system.event_bus import EventBus
from ports.queue import Capacity, QueueKey


@pytest.mark.parametrize("kind", ["in", "out"])
@pytest.mark.parametrize(
    ("solitary", "here", "told"), [(False, False, 1), (False, True, 0), (True, False, 0)]
)
async def test_others_are_told_unless_this_process_comes_at_once(
    kind: str, solitary: bool, here: bool, told: int
) -> None:
    bus, notices = EventBus(solitary=solitary), list[str]()
    bus.broadcast = notices.append
    enqueued, own = {
        "in": (bus.inbound_enqueued, bus.inbound),
        "out": (bus.outbound_enqueued, bus.outbound),
    }[kind]

    enqueued(here=here)

    assert notices == [kind] * told
    await asyncio.wait_for(own.wait(60), 60)


def test_there_is_capacity_while_slots_are_free_and_nobody_waits_for_one() -> None:
    slots = SlotAllocator(8, dict)
    assert slots.has_capacity

    slots.acquire(QueueKey(1, "a", "ann"))
    assert slots.has_capacity
    for number in range(7):
        slots.acquire(QueueKey(2 + number, "a", "ann"))
    assert not slots.has_capacity, "all slots are taken"

    slots.release(QueueKey(1, "a", "ann"))
    assert slots.has_capacity

    capacity = Capacity(1, 1, 1)
    slots.fulfil(capacity, [QueueKey(1, "b", "ann")], more=True)
    assert not slots.has_capacity, "more is due than was leased: others had better come too"


def test_there_is_no_capacity_while_an_instance_is_throttled() -> None:
    assert not SlotAllocator(8, lambda: {1: 0}).has_capacity
