"""When a part that was not taken is tried again."""

import pytest

from domain.channels.messages import Outcome, Sent
from domain.delivery.model import DELAYS, JITTER, LONGEST_WAIT, next_delay

AGAIN = [Outcome.RETRY_AFTER, Outcome.TRANSIENT, Outcome.UNKNOWN]


@pytest.mark.parametrize("outcome", AGAIN)
def test_delays_grow_and_end(outcome: Outcome) -> None:
    found = [next_delay(Sent(outcome), attempts, 0.0) for attempts in range(len(DELAYS) + 1)]
    assert found == [*DELAYS, None]


@pytest.mark.parametrize("outcome", [Outcome.SENT, Outcome.PERMANENT])
def test_what_is_settled_is_not_tried_again(outcome: Outcome) -> None:
    assert next_delay(Sent(outcome), 0, 0.5) is None


def test_delays_are_spread() -> None:
    assert next_delay(Sent(Outcome.TRANSIENT), 4, 0.5) == DELAYS[4] * (1 + JITTER / 2)


def test_a_platform_is_not_called_before_it_asks_for_it() -> None:
    assert next_delay(Sent(Outcome.RETRY_AFTER, retry_after=30), 0, 0.5) == 30
    assert next_delay(Sent(Outcome.RETRY_AFTER, retry_after=0.1), 0, 0.0) == DELAYS[0]


@pytest.mark.parametrize("seconds", [1e6, 1e12, 1e300])
def test_no_wish_to_wait_is_longer_than_a_day(seconds: float) -> None:
    assert next_delay(Sent(Outcome.RETRY_AFTER, retry_after=seconds), 0, 0.5) == LONGEST_WAIT
