"""Cooldowns, quotas and breakers as a worker keeps them, alone and beside others."""

import asyncio
from collections import Counter
from collections.abc import Awaitable

import pytest

from adapters.outbound.channels.tests.support import SetClock
from domain.channels.limits import Limits, Quota, Scope
from domain.channels.messages import Outcome, Sent
from domain.delivery.circuit_breakers import THRESHOLD
from domain.delivery.concurrency import ConcurrencyLimiter
from domain.delivery.model import MAX_WAIT, OpenBreaker, SendRequest, SharedState, send_request
from domain.delivery.rate_limits import MANY_BUCKETS, RateLimiter
from domain.refusals import Unavailable

OK = Sent(Outcome.SENT)
DOWN = Sent(Outcome.TRANSIENT, "connection refused")
CHAT = Limits("token", "chat", (Quota(30, 1.0, burst=6),), (Quota(1, 1.0),))


class Shared:
    """What the workers share, in memory."""

    def __init__(self, clock: SetClock) -> None:
        self.clock = clock
        self.workers = 1
        self.until: dict[str, float] = {}
        self.breakers: dict[int, tuple[float, int]] = {}
        self.slots: Counter[str] = Counter()
        self.slot_wait = 0.0
        self.away = False
        self.writes = 0

    @property
    def now(self) -> float:
        return self.clock.now().timestamp()

    async def state(self) -> SharedState:
        if self.away:
            raise Unavailable("away")
        holds = [(key, until - self.now) for key, until in self.until.items() if until > self.now]
        breakers = [OpenBreaker(each, until - self.now, n) for each, (until, n) in self.breakers.items()]
        return SharedState(self.workers, holds, breakers)

    async def reserve(self, key: str, interval: float, burst: int, max_wait: float) -> float:
        self.slots[key] += 1
        return self.slot_wait

    async def cool_down(self, key: str, seconds: float) -> None:
        self._written()
        self.until[key] = max(self.now + seconds, self.until.get(key, 0.0))

    async def open_breaker(self, breaker: OpenBreaker, reason: str) -> None:
        self._written()
        self.breakers[breaker.instance_id] = (self.now + breaker.seconds, breaker.openings)

    async def close_breaker(self, instance_id: int) -> None:
        self._written()
        self.breakers.pop(instance_id, None)

    async def remove_expired(self) -> None:
        return

    def _written(self) -> None:
        if self.away:
            raise Unavailable("away")
        self.writes += 1


class Counts:
    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def throttled(self, channel_id: str, reason: str) -> None:
        self.counts[reason] += 1


class Worker:
    """A rate limiter whose sleeping moves the clock."""

    def __init__(self, shared: Shared) -> None:
        self.shared = shared
        self.slept: list[float] = []
        self.changes = 0
        self.meter = Counts()
        self.limiter = RateLimiter(
            shared,
            shared.clock,
            self._sleep,
            self._changed,
            self.meter,  # type: ignore[arg-type]
            ConcurrencyLimiter(),
        )

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.shared.clock.advance(seconds)

    def _changed(self) -> None:
        self.changes += 1

    async def acquire(self, request: SendRequest) -> float:
        wait = await self.limiter.acquire(request)
        if not wait:
            self.limiter.release(request)
        return wait

    async def record(self, request: SendRequest, sent: Sent) -> None:
        await self.limiter.record(request, sent)

    async def looks_while(self, happens: Awaitable[None]) -> None:
        """A look at what is shared begins before that happens, ends after it, and finds what was before."""
        before, state = await self.shared.state(), self.shared.state
        found: asyncio.Future[SharedState] = asyncio.get_running_loop().create_future()
        self.shared.state = lambda: found  # type: ignore[method-assign, assignment]
        look = asyncio.ensure_future(self.limiter.refresh())
        await asyncio.sleep(0)
        await happens
        found.set_result(before)
        await look
        self.shared.state = state  # type: ignore[method-assign]

    async def breaks(self, instance_id: int = 7) -> None:
        for number in range(THRESHOLD):
            await self.record(request(queue_key=f"c{number}", instance_id=instance_id), DOWN)


@pytest.fixture
def shared() -> Shared:
    return Shared(SetClock())


@pytest.fixture
def worker(shared: Shared) -> Worker:
    return Worker(shared)


@pytest.fixture
def other(shared: Shared) -> Worker:
    return Worker(shared)


def request(
    account: str = "token", conversation: str = "chat", *, queue_key: str = "c", instance_id: int = 7
) -> SendRequest:
    return send_request(instance_id, "bot-messenger", queue_key, Limits(account, conversation))


