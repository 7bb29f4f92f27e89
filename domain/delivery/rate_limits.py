"""The rate limiter: quotas, cooldowns, circuit breakers and concurrency limits of one message."""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from domain.channels.limits import Quota, Scope
from domain.channels.messages import Outcome, Sent
from domain.delivery.circuit_breakers import CircuitBreakers, State
from domain.delivery.concurrency import ConcurrencyLimiter
from domain.delivery.model import MAX_WAIT, MIN_WAIT, Budget, SendRequest, SharedState
from domain.refusals import Unavailable
from ports.outbox import SharedLimits
from ports.system import Clock, Meter

log = logging.getLogger(__name__)


class RateLimiter:
    """Tells delivery when a message may be sent, and learns from how that ended.

    `changed` tells the other workers that the shared state has changed. Without `enforce_quotas` only the answers of
    platforms delay messages.
    """

    def __init__(
        self,
        shared: SharedLimits,
        clock: Clock,
        sleep: Callable[[float], Awaitable[None]],
        changed: Callable[[], None],
        meter: Meter,
        slots: ConcurrencyLimiter,
        *,
        enforce_quotas: bool = True,
    ) -> None:
        self.enforce_quotas = enforce_quotas
        self.sleep = sleep
        self.quotas = Quotas(shared)
        self._cooldowns = Cooldowns(shared, changed)
        self._breakers = CircuitBreakers(shared, changed)
        self._slots = slots
        self._shared = shared
        self._clock = clock
        self._meter = meter
        self._paused_until: dict[int, float] = {}
        self._without_slot: dict[int, SendRequest] = {}

    def throttled(self) -> Mapping[int, int]:
        """Instances of which fewer conversations are to be leased than their share, with how many. Asked several
        times for each message, and nearly always none."""
        if not (self._paused_until or self._without_slot or self._breakers):
            return {}
        now = self._now()
        # Where a credential has all its calls under way, as many conversations wait as are sent.
        self._without_slot = {
            instance_id: request
            for instance_id, request in self._without_slot.items()
            if self._slots.is_full(request.account, request.max_concurrency)
        }
        leases = {
            instance_id: 2 * self._slots.share(request.max_concurrency)
            for instance_id, request in self._without_slot.items()
        }
        self._paused_until = {
            instance_id: until for instance_id, until in self._paused_until.items() if until > now
        }
        leases.update(dict.fromkeys(self._paused_until, 0))
        for instance_id, state in self._breakers.not_closed(now).items():
            leases[instance_id] = 0 if state is State.OPEN else leases.get(instance_id, 1)
        return leases

    async def acquire(self, request: SendRequest) -> float:
        """Waits until a message may be sent: 0 when it may, else the seconds for which to give its conversation back.

        After a 0 one of the credential's slots is taken until `release`.
        """
        while True:
            wait = await self._pass_limits(request)
            if wait or not request.max_concurrency:
                return wait
            if self._slots.is_full(request.account, request.max_concurrency):
                self._without_slot[request.instance_id] = request
            if not (await self._slots.acquire(request.account, request.max_concurrency, MAX_WAIT)):
                self._meter.throttled(request.channel_id, "concurrency")
                return MIN_WAIT
            if self._blocked(request)[0] <= 0:
                return 0.0
            self.release(request)

    async def acquire_now(self, request: SendRequest) -> float:
        """As `acquire`, for a message that may be left out: it waits for nothing, and takes no slot that is due
        later."""
        wait = max(0.0, self._blocked(request)[0])
        if not wait and self.enforce_quotas and request.budgets:
            wait = max((await self.quotas.reserve(request.budgets, self._now(), patience=0.0)).values())
        if wait or not request.max_concurrency:
            return wait
        if self._slots.is_full(request.account, request.max_concurrency):
            return MIN_WAIT
        await self._slots.acquire(request.account, request.max_concurrency)
        return 0.0

    def release(self, request: SendRequest) -> None:
        """Frees the slot, whether the message was sent or not."""
        if request.max_concurrency:
            self._slots.release(request.account, request.max_concurrency)

    async def _pass_limits(self, request: SendRequest) -> float:
        """As `acquire`, without the slot."""
        while True:
            wait = await self._pass_cooldowns(request)
            if wait or not self.enforce_quotas or not request.budgets:
                return wait
            # Seconds until the message may be sent. While the quota of the account is used up, no conversation of the
            # instance is leased.
            waits = await self.quotas.reserve(request.budgets, self._now())
            account_wait = max(
                (wait for key, wait in waits.items() if key.startswith(f"{request.account}#")), default=0.0
            )
            if account_wait > MAX_WAIT:
                self._paused_until[request.instance_id] = self._now() + account_wait - MAX_WAIT
            wait = max(waits.values())
            if wait > MAX_WAIT:
                self._meter.throttled(request.channel_id, "quota")
                return wait
            if not wait:
                return 0.0
            await self.sleep(wait)
            if self._blocked(request)[0] <= 0:  # else all that waited would be sent when the cooldown ends
                return 0.0

    async def _pass_cooldowns(self, request: SendRequest) -> float:
        while True:
            wait, reason = self._blocked(request)
            if wait <= 0:
                return 0.0
            self._meter.throttled(request.channel_id, reason)
            if wait > MAX_WAIT or reason == "breaker":
                return wait
            await self.sleep(wait)

    def _blocked(self, request: SendRequest) -> tuple[float, str]:
        """For how long a breaker or a cooldown blocks the message, 0 or less for not, and which."""
        now = self._now()
        if (wait := self._breakers.remaining(request, now)) > 0:
            return wait, "breaker"
        if (wait := self._cooldowns.remaining(request.account, now)) > 0:
            if wait > MAX_WAIT:
                self._paused_until[request.instance_id] = now + wait
            return wait, "account"
        return self._cooldowns.remaining(request.conversation, now), "conversation"

    async def record(self, request: SendRequest, sent: Sent) -> None:
        """Learns from how a message was answered.

        A failure of the database does not end the work on a message that the platform has taken: then only this
        worker knows of a cooldown or breaker.
        """
        now = self._now()
        try:
            await self._breakers.record(request, sent, now)
            await self._cooldowns.record(request, sent, now, alone=self.quotas.workers == 1)
        except Unavailable:
            log.debug("the database is unavailable: other workers were not told of a limit")
        except Exception:
            log.exception("other workers could not be told of a limit")

    async def refresh(self) -> SharedState:
        """Takes over the state that the workers share, and removes what has expired."""
        self._breakers.begin_refresh()
        state = await self._shared.state()
        now = self._now()
        self._slots.workers = max(1, state.workers)
        self.quotas.refresh(max(1, state.workers), now)
        self._cooldowns.refresh(state.cooldowns, now)
        self._breakers.refresh(state.breakers, now)
        return state

    def forget(self, instance_id: int | None) -> None:
        """An instance has changed, or None: any may have. What delayed its messages may be over."""
        if instance_id is not None:
            self._breakers.forget(instance_id)
            self._paused_until.pop(instance_id, None)
            return
        self.quotas.clear()
        self._cooldowns.clear()
        self._breakers.clear()
        self._paused_until.clear()

    def _now(self) -> float:
        return self._clock.now().timestamp()


