"""Quotas: no window holds more than they allow, and what they allow gets through."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.channels.limits import Quota
from domain.delivery.rate_limits import Bucket


@st.composite
def quotas(draw: st.DrawFn) -> Quota:
    count = draw(st.integers(1, 60))
    return Quota(count, draw(st.sampled_from([1.0, 6.0, 30.0, 3600.0])), draw(st.integers(1, count)))


def moments(quota: Quota, pauses: list[float], share: float = 1.0) -> list[float]:
    """When messages go that come in these distances."""
    bucket, now, went = Bucket(quota, share), 1000.0, []
    for pause in pauses:
        now += pause
        wait = bucket.wait(now)
        bucket.take(now)
        went.append(now + wait)
    return went


@given(quotas(), st.lists(st.floats(0, 3), max_size=150))
def test_no_window_holds_more_than_the_quota(quota: Quota, pauses: list[float]) -> None:
    went = moments(quota, pauses)
    assert went == sorted(went)
    for first, last in zip(went, went[quota.count :], strict=False):
        assert last - first >= quota.seconds - 1e-6


@given(quotas())
def test_a_burst_goes_at_once_and_the_rest_evenly(quota: Quota) -> None:
    went = moments(quota, [0.0] * (quota.burst + 5))
    assert went[: quota.burst] == pytest.approx([1000.0] * quota.burst)
    later = [second - first for first, second in pairwise(went[quota.burst - 1 :])]
    assert later == pytest.approx([quota.interval] * 5)


def test_a_share_goes_evenly_at_its_part_of_the_pace() -> None:
    went = moments(Quota(30, 1.0, burst=6), [0.0] * 4, share=0.1)
    assert [second - first for first, second in pairwise(went)] == pytest.approx([0.4] * 3)


@given(quotas(), st.integers(2, 9))
def test_among_several_senders_less_is_left_to_share(quota: Quota, senders: int) -> None:
    left = quota.among(senders)
    assert left.seconds == quota.seconds
    assert left.count == 1 or left.count + senders == quota.count
    assert left.interval >= quota.interval or quota.burst > 1


def test_a_bucket_that_has_run_full_is_like_a_new_one() -> None:
    bucket = Bucket(Quota(1, 2.0))
    assert bucket.is_full(10.0)
    bucket.take(10.0)
    assert not bucket.is_full(11.9)
    assert bucket.is_full(12.0)


@pytest.mark.parametrize(("count", "seconds", "burst"), [(0, 1, 1), (1, 0, 1), (1, 1, 2), (1, 1, 0)])
def test_a_quota_that_makes_no_sense_is_refused(count: int, seconds: float, burst: int) -> None:
    with pytest.raises(ValueError, match="quota"):
        Quota(count, seconds, burst)
