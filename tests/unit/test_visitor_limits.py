"""How often visitors of the web chat may call."""

import pytest

from adapters.inbound import visitor_limits
from adapters.inbound.visitor_limits import Buckets, VisitorLimits, address_key, visitor_key
from domain.refusals import TooMany


class Time:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def spent(buckets: Buckets, key: str, count: int) -> int:
    """How many of so many calls are taken."""
    taken = 0
    for _ in range(count):
        try:
            buckets.spend(key, 1, "slow down")
        except TooMany:
            continue
        taken += 1
    return taken


def test_so_much_at_once_and_so_much_in_the_long_run() -> None:
    time = Time()
    buckets = Buckets(10, 0.5, time)
    assert spent(buckets, "ann", 1000) == 10
    assert spent(buckets, "bob", 3) == 3
    time.now = 20
    assert spent(buckets, "ann", 1000) == 10
    time.now = 23
    assert spent(buckets, "ann", 1000) == 1


def test_who_is_refused_is_told_when_to_try_again() -> None:
    buckets = Buckets(1, 0.1, Time())
    buckets.spend("ann", 1, "slow down")
    with pytest.raises(TooMany, match="slow down") as refused:
        buckets.spend("ann", 1, "slow down")
    assert refused.value.retry_after == pytest.approx(10)


def test_what_costs_more_than_a_bucket_needs_a_full_one() -> None:
    time = Time()
    buckets = Buckets(10, 1, time)
    buckets.spend("ann", 25, "slow down")
    time.now = 9.5
    assert spent(buckets, "ann", 20) == 9


def test_only_those_who_called_last_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visitor_limits, "MOST_KEYS", 3)
    buckets = Buckets(1, 0.001, Time())
    for key in "abcd":
        buckets.spend(key, 1, "")
    assert [spent(buckets, key, 1) for key in "bcda"] == [0, 0, 0, 1]


def test_one_address_has_half_of_the_streams_and_one_visitor_few() -> None:
    limits = VisitorLimits(40)
    for number in range(20):
        limits.open_stream("a", f"visitor {number}")
    with pytest.raises(TooMany):
        limits.open_stream("a", "visitor 20")
    for _ in range(8):
        limits.open_stream("b", "ann")
    with pytest.raises(TooMany, match="windows"):
        limits.open_stream("b", "ann")
    limits.close_stream("b", "ann")
    limits.open_stream("b", "ann")
    for number in range(12):
        limits.open_stream("c", f"other {number}")
    with pytest.raises(TooMany, match="at the moment"):
        limits.open_stream("d", "bob")


def test_large_bodies_count_by_their_size() -> None:
    limits = VisitorLimits(10)
    for _ in range(3):
        limits.message("a", "ann", 8_000_000)
    with pytest.raises(TooMany):
        limits.message("a", "ann", 8_000_000)
    limits.message("a", "ann", 500)


async def test_a_flood_does_not_reach_the_core() -> None:
    limits, asked = VisitorLimits(10), []

    async def ask(public_id: str, origin: str) -> bool:
        asked.append((public_id, origin))
        return origin == "https://a.example"

    for _ in range(1000):
        assert await limits.is_allowed("a", "1-x", "https://a.example", ask)
        assert not await limits.is_allowed("a", "1-x", "https://b.example", ask)
    assert len(asked) == 2
    for number in range(97):
        await limits.is_allowed("a", f"{number}-x", "", ask)
    limits.lookups.spend("a", 0.9, "")
    with pytest.raises(TooMany):
        await limits.is_allowed("a", "99-x", "", ask)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("192.0.2.1", "192.0.2.2", False),
        ("192.0.2.1", "::ffff:192.0.2.1", True),
        ("2001:db8::1", "2001:db8::2", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("", "unix", False),
    ],
)
def test_addresses_of_one_household_count_together(one: str, other: str, same: bool) -> None:
    assert (address_key(one) == address_key(other)) is same


def test_a_token_that_is_made_up_counts_for_itself() -> None:
    assert len({visitor_key(token) for token in ("a.b", "a.c", "")}) == 3