class Bucket:
    """The generic cell rate algorithm: one number says how far the quota is used up.

    `share` is the part of the quota that this bucket has (0 to 1).
    """

    __slots__ = ("_interval", "_slack", "_used_until")

    def __init__(self, quota: Quota, share: float = 1.0) -> None:
        self._interval = quota.interval / share
        self._slack = (quota.burst - 1) * quota.interval if share == 1.0 else 0.0
        self._used_until = 0.0

    def wait(self, now: float) -> float:
        """Seconds until a message may go, 0 when it may go now."""
        return max(0.0, self._used_until - self._slack - now)

    def take(self, now: float) -> None:
        """A message goes, now or at the moment that `wait` said."""
        self._used_until = max(self._used_until, now) + self._interval

    def is_full(self, now: float) -> bool:
        """Return True if a new bucket would answer the same."""
        return self._used_until <= now


OWN_SHARE = 0.25
"""What part of a quota the workers split among themselves and count in memory; they reserve the rest."""
MANY_BUCKETS = 1000
"""Above so many, those that are full again are dropped."""


@dataclass(eq=False)
class Quotas:
    """Quotas of platforms. A single worker counts in memory; several reserve slots in storage once their own share
    is used up."""

    shared: SharedLimits
    workers: int = field(default=1, init=False)
    _buckets: dict[str, Bucket] = field(default_factory=dict, init=False)
    _next_slot_at: dict[str, float] = field(default_factory=dict, init=False)

    def __len__(self) -> int:
        return len(self._buckets)

    def refresh(self, workers: int, now: float) -> None:
        """Splits the quotas among so many workers, and removes what has expired."""
        if workers != self.workers:
            self.workers = workers
            self._buckets.clear()
        self._next_slot_at = {key: at for key, at in self._next_slot_at.items() if at > now}
        if len(self._buckets) > MANY_BUCKETS:
            self._buckets = {key: bucket for key, bucket in self._buckets.items() if not bucket.is_full(now)}

    async def reserve(
        self, budgets: Sequence[Budget], now: float, patience: float = MAX_WAIT
    ) -> Mapping[str, float]:
        """Reserves a slot of each budget. Seconds until the slot, by key; where one is over `patience`, that one is
        not reserved."""
        if self.workers == 1:
            # All slots, or none.
            waits: dict[str, float] = {budget.key: self._bucket(budget).wait(now) for budget in budgets}
            if max(waits.values()) <= patience:
                for budget in budgets:
                    self._bucket(budget).take(now)
            return waits
        waits = {}
        for budget in budgets:
            waits[budget.key] = await self._reserve_among_workers(budget, now, patience)
            if waits[budget.key] > patience:
                break
        return waits

    async def _reserve_among_workers(self, budget: Budget, now: float, patience: float) -> float:
        bucket = self._bucket(budget)
        if bucket.wait(now) == 0:
            bucket.take(now)
            return 0.0
        wait = self._next_slot_at.get(budget.key, 0.0) - now
        if wait > MAX_WAIT:  # nobody asks again while the next slot is far off
            return wait
        quota = budget.quota.among(self.workers)
        wait = await self.shared.reserve(budget.key, quota.interval / (1 - OWN_SHARE), quota.burst, patience)
        if wait > MAX_WAIT:
            self._next_slot_at[budget.key] = now + wait + MIN_WAIT
        return wait

    def _bucket(self, budget: Budget) -> Bucket:
        bucket = self._buckets.get(budget.key)
        if bucket is None:
            alone = self.workers == 1
            quota = budget.quota if alone else budget.quota.among(self.workers)
            bucket = self._buckets[budget.key] = Bucket(quota, 1.0 if alone else OWN_SHARE / self.workers)
        return bucket

    def clear(self) -> None:
        self._buckets.clear()
        self._next_slot_at.clear()


