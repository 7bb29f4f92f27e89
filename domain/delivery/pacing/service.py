"""Keeps the limits of platforms over all workers, and leaves those in peace that do not answer."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Set

from domain.channels.limits import Scope
from domain.channels.messages import Outcome, Sent
from domain.delivery.breaker import FAILURES, Breaker, State
from domain.delivery.buckets import Bucket
from domain.delivery.concurrency.service import ConcurrencyLimiter
from domain.delivery.pacing.model import Budget, Sending
from domain.refusals import Unavailable
from ports.clock import Clock
from ports.metrics import Meter
from ports.pacing import OpenBreaker, Pace

log = logging.getLogger(__name__)

PATIENCE = 5.0
"""Seconds that a conversation waits for its turn in the place that it has; longer waits give the place back."""
OWN_SHARE = 0.25
"""What part of a quota the workers split among themselves, free of any statement; they reserve the rest."""
LONGEST_HOLD = 3600.0
"""What a platform may ask for at a time; if it means more, it will say so again."""
SHORTEST_HOLD = 1.0
PROBE_SECONDS = 60.0
"""After so long without a result another conversation may be the probe."""
MANY_BUCKETS = 1000
"""Above so many, those are dropped at each refresh that have nothing to remember."""


class RateLimiter:
    """What a worker asks before it sends, and tells when it has sent.

    `sleep` waits for seconds; `changed` tells the other workers that what they share has changed. Without
    `quotas` only what platforms answer holds anything back.
    """

    def __init__(
        self,
        pace: Pace,
        clock: Clock,
        sleep: Callable[[float], Awaitable[None]],
        changed: Callable[[], None],
        meter: Meter,
        slots: ConcurrencyLimiter,
        *,
        quotas: bool = True,
    ) -> None:
        self._quotas = quotas
        self._slots = slots
        self._crowded: dict[int, Sending] = {}
        self._pace = pace
        self._clock = clock
        self._sleep = sleep
        self._changed = changed
        self._meter = meter
        self._workers = 1
        self._buckets: dict[str, Bucket] = {}
        self._far_off: dict[str, float] = {}
        self._holds: dict[str, float] = {}
        self._held_places: dict[str, dict[str, float]] = {}
        self._restraints: dict[int, float] = {}
        self._breakers: dict[int, Breaker] = {}
        self._probes: dict[int, tuple[str, float]] = {}
        self._telling: Counter[int] = Counter()
        self._told: set[int] = set()

    def throttled(self) -> Mapping[int, int]:
        """Instances that get fewer places than their share, with how many."""
        if not self._restraints and not self._breakers and not self._crowded:
            return {}
        now = self._now()
        found = self._lacking_slots()
        self._restraints = {each: until for each, until in self._restraints.items() if until > now}
        found.update(dict.fromkeys(self._restraints, 0))
        for instance_id, breaker in self._breakers.items():
            state = breaker.state(now)
            if state is not State.CLOSED:
                found[instance_id] = 0 if state is State.OPEN else found.get(instance_id, 1)
        return found

    def _lacking_slots(self) -> dict[int, int]:
        """Instances whose credential has all its calls under way: as many conversations wait in places as go."""
        self._crowded = {
            each: sending
            for each, sending in self._crowded.items()
            if self._slots.is_full(sending.account, sending.max_concurrency)
        }
        return {
            each: 2 * self._slots.share(sending.max_concurrency) for each, sending in self._crowded.items()
        }

    async def turn(self, sending: Sending) -> float:
        """Waits for the turn of a message: 0 when it may go, else the seconds for which its place is given back.

        After a 0 one of the credential's slots is held until `left`.
        """
        while True:
            later = await self._allowed(sending)
            if later or not sending.max_concurrency:
                return later
            if not await self._slot(sending):
                self._meter.held_back(sending.channel_id, "concurrency")
                return SHORTEST_HOLD
            if self._held(sending)[0] <= 0:
                return 0.0
            self.left(sending)

    async def _slot(self, sending: Sending) -> bool:
        if self._slots.is_full(sending.account, sending.max_concurrency):
            self._crowded[sending.instance_id] = sending
        return await self._slots.acquire(sending.account, sending.max_concurrency, PATIENCE)

    def left(self, sending: Sending) -> None:
        """The message is sent, or not: its slot is free."""
        if sending.max_concurrency:
            self._slots.release(sending.account, sending.max_concurrency)

    async def _allowed(self, sending: Sending) -> float:
        """The same without the slot."""
        while True:
            later = await self._past_holds(sending)
            if later or not self._quotas or not sending.budgets:
                return later
            wait = await self._reserved(sending)
            if wait > PATIENCE:
                self._meter.held_back(sending.channel_id, "quota")
                return wait
            if not wait:
                return 0.0
            await self._sleep(wait)
            if self._held(sending)[0] <= 0:  # else everybody who waited would go when the hold ends
                return 0.0

    async def _past_holds(self, sending: Sending) -> float:
        """Waits until nothing holds the message back, or says how long that would take."""
        if not self._holds and not self._breakers:
            return 0.0
        while True:
            seconds, reason = self._held(sending)
            if seconds <= 0:
                return 0.0
            self._meter.held_back(sending.channel_id, reason)
            if seconds > PATIENCE or reason == "breaker":
                return seconds
            await self._sleep(seconds)

    def _held(self, sending: Sending) -> tuple[float, str]:
        now = self._now()
        breaker = self._breakers.get(sending.instance_id)
        if breaker is not None and not self._may_pass(breaker, sending, now):
            return max(breaker.until - now, SHORTEST_HOLD), "breaker"
        account = self._holds.get(sending.account, 0.0) - now
        if account > 0:
            if account > PATIENCE:
                self._restraints[sending.instance_id] = now + account
            return account, "account"
        return self._holds.get(sending.place, 0.0) - now, "place"

    def _may_pass(self, breaker: Breaker, sending: Sending, now: float) -> bool:
        """Half open, one conversation at a time is the probe."""
        state = breaker.state(now)
        if state is not State.HALF_OPEN:
            return state is State.CLOSED
        probe, since = self._probes.get(sending.instance_id, (sending.conversation, now))
        if probe != sending.conversation and now - since < PROBE_SECONDS:
            return False
        self._probes[sending.instance_id] = (sending.conversation, now)
        return True

    async def _reserved(self, sending: Sending) -> float:
        """Reserves a turn; over `PATIENCE` none is."""
        now = self._now()
        buckets = [(budget, self._bucket(budget)) for budget in sending.budgets]
        if self._workers == 1:
            waits = {budget.key: bucket.wait(now) for budget, bucket in buckets}
            if max(waits.values()) <= PATIENCE:
                for _, bucket in buckets:
                    bucket.take(now)
            for key, wait in waits.items():
                self._restrain(sending, key, wait)
            return max(waits.values())
        wait = 0.0
        for budget, bucket in buckets:
            if bucket.wait(now) == 0:
                bucket.take(now)
                continue
            wait = max(wait, await self._shared_turn(budget, now))
            if wait > PATIENCE:
                self._restrain(sending, budget.key, wait)
                break
        return wait

    def _restrain(self, sending: Sending, key: str, wait: float) -> None:
        """While the account has used up its quota, no conversation of the instance is taken up."""
        if wait > PATIENCE and sending.is_of_account(key):
            self._restraints[sending.instance_id] = self._now() + wait - PATIENCE

    async def _shared_turn(self, budget: Budget, now: float) -> float:
        """A turn of those that all workers take from; while they are far off nobody asks again."""
        next_slot_at = self._far_off.get(budget.key, 0.0) - now
        if next_slot_at > PATIENCE:
            return next_slot_at
        quota = budget.quota.among(self._workers)
        wait = await self._pace.reserve(budget.key, quota.interval / (1 - OWN_SHARE), quota.burst, PATIENCE)
        if wait > PATIENCE:
            self._far_off[budget.key] = now + wait + SHORTEST_HOLD
        return wait

    def _bucket(self, budget: Budget) -> Bucket:
        bucket = self._buckets.get(budget.key)
        if bucket is None:
            alone = self._workers == 1
            quota = budget.quota if alone else budget.quota.among(self._workers)
            bucket = self._buckets[budget.key] = Bucket(quota, 1.0 if alone else OWN_SHARE / self._workers)
        return bucket

    async def ended(self, sending: Sending, sent: Sent) -> None:
        """How a sending ended: what the platform asks for is kept, and whether it answers at all.

        What a failure of the database keeps from the other workers still holds here: it must not end the work
        on a part that the platform has taken.
        """
        try:
            await self._learned(sending, sent)
        except Unavailable:
            log.debug("the other workers were not told what a platform asks for, the database is away")
        except Exception:
            log.exception("the other workers were not told what a platform asks for")

    async def _learned(self, sending: Sending, sent: Sent) -> None:
        if sent.outcome in FAILURES:
            await self._failed(sending, sent)
        elif sending.instance_id in self._breakers:
            await self._answered(sending.instance_id)
        if sent.outcome is Outcome.RETRY_AFTER:
            await self._refused(sending, sent)
        elif sent.outcome is Outcome.SENT and sent.retry_after:
            await self._hold(sending.place or sending.account, sent.retry_after, alone=self._workers == 1)

    async def _failed(self, sending: Sending, sent: Sent) -> None:
        breaker = self._breakers.setdefault(sending.instance_id, Breaker())
        now = self._now()
        if breaker.failed(sending.conversation, now):
            self._probes.pop(sending.instance_id, None)
            log.warning(
                "the platform does not answer: replies wait for %d s",
                breaker.until - now,
                extra={"instance": sending.instance_id},
            )
            opened = OpenBreaker(sending.instance_id, breaker.until - now, breaker.openings)
            await self._tell(sending.instance_id, self._pace.opened(opened, sent.detail))

    async def _answered(self, instance_id: int) -> None:
        breaker = self._breakers.pop(instance_id)
        self._probes.pop(instance_id, None)
        if breaker.succeeded():
            log.info("the platform answers again: replies go out", extra={"instance": instance_id})
            await self._tell(instance_id, self._pace.closed(instance_id))

    async def _tell(self, instance_id: int, written: Awaitable[None]) -> None:
        """Tells the others of a breaker; a look that began before that brings nothing new of it."""
        self._telling[instance_id] += 1
        try:
            await written
        finally:
            self._telling[instance_id] -= 1
            self._told.add(instance_id)
        self._changed()

    async def _refused(self, sending: Sending, sent: Sent) -> None:
        seconds = sent.retry_after if sent.retry_after is not None else SHORTEST_HOLD
        scope = sent.scope or self._inferred(sending, seconds)
        key = sending.place if scope is Scope.PLACE and sending.place else sending.account
        await self._hold(key, seconds)

    def _inferred(self, sending: Sending, seconds: float) -> Scope:
        """A platform that refuses two conversations of an account at the same time means the account."""
        now = self._now()
        places = self._held_places.setdefault(sending.account, {})
        others = any(until > now for place, until in places.items() if place != sending.place)
        places[sending.place] = now + min(seconds, LONGEST_HOLD)
        return Scope.ACCOUNT if others else Scope.PLACE

    async def _hold(self, key: str, seconds: float, *, alone: bool = False) -> None:
        seconds = min(max(seconds, 0.0), LONGEST_HOLD)
        until = self._now() + seconds
        self._holds[key] = max(until, self._holds.get(key, 0.0))
        if not alone:
            await self._pace.hold(key, seconds)
            self._changed()

    async def refresh(self) -> None:
        """Takes over what the other workers found, and forgets what has run out."""
        self._telling = +self._telling
        self._told = set(self._telling)
        state = await self._pace.state()
        known_better = self._told | set(+self._telling)
        now = self._now()
        if max(1, state.workers) != self._workers:
            self._workers = self._slots.workers = max(1, state.workers)
            self._buckets.clear()
        for key, seconds in state.holds:
            self._holds[key] = max(now + seconds, self._holds.get(key, 0.0))
        self._adopt({each.instance_id: each for each in state.breakers}, known_better, now)
        self._tidy(now)

    def _adopt(self, shared: Mapping[int, OpenBreaker], known_better: Set[int], now: float) -> None:
        for instance_id, each in shared.items():
            if instance_id in known_better:
                continue
            breaker = self._breakers.setdefault(instance_id, Breaker())
            if each.openings > breaker.openings or breaker.until > now + each.seconds:
                breaker.adopt(each.openings, now + each.seconds)
        for instance_id, breaker in list(self._breakers.items()):
            if breaker.openings and instance_id not in shared and instance_id not in known_better:
                self.forget(instance_id)

    def _tidy(self, now: float) -> None:
        self._holds = {key: until for key, until in self._holds.items() if until > now}
        self._far_off = {key: until for key, until in self._far_off.items() if until > now}
        for account, places in list(self._held_places.items()):
            left = {place: until for place, until in places.items() if until > now}
            if left:
                self._held_places[account] = left
            else:
                del self._held_places[account]
        if len(self._buckets) > MANY_BUCKETS:
            self._buckets = {key: each for key, each in self._buckets.items() if not each.idle(now)}

    def forget(self, instance_id: int | None) -> None:
        """An instance has changed, or None: any may have. What was held against it may be settled."""
        if instance_id is None:
            for clear in (
                self._buckets.clear,
                self._far_off.clear,
                self._holds.clear,
                self._held_places.clear,
            ):
                clear()
            for clear in (self._restraints.clear, self._breakers.clear, self._probes.clear):
                clear()
            return
        self._breakers.pop(instance_id, None)
        self._probes.pop(instance_id, None)
        self._restraints.pop(instance_id, None)

    def _now(self) -> float:
        return self._clock.now().timestamp()