def wait(seconds: float | None, scope: Scope | None = None) -> Sent:
    return Sent(Outcome.RETRY_AFTER, "429", retry_after=seconds, scope=scope)


# --- cooldowns


async def test_a_refused_conversation_waits_and_others_go_on(worker: Worker) -> None:
    await worker.record(request(), wait(30))
    assert await worker.acquire(request()) == pytest.approx(30)
    assert await worker.acquire(request(conversation="another")) == 0
    assert await worker.acquire(request("another token")) == 0
    worker.shared.clock.advance(30)
    assert await worker.acquire(request()) == 0


async def test_a_refused_account_waits_whatever_the_conversation(worker: Worker) -> None:
    await worker.record(request(), wait(30, Scope.ACCOUNT))
    assert await worker.acquire(request(conversation="another", instance_id=8)) == pytest.approx(30)
    assert worker.limiter.throttled() == {8: 0}
    assert await worker.acquire(request("another token", instance_id=9)) == 0
    worker.shared.clock.advance(30)
    assert worker.limiter.throttled() == {}


async def test_two_refused_conversations_at_a_time_mean_the_account(worker: Worker) -> None:
    await worker.record(request(conversation="one"), wait(30))
    assert await worker.acquire(request(conversation="three")) == 0
    await worker.record(request(conversation="two"), wait(20))
    assert await worker.acquire(request(conversation="three")) == pytest.approx(20)


async def test_the_same_conversation_refused_twice_does_not_mean_the_account(worker: Worker) -> None:
    for _ in range(2):
        await worker.record(request(conversation="one"), wait(30))
    assert await worker.acquire(request(conversation="two")) == 0


async def test_conversations_refused_one_after_the_other_do_not_mean_the_account(worker: Worker) -> None:
    await worker.record(request(conversation="one"), wait(30))
    worker.shared.clock.advance(31)
    await worker.record(request(conversation="two"), wait(30))
    assert await worker.acquire(request(conversation="three")) == 0


async def test_where_a_platform_counts_no_conversations_the_account_waits(worker: Worker) -> None:
    await worker.record(request(conversation=""), wait(30))
    assert await worker.acquire(request(conversation="")) == pytest.approx(30)


async def test_without_limits_an_instance_is_an_account_of_its_own(worker: Worker) -> None:
    mine, its_other = send_request(1, "x", "a", None), send_request(1, "x", "b", None)
    await worker.record(mine, wait(30))
    assert await worker.acquire(mine) == pytest.approx(30)
    assert await worker.acquire(its_other) == 0
    await worker.record(its_other, wait(30))
    assert await worker.acquire(send_request(1, "x", "c", None)) == pytest.approx(30)
    assert await worker.acquire(send_request(2, "x", "a", None)) == 0


async def test_every_worker_holds_back_what_one_was_refused(worker: Worker, other: Worker) -> None:
    await worker.record(request(), wait(30, Scope.ACCOUNT))
    assert worker.changes == 1
    await other.limiter.refresh()
    assert await other.acquire(request(conversation="another")) == pytest.approx(30)
    assert await other.acquire(request("another token")) == 0


async def test_a_short_hold_is_slept_out_in_place(worker: Worker) -> None:
    await worker.record(request(), wait(2))
    assert await worker.acquire(request()) == 0
    assert worker.slept == [pytest.approx(2)]


async def test_a_wait_without_a_number_is_a_second(worker: Worker) -> None:
    await worker.record(request(), wait(None))
    await worker.acquire(request())
    assert worker.slept == [pytest.approx(1)]


async def test_no_platform_can_ask_for_more_than_an_hour_at_a_time(worker: Worker) -> None:
    await worker.record(request(), wait(1e12))
    assert await worker.acquire(request()) == pytest.approx(3600)


async def test_who_waited_for_a_turn_meanwhile_waits_for_another_after_the_hold(worker: Worker) -> None:
    paced = send_request(7, "x", "c", Limits("token", "chat", per_conversation=(Quota(1, 2.0),)))
    await worker.acquire(paced)
    sleep, refused = worker.limiter.sleep, [False]

    async def refused_meanwhile(seconds: float) -> None:
        await sleep(seconds)
        if not refused[0]:
            refused[0] = True
            await worker.record(paced, wait(3))

    worker.limiter.sleep = refused_meanwhile
    assert await worker.acquire(paced) == 0
    assert worker.slept == [pytest.approx(2), pytest.approx(3)]
    assert await worker.acquire(paced) == 0
    assert worker.slept[2:] == [pytest.approx(2)]


async def test_a_longer_hold_is_not_cut_short_by_a_later_one(worker: Worker) -> None:
    await worker.record(request(), wait(60))
    await worker.record(request(), wait(6))
    assert await worker.acquire(request()) == pytest.approx(60)


