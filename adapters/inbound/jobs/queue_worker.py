"""Leases queues and works on them, many at a time, within everybody's share of the slots."""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Generic, Protocol, TypeVar

from adapters.tasks import cancelled, end
from domain.refusals import StorageAway, Unavailable
from ports.queue import Capacity, Leases, QueueKey

K = TypeVar("K")

Limits = Callable[[], Mapping[int, int]]
"""Instances that get fewer slots for the moment, with how many."""

MOST_USERS = 10_000
"""Instances whose user is remembered."""
NAMED_FROM = 8
"""Whoever holds more than this fraction of a share is named in `capacity`."""


class SlotAllocator:
    """Of `concurrency` slots a quarter may belong to one instance and three quarters to one user; `throttled` names
    instances that get fewer for the moment.

    A lease asks for half of what is free, so that a burst is shared with the other workers; for all of it while more
    is due than the last lease brought, in all (`_backlog`) or of an instance (`_backlogs`).
    """

    def __init__(self, concurrency: int, throttled: Limits) -> None:
        self._concurrency = concurrency
        self._per_instance = max(1, concurrency // 4)
        self._per_user = max(1, concurrency * 3 // 4)
        self._throttled = throttled
        self._acquired = 0
        self._freed = False
        self._instances: Counter[int] = Counter()
        self._users: Counter[str] = Counter()
        self._users_of: dict[int, str] = {}
        self._backlog = False
        self._backlogs: set[int] = set()

    def capacity(self) -> Capacity:
        """What a lease that begins now may bring. Those that hold little are not named, which saves naming all."""
        self._freed = False
        instances = {
            instance_id: _share(self._per_instance - count, all_of_it=instance_id in self._backlogs)
            for instance_id, count in self._instances.items()
            if NAMED_FROM * count > self._per_instance
        }
        for instance_id, most in self._throttled().items():
            left = most - self._instances[instance_id]
            instances[instance_id] = min(left, instances.get(instance_id, left))
        users = {
            user_id: self._per_user - count
            for user_id, count in self._users.items()
            if NAMED_FROM * count > self._per_user
        }
        free = self._concurrency - self._acquired
        total = _share(free, all_of_it=self._backlog)
        return Capacity(total, _share(self._per_instance), self._per_user, instances, users)

    def fulfil(self, capacity: Capacity, leased: Sequence[QueueKey], *, more: bool) -> bool:
        """Counts a lease that brought `leased`, and left some if `more`. Return True if a slot became free
        meanwhile."""
        self._backlog = len(leased) >= capacity.total
        if not more:
            full_users = {user_id for user_id, left in capacity.users.items() if left <= 0}
            self._backlogs = {
                instance_id
                for instance_id in self._backlogs
                if capacity.instances.get(instance_id, 1) <= 0
                or self._users_of.get(instance_id) in full_users
            }
        for instance_id, count in Counter(key.instance_id for key in leased).items():
            if more and count >= capacity.instances.get(instance_id, capacity.per_instance):
                self._backlogs.add(instance_id)
        return self._freed

    def acquire(self, key: QueueKey) -> None:
        self._acquired += 1
        self._instances[key.instance_id] += 1
        self._users[key.user_id] += 1
        if len(self._users_of) >= MOST_USERS:
            self._users_of.clear()
        self._users_of[key.instance_id] = key.user_id

    def release(self, key: QueueKey) -> bool:
        """Return True if somebody may have waited for this slot."""
        was_full = (
            self._acquired >= self._concurrency
            or self.is_full(key.instance_id, key.user_id)
            or key.instance_id in self._throttled()
        )
        self._acquired -= 1
        _decrement(self._instances, key.instance_id)
        _decrement(self._users, key.user_id)
        self._freed = True
        return was_full

    @property
    def has_capacity(self) -> bool:
        """True if what is due next would be leased here at once, whosever it is."""
        return (
            not (self._backlog or self._backlogs or self._throttled()) and self._acquired < self._concurrency
        )

    def is_full(self, instance_id: int, user_id: str) -> bool:
        """Return True if the instance or the user holds all that it may."""
        most = min(self._per_instance, self._throttled().get(instance_id, self._per_instance))
        return self._instances[instance_id] >= most or self._users[user_id] >= self._per_user


def both(one: Limits, other: Limits) -> Limits:
    """What either limits; where both do, the fewer slots count."""

    def throttled() -> Mapping[int, int]:
        ours, theirs = one(), other()
        if not ours or not theirs:
            return ours or theirs
        return {id: min(ours.get(id, left), left) for id, left in {**ours, **theirs}.items()}

    return throttled


def _share(slots: int, *, all_of_it: bool = False) -> int:
    """How many free slots a lease asks for."""
    return slots if all_of_it else (slots + 1) // 2


def _decrement(counter: Counter[K], key: K) -> None:
    counter[key] -= 1
    if counter[key] <= 0:
        del counter[key]


log = logging.getLogger(__name__)

SWEEP_SECONDS = 1.0
CONTENDED_SECONDS = 0.01
"""Until the next lease, where queues were due and none was leased: another worker was just leasing them."""
GATHER_SECONDS = 0.005
BUSY = 32
"""While so many queues are worked on, wake-ups are gathered for a moment: a lease takes as much CPU as some messages,
and so it brings more of them."""
RETRY_SECONDS = 1.0
LONGEST_RETRY = 300.0
"""Seconds after which a queue is leased again whose work failed, over and over, without an outcome."""
MOST_FAILURES = 10_000
"""So many queues are remembered whose work failed."""
RELEASE_SECONDS = 0.5
"""What releasing may take when the process stops: a lease that is not released is freed with its owner's lock."""
RELEASE_TRIES = 30
"""After so many seconds without the database a lease has expired by itself."""


class HasKey(Protocol):
    @property
    def key(self) -> QueueKey: ...


class Waits(Protocol):
    async def wait(self, seconds: float) -> None: ...

    def wake(self) -> None: ...


L = TypeVar("L", bound=HasKey)


class Backoff:
    """What fails at once must not take a slot, and a line in the log, every second."""

    def __init__(self) -> None:
        self._failures: dict[QueueKey, int] = {}

    def failed(self, key: QueueKey) -> float:
        """Seconds until the next try."""
        if len(self._failures) >= MOST_FAILURES:
            self._failures.clear()
        failures = self._failures[key] = self._failures.get(key, 0) + 1
        return float(min(LONGEST_RETRY, RETRY_SECONDS * 2 ** min(failures - 1, 16)))

    def succeeded(self, key: QueueKey) -> None:
        self._failures.pop(key, None)


class LeaseReleaser:
    """Releases leases. One that cannot be released expires by itself."""

    def __init__(self, name: str, release: Callable[[QueueKey, float], Awaitable[None]]) -> None:
        self._name = name
        self._release = release
        self._tasks: set[asyncio.Task[None]] = set()
        self.stopping = False

    async def release(self, key: QueueKey, delay: float = 0.0, tries: int = 1) -> None:
        """For `delay` seconds later. Repeated while the database is away."""
        for left in reversed(range(tries)):
            try:
                return await self._release(key, delay)
            except Unavailable:
                if not left or self.stopping:
                    break
            except Exception:
                log.exception("%s: a lease could not be released; it expires by itself", self._name)
                return None
            await asyncio.sleep(RETRY_SECONDS)
        log.debug("%s: a lease could not be released; it expires by itself", self._name)
        return None

    def release_soon(self, key: QueueKey) -> None:
        task = asyncio.create_task(self.release(key))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def wait(self, seconds: float) -> None:
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=seconds)


class QueueWorker(Generic[L]):
    """Works on events or on messages.

    `concurrency` is how many queues are worked on at once; `SlotAllocator` shares them out. `reclaim` frees what was
    leased in this process's name but is not among the given queues: called after an outage, in which the answer to a
    lease may be lost.
    """

    def __init__(
        self,
        name: str,
        lease: Callable[[Capacity], Awaitable[Leases[L]]],
        work: Callable[[L], Awaitable[None]],
        release: Callable[[QueueKey, float], Awaitable[None]],
        reclaim: Callable[[Collection[QueueKey]], Awaitable[None]],
        wakeup: Waits,
        *,
        concurrency: int = 256,
        throttled: Limits = dict,
    ) -> None:
        self._name = name
        self._lease = lease
        self._work = work
        self._releaser = LeaseReleaser(name, release)
        self._reclaim = reclaim
        self._wakeup = wakeup
        self.slots = SlotAllocator(concurrency, throttled)
        self.tasks: dict[asyncio.Task[None], QueueKey] = {}
        self._backoff = Backoff()
        self._away = False
        self._lease_uncertain = False
        self._running = False
        self._stopping = False

    @property
    def held(self) -> set[QueueKey]:
        """The queues that are worked on: the only leases of ours that may be prolonged."""
        return set(self.tasks.values())

    @property
    def has_capacity(self) -> bool:
        """True if a queue that is due would be leased by this worker at once."""
        return self._running and self.slots.has_capacity

    async def run(self) -> None:
        """Runs until `stop`; an outage of the database is waited out."""
        self._running = True
        while not (self._stopping or cancelled()):
            if pause := await self._next():
                await self._wakeup.wait(pause)
            if len(self.tasks) >= BUSY and not self._stopping:
                await asyncio.sleep(GATHER_SECONDS)

    async def _next(self) -> float:
        """Leases once; seconds until the next lease, where nothing wakes the worker before."""
        try:
            if self._lease_uncertain:
                self._lease_uncertain = False
                await self._reclaim(self.held)
            pause = await self._lease_due()
        except Exception as error:
            if not self._away:
                is_outage = isinstance(error, Unavailable)
                level, cause = (logging.WARNING, None) if is_outage else (logging.ERROR, error)
                log.log(
                    level, "%s: nothing can be leased, waiting for the database", self._name, exc_info=cause
                )
            self._away = self._lease_uncertain = True
            return SWEEP_SECONDS
        if self._away:
            log.info("%s: the database is back", self._name)
        self._away = False
        return pause

    async def _lease_due(self) -> float:
        capacity = self.slots.capacity()
        if capacity.total <= 0:
            return SWEEP_SECONDS
        leases: Leases[L] = Leases((), more=False)
        try:
            leases = await self._lease(capacity)
        finally:
            keys = [leased.key for leased in leases.leased]
            freed = self.slots.fulfil(capacity, keys, more=leases.more)
        for leased in leases.leased:
            if self._stopping:
                await self._releaser.release(leased.key)
            elif self.slots.is_full(leased.key.instance_id, leased.key.user_id):
                self._releaser.release_soon(leased.key)
            else:
                self.slots.acquire(leased.key)
                task = asyncio.create_task(self._work_on(leased))
                self.tasks[task] = leased.key
                task.add_done_callback(self._ended)
        if self._stopping or not leases.more:
            return SWEEP_SECONDS
        return 0.0 if leases.leased or freed else CONTENDED_SECONDS

    def _ended(self, task: asyncio.Task[None]) -> None:
        if self.slots.release(self.tasks.pop(task)):
            self._wakeup.wake()

    async def _work_on(self, leased: L) -> None:
        try:
            await self._work(leased)
            self._backoff.succeeded(leased.key)
        except asyncio.CancelledError:
            await self._releaser.release(leased.key)
            raise
        except StorageAway:
            log.warning("%s: the database went away during work, which is repeated", self._name)
            await self._releaser.release(leased.key, RETRY_SECONDS, RELEASE_TRIES)
        except Exception:
            delay = self._backoff.failed(leased.key)
            log.exception("%s: work on a queue failed; it is repeated in %d s", self._name, delay)
            await self._releaser.release(leased.key, delay, RELEASE_TRIES)

    async def stop(self, grace: float) -> None:
        """Leases no more; waits `grace` seconds for what is under way, then releases it."""
        self._stopping = self._releaser.stopping = True
        self._running = False
        self._wakeup.wake()
        if self.tasks:
            _, unfinished = await asyncio.wait(self.tasks, timeout=grace)
            await end([*unfinished, *self.tasks], self._name, RELEASE_SECONDS)
        await self._releaser.wait(RELEASE_SECONDS)
