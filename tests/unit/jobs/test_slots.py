"""Slots reserved for queues about to be committed: within everybody's share, never before those that wait."""

from __future__ import annotations

from collections.abc import Mapping

from adapters.inbound.jobs.queue_worker import SlotAllocator, both
from ports.queue import QueueKey

FEW = 16


def slots(throttled: Mapping[int, int] | None = None) -> SlotAllocator:
    """With instances 1 to 20 known to be Ann's and 21 Bob's."""
    made = SlotAllocator(FEW, lambda: throttled or {})
    for number in range(1, 22):
        key = QueueKey(number, "known", "bob" if number == 21 else "ann")
        made.acquire(key)
        made.release(key)
    return made


def leased(made: SlotAllocator, count: int) -> None:
    """A lease for all that there is capacity for brings `count` queues of others."""
    capacity = made.capacity()
    made.request(capacity)
    keys = [QueueKey(100 + number, "x", f"user {number}") for number in range(min(count, capacity.total))]
    made.fulfil(capacity, keys, more=count > capacity.total)
    for key in keys:
        made.acquire(key)


def test_a_slot_is_reserved_once_and_cancelled() -> None:
    made, key = slots(), QueueKey(1, "a")
    assert made.reserve(key)
    assert not made.reserve(key)
    assert made.reserved == {key}
    made.cancel(key)
    assert made.reserved == set()
    assert made.reserve(key)


def test_nothing_is_reserved_for_an_instance_whose_user_is_unknown() -> None:
    assert not slots().reserve(QueueKey(77, "a"))
    assert slots().reserve(QueueKey(77, "a", "ann"))


def test_a_full_worker_reserves_nothing() -> None:
    made = slots()
    for number in range(FEW):
        made.acquire(QueueKey(200 + number, "x", f"user {number}"))
    assert not made.reserve(QueueKey(1, "a"))


def test_reserved_slots_count_against_the_capacity() -> None:
    made = slots()
    for number in range(4):
        assert made.reserve(QueueKey(1 + number, "a"))
    assert made.capacity().total == (FEW - 4) / 2


def test_what_a_lease_asked_for_is_not_reserved_for_others() -> None:
    made = slots()
    capacity = made.capacity()
    made.request(capacity)
    kept = sum(made.reserve(QueueKey(number, "a", f"user {number}")) for number in range(31, 52))
    assert kept == FEW - capacity.total
    made.fulfil(capacity, [], more=False)
    assert made.reserve(QueueKey(21, "b"))


def test_those_who_wait_are_not_overtaken() -> None:
    made = slots()
    leased(made, 8)
    assert not made.reserve(QueueKey(1, "a")), "the lease was full, so more may wait"
    leased(made, 0)
    assert made.reserve(QueueKey(1, "a"))


def test_whoever_found_the_worker_full_is_not_overtaken() -> None:
    made = slots()
    for number in range(FEW):
        made.acquire(QueueKey(200 + number, "x", f"user {number}"))
    assert not made.reserve(QueueKey(1, "a"))
    made.release(QueueKey(200, "x", "user 0"))
    assert not made.reserve(QueueKey(2, "b")), "the first one waits in the database"
    leased(made, 0)
    assert made.reserve(QueueKey(2, "b"))


def test_an_instance_gets_its_share_alone_and_stays_behind_its_own() -> None:
    made = slots()
    kept = [QueueKey(1, str(number)) for number in range(FEW) if made.reserve(QueueKey(1, str(number)))]
    assert len(kept) == FEW // 4
    assert made.reserve(QueueKey(2, "a")), "another instance is not held up"
    made.cancel(kept[0])
    assert not made.reserve(QueueKey(1, "new")), "older ones of the instance wait in the database"
    leased(made, 0)
    assert made.reserve(QueueKey(1, "new"))


def test_a_user_gets_three_quarters() -> None:
    made = slots()
    kept = sum(made.reserve(QueueKey(number, "a")) for number in range(1, 21))
    assert kept == FEW * 3 // 4
    assert made.reserve(QueueKey(21, "a")), "another user is not held up"


def test_a_throttled_instance_gets_what_it_is_left() -> None:
    made = slots({1: 0, 2: 1})
    assert not made.reserve(QueueKey(1, "a"))
    assert [made.reserve(QueueKey(2, key)) for key in "ab"] == [True, False]


def test_of_two_limits_the_stricter_one_counts() -> None:
    ours: dict[int, int] = {}
    theirs: dict[int, int] = {}
    found = both(lambda: ours, lambda: theirs)
    assert found() == {}
    ours |= {1: 0, 2: 5}
    assert found() == {1: 0, 2: 5}
    theirs |= {1: 3, 2: 0, 3: 1}
    assert found() == {1: 0, 2: 0, 3: 1}


def test_releasing_says_whether_somebody_may_have_waited() -> None:
    made = slots()
    keys = [QueueKey(1, str(number), "ann") for number in range(FEW // 4)]
    for key in keys:
        made.acquire(key)
    assert made.release(keys[0])
    assert not made.release(keys[1])


def test_those_that_hold_little_are_not_named_in_the_question_for_more() -> None:
    made = SlotAllocator(256, dict)
    for number in range(8):
        made.acquire(QueueKey(1, str(number), "ann"))
    assert (made.capacity().instances, made.capacity().users) == ({}, {})
    made.acquire(QueueKey(1, "one more", "ann"))
    assert made.capacity().instances == {1: (64 - 9 + 1) // 2}


def test_a_lease_and_what_is_reserved_meanwhile_stay_within_an_instances_share() -> None:
    made, keys = SlotAllocator(256, dict), [QueueKey(1, f"waits {number}", "ann") for number in range(64)]
    for key in keys[:20]:
        made.acquire(key)
    capacity = made.capacity()
    made.request(capacity)
    kept = sum(made.reserve(QueueKey(1, f"new {number}", "ann")) for number in range(100))
    assert kept > 0
    assert 20 + capacity.instances[1] + kept == 64


def test_what_an_instance_left_waiting_comes_before_what_is_new_of_it() -> None:
    made = slots()
    capacity = made.capacity()
    made.request(capacity)
    brought = [QueueKey(1, str(number), "ann") for number in range(capacity.per_instance)]
    made.fulfil(capacity, brought, more=True)
    for key in brought:
        made.acquire(key)
    assert not made.reserve(QueueKey(1, "new"))
    assert made.reserve(QueueKey(2, "new"))
    assert made.capacity().instances[1] == FEW // 4 - capacity.per_instance, (
        "all that is left, not half of it"
    )


def test_an_answer_tells_whether_a_slot_was_freed_meanwhile() -> None:
    made, key = slots(), QueueKey(1, "a", "ann")
    made.acquire(key)
    capacity = made.capacity()
    made.request(capacity)
    assert not made.fulfil(capacity, [], more=True)
    made.request(capacity)
    made.release(key)
    assert made.fulfil(capacity, [], more=True)
