"""What an exchange with a platform means for the part that was sent."""

import pytest

from adapters.outbound.channels.common.outcomes import by_status, failed
from domain.channels.messages import Outcome
from ports.http import AddressRefused, HttpAnswer, HttpFailed, NoAddress


@pytest.mark.parametrize(
    ("status", "headers", "outcome", "wait"),
    [
        (200, {}, Outcome.SENT, None),
        (204, {}, Outcome.SENT, None),
        (301, {}, Outcome.PERMANENT, None),
        (400, {}, Outcome.PERMANENT, None),
        (408, {}, Outcome.TRANSIENT, None),
        (410, {}, Outcome.PERMANENT, None),
        (429, {"retry-after": "7"}, Outcome.RETRY_AFTER, 7.0),
        (429, {}, Outcome.RETRY_AFTER, None),
        (500, {}, Outcome.TRANSIENT, None),
        (503, {"retry-after": "2"}, Outcome.RETRY_AFTER, 2.0),
    ],
)
def test_the_status_decides(
    status: int, headers: dict[str, str], outcome: Outcome, wait: float | None
) -> None:
    sent = by_status(HttpAnswer(status, headers, b"words"))
    assert (sent.outcome, sent.retry_after) == (outcome, wait)
    assert ("words" in sent.detail) == (outcome is not Outcome.SENT)


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (HttpFailed("refused", before_request=True), Outcome.TRANSIENT),
        (HttpFailed("reset", before_request=False), Outcome.UNKNOWN),
        (AddressRefused("private"), Outcome.PERMANENT),
        (NoAddress("http://a b/"), Outcome.PERMANENT),
    ],
)
def test_a_broken_exchange_says_whether_it_may_have_arrived(error: HttpFailed, outcome: Outcome) -> None:
    assert failed(error).outcome is outcome


def test_a_long_body_is_cut() -> None:
    assert len(by_status(HttpAnswer(400, {}, b"x" * 10_000)).detail) < 400
