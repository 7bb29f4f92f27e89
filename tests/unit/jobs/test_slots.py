"""How many queues a worker leases, in all and of one instance or user."""

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


def test_a_lease_asks_for_half_of_what_is_free_and_for_all_while_more_is_due() -> None:
    made = slots()
    capacity = made.capacity()
    assert capacity.total == FEW / 2
    keys = [QueueKey(100 + number, "x", f"user {number}") for number in range(capacity.total)]
    made.fulfil(capacity, keys, more=True)
    for key in keys:
        made.acquire(key)
    assert made.capacity().total == FEW / 2, "all that is free"
    made.fulfil(made.capacity(), [], more=False)
    assert made.capacity().total == FEW / 4


def test_a_user_has_three_quarters_and_an_instance_one_quarter() -> None:
    made = slots()
    for number in range(1, 4):
        for session in "abcd":
            made.acquire(QueueKey(number, session, "ann"))
    assert made.is_full(1, "bob")
    assert made.is_full(20, "ann")
    assert not made.is_full(21, "bob")


def test_a_throttled_instance_gets_what_it_is_left() -> None:
    made = slots({1: 0, 2: 1})
    assert made.capacity().instances == {1: 0, 2: 1}
    made.acquire(QueueKey(2, "a", "ann"))
    assert made.is_full(2, "ann")


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


def test_an_instance_of_which_more_is_due_gets_all_that_is_left_to_it() -> None:
    made = slots()
    capacity = made.capacity()
    brought = [QueueKey(1, str(number), "ann") for number in range(capacity.per_instance)]
    made.fulfil(capacity, brought, more=True)
    for key in brought:
        made.acquire(key)
    assert not made.has_capacity
    assert made.capacity().instances[1] == FEW // 4 - capacity.per_instance, (
        "all that is left, not half of it"
    )


def test_an_answer_tells_whether_a_slot_was_freed_meanwhile() -> None:
    made, key = slots(), QueueKey(1, "a", "ann")
    made.acquire(key)
    capacity = made.capacity()
    assert not made.fulfil(capacity, [], more=True)
    made.release(key)
    assert made.fulfil(capacity, [], more=True)