async def test_a_message_that_used_up_the_bucket_makes_the_next_one_wait(worker: Worker) -> None:
    await worker.record(request(), Sent(Outcome.SENT, retry_after=1.5))
    assert await worker.acquire(request()) == 0
    assert worker.slept == [pytest.approx(1.5)]
    assert worker.shared.writes == 0


# --- quotas


async def test_alone_a_worker_keeps_quotas_without_a_statement(worker: Worker) -> None:
    paced = send_request(7, "bot-messenger", "c", CHAT)
    for _ in range(3):
        assert await worker.acquire(paced) == 0
    assert worker.slept == [pytest.approx(1), pytest.approx(1)]
    assert not worker.shared.slots
    assert not worker.shared.writes


async def test_a_late_slot_releases_the_conversation_and_reserves_nothing(worker: Worker) -> None:
    slow = send_request(7, "x", "c", Limits("token", "chat", per_conversation=(Quota(1, 60.0),)))
    assert await worker.acquire(slow) == 0
    assert await worker.acquire(slow) == pytest.approx(60)
    assert await worker.acquire(slow) == pytest.approx(60)
    assert worker.meter.counts["quota"] == 2


async def test_an_account_that_has_used_up_its_quota_takes_no_places(worker: Worker) -> None:
    spent = send_request(7, "x", "c", Limits("token", "", (Quota(2, 60.0, burst=2),)))
    waits = [await worker.acquire(spent) for _ in range(3)]
    assert waits == [0, 0, pytest.approx(60)]
    assert worker.limiter.throttled() == {7: 0}
    worker.shared.clock.advance(60 - MAX_WAIT)
    assert worker.limiter.throttled() == {}
    assert await worker.acquire(spent) == 0


async def test_beside_others_a_worker_far_from_the_limit_asks_nobody(worker: Worker) -> None:
    worker.shared.workers = 2
    await worker.limiter.refresh()
    paced = send_request(7, "bot-messenger", "c", CHAT)
    for _ in range(5):
        assert await worker.acquire(paced) == 0
        worker.shared.clock.advance(8)
    assert not worker.shared.slots


async def test_beside_others_a_worker_near_the_limit_reserves_its_turns(worker: Worker) -> None:
    worker.shared.workers = 2
    worker.shared.slot_wait = 0.5
    await worker.limiter.refresh()
    paced = send_request(7, "bot-messenger", "c", Limits("token", "chat", per_conversation=(Quota(1, 1.0),)))
    assert await worker.acquire(paced) == 0
    assert await worker.acquire(paced) == 0
    assert worker.slept == [0.5]
    assert worker.shared.slots.total() == 1


async def test_a_late_shared_slot_releases_the_conversation(worker: Worker) -> None:
    worker.shared.workers = 2
    worker.shared.slot_wait = MAX_WAIT + 1
    await worker.limiter.refresh()
    paced = send_request(7, "bot-messenger", "c", Limits("token", "", (Quota(1, 1.0),)))
    await worker.acquire(paced)
    assert await worker.acquire(paced) == MAX_WAIT + 1
    assert await worker.acquire(paced) > MAX_WAIT
    assert worker.shared.slots.total() == 1
    assert worker.limiter.throttled() == {7: 0}
    worker.shared.clock.advance(3)
    await worker.acquire(paced)
    assert worker.shared.slots.total() == 2


async def test_buckets_that_have_run_full_are_dropped(worker: Worker) -> None:
    for number in range(MANY_BUCKETS + 1):
        await worker.acquire(
            send_request(7, "x", "c", Limits("t", str(number), per_conversation=(Quota(1, 1.0),)))
        )
    worker.shared.clock.advance(2)
    await worker.limiter.refresh()
    assert len(worker.limiter.quotas) == 0


# --- breakers


async def test_an_instance_that_does_not_answer_is_left_in_peace(worker: Worker) -> None:
    await worker.breaks()
    assert await worker.acquire(request()) == pytest.approx(10)
    assert worker.limiter.throttled() == {7: 0}
    assert await worker.acquire(request(instance_id=8)) == 0
    assert worker.meter.counts["breaker"] == 1


async def test_one_conversation_at_a_time_is_the_probe(worker: Worker) -> None:
    await worker.breaks()
    worker.shared.clock.advance(10)
    assert worker.limiter.throttled() == {7: 1}
    assert await worker.acquire(request(queue_key="probe")) == 0
    assert await worker.acquire(request(queue_key="another")) > 0
    await worker.record(request(queue_key="probe"), OK)
    assert worker.limiter.throttled() == {}
    assert await worker.acquire(request(queue_key="another")) == 0
    assert worker.shared.breakers == {}


