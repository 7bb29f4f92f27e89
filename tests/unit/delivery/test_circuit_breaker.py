"""When an instance's breaker opens and closes."""

from domain.delivery.circuit_breakers import FIRST_OPEN, LONGEST_OPEN, THRESHOLD, Breaker, State, opening


def opened() -> Breaker:
    breaker = Breaker()
    for number in range(THRESHOLD):
        breaker.failed(f"conversation {number}", 100.0)
    return breaker


def test_failures_of_several_conversations_open_it() -> None:
    breaker = Breaker()
    assert [breaker.failed(f"conversation {number}", 100.0) for number in range(THRESHOLD)] == [
        *[False] * (THRESHOLD - 1),
        True,
    ]
    assert breaker.state(100.0 + FIRST_OPEN - 0.1) is State.OPEN


def test_one_conversation_that_fails_never_opens_it() -> None:
    breaker = Breaker()
    assert not any(breaker.failed("the same", 100.0) for _ in range(100))
    assert breaker.state(100.0) is State.CLOSED


def test_each_probe_that_fails_opens_it_for_longer() -> None:
    breaker, now, waits = opened(), 100.0, []
    for _ in range(8):
        waits.append(breaker.until - now)
        now = breaker.until
        assert breaker.failed("the probe", now)
    assert waits == [10, 20, 40, 80, 160, 300, 300, 300]


def test_what_was_under_way_when_it_opened_changes_nothing() -> None:
    breaker = opened()
    until = breaker.until
    assert not breaker.failed("late", 105.0)
    assert breaker.until == until


def test_what_another_process_found_is_taken_over() -> None:
    breaker = Breaker()
    breaker.adopt(3, 150.0)
    assert breaker.state(149.0) is State.OPEN
    assert breaker.state(150.0) is State.HALF_OPEN
    assert breaker.failed("the probe", 150.0)
    assert breaker.until == 150.0 + opening(4)


def test_a_long_outage_does_not_overflow() -> None:
    assert opening(10_000) == LONGEST_OPEN