MAX_COOLDOWN = 3600.0
"""Seconds that a platform can ask for at a time; if it means more, it will say so again."""


@dataclass(eq=False)
class Cooldowns:
    """Until when nothing is sent with an account or into a conversation, by key. `changed` tells other workers."""

    shared: SharedLimits
    changed: Callable[[], None]
    _until: dict[str, float] = field(default_factory=dict, init=False)
    _refused: dict[str, dict[str, float]] = field(default_factory=dict, init=False)

    def remaining(self, key: str, now: float) -> float:
        """Seconds left, 0 or less for none."""
        return self._until.get(key, 0.0) - now

    async def record(self, request: SendRequest, sent: Sent, now: float, *, alone: bool) -> None:
        """Starts the cooldown that an answer asks for. `alone`: no other worker has to know of a used-up quota."""
        if sent.outcome is Outcome.RETRY_AFTER:
            seconds = sent.retry_after if sent.retry_after is not None else MIN_WAIT
            scope = sent.scope or self._inferred_scope(request, seconds, now)
            key = (scope is Scope.CONVERSATION and request.conversation) or request.account
            await self._share(key, self._start(key, seconds, now))
        elif sent.outcome is Outcome.SENT and sent.retry_after:
            key = request.conversation or request.account
            seconds = self._start(key, sent.retry_after, now)
            if not alone:
                await self._share(key, seconds)

    def _start(self, key: str, seconds: float, now: float) -> float:
        """Starts a cooldown, unless a longer one runs. The seconds within their bounds."""
        seconds = min(max(seconds, 0.0), MAX_COOLDOWN)
        self._until[key] = max(now + seconds, self._until.get(key, 0.0))
        return seconds

    async def _share(self, key: str, seconds: float) -> None:
        await self.shared.cool_down(key, seconds)
        self.changed()

    def _inferred_scope(self, request: SendRequest, seconds: float, now: float) -> Scope:
        """A platform that refuses two conversations of an account at the same time means the account."""
        refused = self._refused.setdefault(request.account, {})
        others = any(until > now for key, until in refused.items() if key != request.conversation)
        refused[request.conversation] = now + min(seconds, MAX_COOLDOWN)
        return Scope.ACCOUNT if others else Scope.CONVERSATION

    def refresh(self, shared: Sequence[tuple[str, float]], now: float) -> None:
        """Takes over the shared cooldowns, seconds left by key, and removes what has expired."""
        for key, seconds in shared:
            self._start(key, seconds, now)
        self._until = _running(self._until, now)
        running = {account: _running(refused, now) for account, refused in self._refused.items()}
        self._refused = {account: refused for account, refused in running.items() if refused}

    def clear(self) -> None:
        self._until.clear()
        self._refused.clear()


def _running(until: dict[str, float], now: float) -> dict[str, float]:
    return {key: end for key, end in until.items() if end > now}
