"""Slots of a credential: how many calls go at a time, and who waits."""

import asyncio

import pytest

from adapters.outbound.channels.tests.support import SetClock
from domain.channels.limits import Limits
from domain.delivery.concurrency import ConcurrencyLimiter
from domain.delivery.model import send_request
from domain.delivery.rate_limits import RateLimiter
from tests.unit.delivery.test_rate_limiter import Counts, Shared

LIMITS = Limits("odoo", max_concurrency=2)


async def test_calls_beyond_the_limit_go_in_the_order_in_which_they_came() -> None:
    slots, begun = ConcurrencyLimiter(), []

    async def call(number: int) -> None:
        async with slots.slot("key", 2):
            begun.append(number)
            running.append(len(begun) - ended)
            await asyncio.sleep(0)
        nonlocal_end()

    ended, running = 0, []

    def nonlocal_end() -> None:
        nonlocal ended
        ended += 1

    await asyncio.gather(*(call(number) for number in range(20)))
    assert begun == list(range(20))
    assert max(running) == 2


async def test_other_credentials_do_not_wait() -> None:
    slots = ConcurrencyLimiter()
    assert await slots.acquire("one", 1)
    assert await slots.acquire("other", 1, patience=0)
    assert not await slots.acquire("one", 1, patience=0)


async def test_who_gives_up_waiting_takes_no_slot() -> None:
    slots = ConcurrencyLimiter()
    assert await slots.acquire("key", 1)
    waiting = [asyncio.create_task(slots.acquire("key", 1)) for _ in range(2)]
    await asyncio.sleep(0)
    slots.release("key", 1)
    waiting[0].cancel()  # in the moment in which it got the slot
    assert await waiting[1]
    with pytest.raises(asyncio.CancelledError):
        await waiting[0]
    slots.release("key", 1)
    assert not slots.is_full("key", 1)


@pytest.mark.parametrize(("workers", "share"), [(1, 2), (2, 1), (5, 1)])
async def test_workers_split_the_limit_and_each_has_one_call(workers: int, share: int) -> None:
    slots = ConcurrencyLimiter()
    slots.workers = workers
    for _ in range(share):
        assert await slots.acquire("key", 2, patience=0)
    assert not await slots.acquire("key", 2, patience=0)


def rate_limiter(slots: ConcurrencyLimiter) -> RateLimiter:
    shared = Shared(SetClock())
    return RateLimiter(shared, shared.clock, asyncio.sleep, lambda: None, Counts(), slots)  # type: ignore[arg-type]


async def test_instances_of_one_credential_share_its_slots() -> None:
    limiter = rate_limiter(ConcurrencyLimiter())
    requests = [send_request(number, "erp-events", f"c{number}", LIMITS) for number in range(3)]
    assert [await limiter.acquire(each) for each in requests[:2]] == [0.0, 0.0]
    third = asyncio.create_task(limiter.acquire(requests[2]))
    await asyncio.sleep(0)
    assert not third.done()
    limiter.release(requests[0])
    assert await third == 0.0


async def test_an_instance_whose_calls_wait_gets_few_places_until_none_waits() -> None:
    limiter = rate_limiter(ConcurrencyLimiter())
    requests = [send_request(7, "erp-events", f"c{number}", LIMITS) for number in range(3)]
    for each in requests[:2]:
        assert await limiter.acquire(each) == 0.0
    assert limiter.throttled() == {}
    third = asyncio.create_task(limiter.acquire(requests[2]))
    await asyncio.sleep(0)
    assert limiter.throttled() == {7: 4}
    for each in requests[:2]:
        limiter.release(each)
    assert await third == 0.0
    assert limiter.throttled() == {}
