"""Quotas of platforms, kept by token buckets and shared among workers."""

from collections.abc import Mapping, Sequence

from domain.channels.limits import Quota
from domain.delivery.model import MAX_WAIT, MIN_WAIT, Budget
from ports.outbox import SharedLimits


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


class Quotas:
    """A single worker counts in memory; several reserve slots in storage once their own share is used up."""

    def __init__(self, shared: SharedLimits) -> None:
        self._shared = shared
        self.workers = 1
        self._buckets: dict[str, Bucket] = {}
        self._next_slot_at: dict[str, float] = {}

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
        wait = await self._shared.reserve(budget.key, quota.interval / (1 - OWN_SHARE), quota.burst, patience)
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