async def test_a_probe_that_is_lost_does_not_block_the_instance(worker: Worker) -> None:
    await worker.breaks()
    worker.shared.clock.advance(10)
    await worker.acquire(request(queue_key="lost"))
    worker.shared.clock.advance(61)
    assert await worker.acquire(request(queue_key="another")) == 0


async def test_a_failed_probe_opens_it_for_longer(worker: Worker) -> None:
    await worker.breaks()
    worker.shared.clock.advance(10)
    await worker.acquire(request())
    await worker.record(request(), DOWN)
    assert await worker.acquire(request()) == pytest.approx(20)


async def test_an_answer_in_between_starts_the_count_of_failures_anew(worker: Worker) -> None:
    for number in range(THRESHOLD - 1):
        await worker.record(request(queue_key=f"c{number}"), DOWN)
    await worker.record(request(), OK)
    await worker.record(request(queue_key="another"), DOWN)
    assert worker.limiter.throttled() == {}


@pytest.mark.parametrize("sent", [Sent(Outcome.PERMANENT, "chat not found"), wait(9)])
async def test_any_answer_shows_that_the_platform_is_there(worker: Worker, sent: Sent) -> None:
    await worker.breaks()
    worker.shared.clock.advance(10)
    await worker.acquire(request())
    await worker.record(request(), sent)
    assert worker.limiter.throttled() == {}


async def test_every_worker_learns_of_an_open_breaker_and_of_its_end(worker: Worker, other: Worker) -> None:
    await worker.breaks()
    await other.limiter.refresh()
    assert other.limiter.throttled() == {7: 0}
    worker.shared.clock.advance(10)
    await worker.acquire(request())
    await worker.record(request(), OK)
    await other.limiter.refresh()
    assert other.limiter.throttled() == {}


async def test_a_changed_instance_is_tried_at_once(worker: Worker) -> None:
    await worker.breaks()
    worker.limiter.forget(7)
    assert await worker.acquire(request()) == 0


async def test_a_look_that_began_before_a_breaker_opened_does_not_close_it(worker: Worker) -> None:
    """Nor does one that began before it opened for longer give it back the shorter time."""
    await worker.looks_while(worker.breaks())
    assert await worker.acquire(request()) == pytest.approx(10)

    worker.shared.clock.advance(10)
    await worker.acquire(request())
    await worker.looks_while(worker.record(request(), DOWN))
    assert await worker.acquire(request()) == pytest.approx(20)


async def test_a_look_while_a_breaker_is_written_does_not_close_it(worker: Worker) -> None:
    opened, goes_on = worker.shared.open_breaker, asyncio.Event()

    async def slow(breaker: OpenBreaker, reason: str) -> None:
        await goes_on.wait()
        await opened(breaker, reason)

    worker.shared.open_breaker = slow  # type: ignore[method-assign]
    breaking = asyncio.create_task(worker.breaks())
    while not worker.limiter.throttled():
        await asyncio.sleep(0)
    await worker.limiter.refresh()
    assert worker.limiter.throttled() == {7: 0}
    goes_on.set()
    await breaking
    await worker.limiter.refresh()
    assert worker.limiter.throttled() == {7: 0}


async def test_a_look_that_began_before_a_breaker_closed_does_not_open_it(worker: Worker) -> None:
    await worker.breaks()
    worker.shared.clock.advance(10)
    await worker.acquire(request())
    await worker.looks_while(worker.record(request(), OK))
    assert worker.limiter.throttled() == {}


async def test_while_the_database_is_away_what_is_known_stays(worker: Worker) -> None:
    await worker.breaks()
    worker.shared.away = True
    with pytest.raises(Unavailable):
        await worker.limiter.refresh()
    assert worker.limiter.throttled() == {7: 0}


def test_keys_hold_nothing_of_a_secret() -> None:
    found = send_request(
        7, "bot-messenger", "c", Limits("123:SECRET", "chat", CHAT.per_account, CHAT.per_conversation)
    )
    keys = [found.account, found.conversation, *(budget.key for budget in found.budgets)]
    assert not any("SECRET" in key or "chat:" in key.removeprefix("bot-messenger") for key in keys)
    assert len(set(keys)) == 4
    assert max(map(len, keys)) <= 80


async def test_while_the_database_is_away_what_a_platform_asks_for_holds_here(worker: Worker) -> None:
    worker.shared.away = True
    await worker.record(request(), wait(30))
    await worker.breaks(instance_id=8)
    assert await worker.acquire(request()) == pytest.approx(30)
    assert await worker.acquire(request("another token", instance_id=8)) > 0
