"""Who holds a worker's slots, and for whom there are some."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from ports.queue import Capacity, QueueKey

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

    Queues come in two ways: leased from among the due ones, or by direct dispatch, for which a slot is reserved while
    their first rows are committed. A lease asks for half of what is free, so that there is something to reserve
    meanwhile. Direct dispatch must not overtake due queues: nothing is reserved while more are due than were leased,
    in all (`_backlog`) or of an instance (`_backlogs`).
    """

    def __init__(self, concurrency: int, throttled: Limits) -> None:
        self._concurrency = concurrency
        self._per_instance = max(1, concurrency // 4)
        self._per_user = max(1, concurrency * 3 // 4)
        self._throttled = throttled
        self._acquired = 0
        self._requested: Capacity | None = None
        self._freed = False
        self._instances: Counter[int] = Counter()
        self._users: Counter[str] = Counter()
        self._users_of: dict[int, str] = {}
        self._reserved: dict[QueueKey, str] = {}
        self._backlog = False
        self._backlogs: set[int] = set()

    @property
    def reserved(self) -> set[QueueKey]:
        return set(self._reserved)

    def capacity(self) -> Capacity:
        """What a lease may bring. Those that hold little are not named, which saves naming all."""
        instances = {
            instance_id: self._left(instance_id, self._per_instance - count)
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
        free = self._concurrency - self._acquired - len(self._reserved)
        total = free if self._backlog else _half(free)
        return Capacity(total, _half(self._per_instance), self._per_user, instances, users)

    def _left(self, instance_id: int, left: int) -> int:
        return left if instance_id in self._backlogs else _half(left)

    def request(self, capacity: Capacity) -> None:
        """A lease for so much begins: its slots are not reserved for others."""
        self._requested, self._freed = capacity, False

    def fulfil(self, capacity: Capacity, leased: Sequence[QueueKey], *, more: bool) -> bool:
        """The lease brought `leased`, and left some if `more`. Whether a slot became free meanwhile."""
        self._requested = None
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
        self._count(key.instance_id, key.user_id)
        if len(self._users_of) >= MOST_USERS:
            self._users_of.clear()
        self._users_of[key.instance_id] = key.user_id

    def release(self, key: QueueKey) -> bool:
        """Whether somebody may have waited for this slot."""
        wanted = self._is_wanted(key.instance_id, key.user_id)
        self._acquired -= 1
        self._uncount(key.instance_id, key.user_id)
        return wanted

    def reserve(self, key: QueueKey) -> bool:
        """Reserves a slot, where there is one and nobody has waited longer. An instance whose user is not known yet
        is leased first."""
        user_id = key.user_id or self._users_of.get(key.instance_id)
        if user_id is None or self._backlog or key in self._reserved:
            return False
        requested = self._requested.total if self._requested else 0
        if self._acquired + len(self._reserved) + requested >= self._concurrency:
            self._backlog = not requested
            return False
        if key.instance_id in self._backlogs or self.is_full(key.instance_id, user_id, self._requested):
            self._backlogs.add(key.instance_id)
            return False
        self._reserved[key] = user_id
        self._count(key.instance_id, user_id)
        return True

    def cancel(self, key: QueueKey) -> bool:
        """Whether somebody may have waited for this slot."""
        user_id = self._reserved[key]
        wanted = self._is_wanted(key.instance_id, user_id)
        del self._reserved[key]
        self._uncount(key.instance_id, user_id)
        return wanted

    @property
    def has_capacity(self) -> bool:
        """Whether what is due next would be leased here at once, whosever it is."""
        used = self._acquired + len(self._reserved)
        return not (self._backlog or self._backlogs or self._throttled()) and used < self._concurrency

    def is_full(self, instance_id: int, user_id: str, requested: Capacity | None = None) -> bool:
        """Whether the instance or the user holds all that it may, with what `requested` may bring them."""
        most = min(self._per_instance, self._throttled().get(instance_id, self._per_instance))
        of_instance, of_user = self._instances[instance_id], self._users[user_id]
        if requested:
            coming = requested.instances.get(instance_id, requested.per_instance)
            of_instance += max(0, min(requested.total, coming))
            of_user += max(0, min(requested.total, requested.users.get(user_id, requested.per_user)))
        return of_instance >= most or of_user >= self._per_user

    def _is_wanted(self, instance_id: int, user_id: str) -> bool:
        return (
            self._acquired + len(self._reserved) >= self._concurrency
            or self.is_full(instance_id, user_id)
            or instance_id in self._throttled()
        )

    def _count(self, instance_id: int, user_id: str) -> None:
        self._instances[instance_id] += 1
        self._users[user_id] += 1

    def _uncount(self, instance_id: int, user_id: str) -> None:
        _decrement(self._instances, instance_id)
        _decrement(self._users, user_id)
        self._freed = True


def both(one: Limits, other: Limits) -> Limits:
    """What either limits; where both do, the fewer slots count."""

    def throttled() -> Mapping[int, int]:
        ours, theirs = one(), other()
        if not ours or not theirs:
            return ours or theirs
        return {id: min(ours.get(id, left), left) for id, left in {**ours, **theirs}.items()}

    return throttled


def _half(number: int) -> int:
    return (number + 1) // 2


def _decrement(counter: Counter[K], key: K) -> None:
    counter[key] -= 1
    if counter[key] <= 0:
        del counter[key]
