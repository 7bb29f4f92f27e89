"""Who holds a worker's places, and for whom there are some."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from ports.queue import Capacity, QueueKey

K = TypeVar("K")

Restraints = Callable[[], Mapping[int, int]]
"""Instances that get fewer places for the moment, with how many."""

REMEMBERED = 10_000
"""Instances whose user is remembered."""
NAMED = 8
"""Whoever holds more than this part of a share is named in the question for more."""


class SlotAllocator:
    """Of `concurrency` places a quarter may belong to one instance and three quarters to one user, so that nobody
    takes all; `throttled` names instances that get fewer for the moment.

    Lanes are taken in two ways: leased from among those that wait, or kept a place for while their first rows are
    committed. A lease asks for half of what is left, so that there is something to keep meanwhile. The second way
    must not overtake the first: nothing is kept while more wait than were taken, neither in all nor of an instance.
    """

    def __init__(self, concurrency: int, throttled: Restraints) -> None:
        self._concurrency = concurrency
        self._per_instance = max(1, concurrency // 4)
        self._per_user = max(1, concurrency * 3 // 4)
        self._restrained = throttled
        self._held = 0
        self._asking: Capacity | None = None
        self._left = False
        self._instances: Counter[int] = Counter()
        self._users: Counter[str] = Counter()
        self._users_of: dict[int, str] = {}
        self._kept: dict[QueueKey, str] = {}
        self._behind = False
        self._passed_over: set[int] = set()

    @property
    def kept(self) -> set[QueueKey]:
        return set(self._kept)

    def room(self) -> Capacity:
        """Those that hold little are not named, which saves naming all."""
        instances = {
            each: self._share(each, self._per_instance - count)
            for each, count in self._instances.items()
            if NAMED * count > self._per_instance
        }
        for instance_id, most in self._restrained().items():
            left = most - self._instances[instance_id]
            instances[instance_id] = min(left, instances.get(instance_id, left))
        users = {
            each: self._per_user - count
            for each, count in self._users.items()
            if NAMED * count > self._per_user
        }
        free = self._concurrency - self._held - len(self._kept)
        keys = free if self._behind else _half(free)
        return Capacity(keys, _half(self._per_instance), self._per_user, instances, users)

    def _share(self, instance_id: int, left: int) -> int:
        return left if instance_id in self._passed_over else _half(left)

    def ask(self, room: Capacity) -> None:
        """A lease for so many is under way: their places are not kept for others."""
        self._asking, self._left = room, False

    def answered(self, room: Capacity, keys: Sequence[QueueKey], *, more: bool) -> bool:
        """It brought `lanes`, and left some if `more`. Whether a place was left meanwhile."""
        self._asking = None
        self._behind = len(keys) >= room.total
        if not more:
            full_users = {user for user, left in room.users.items() if left <= 0}
            self._passed_over = {
                each
                for each in self._passed_over
                if room.instances.get(each, 1) <= 0 or self._users_of.get(each) in full_users
            }
        for each, count in Counter(key.instance_id for key in keys).items():
            if more and count >= room.instances.get(each, room.per_instance):
                self._passed_over.add(each)
        return self._left

    def acquire(self, key: QueueKey) -> None:
        self._held += 1
        self._count(key.instance_id, key.user_id)
        if len(self._users_of) >= REMEMBERED:
            self._users_of.clear()
        self._users_of[key.instance_id] = key.user_id

    def release(self, key: QueueKey) -> bool:
        """Whether somebody may have waited for just this place."""
        crowded = self._crowded(key.instance_id, key.user_id)
        self._held -= 1
        self._discount(key.instance_id, key.user_id)
        return crowded

    def _crowded(self, instance_id: int, user_id: str) -> bool:
        return (
            self._held + len(self._kept) >= self._concurrency
            or self.full(instance_id, user_id)
            or instance_id in self._restrained()
        )

    def reserve(self, key: QueueKey) -> bool:
        """Keeps a place for a lane, where there is one and nobody has waited longer. An instance whose user is not
        known yet comes by the other way first."""
        user_id = key.user_id or self._users_of.get(key.instance_id)
        if user_id is None or self._behind or key in self._kept:
            return False
        asked = self._asking.total if self._asking else 0
        if self._held + len(self._kept) + asked >= self._concurrency:
            self._behind = not asked
            return False
        if key.instance_id in self._passed_over or self._spoken_for(key.instance_id, user_id):
            self._passed_over.add(key.instance_id)
            return False
        self._kept[key] = user_id
        self._count(key.instance_id, user_id)
        return True

    def cancel(self, key: QueueKey) -> bool:
        """Whether somebody may have waited for just this place."""
        user_id = self._kept[key]
        crowded = self._crowded(key.instance_id, user_id)
        del self._kept[key]
        self._discount(key.instance_id, user_id)
        return crowded

    def full(self, instance_id: int, user_id: str) -> bool:
        """Whether the instance or the user holds all that it may."""
        return self._full(instance_id, user_id)

    def _spoken_for(self, instance_id: int, user_id: str) -> bool:
        """The same with what the lease that is under way may bring them."""
        room = self._asking
        if room is None:
            return self.full(instance_id, user_id)
        of_instance = min(room.total, room.instances.get(instance_id, room.per_instance))
        of_user = min(room.total, room.users.get(user_id, room.per_user))
        return self._full(instance_id, user_id, max(0, of_instance), max(0, of_user))

    def _full(self, instance_id: int, user_id: str, of_instance: int = 0, of_user: int = 0) -> bool:
        most = min(self._per_instance, self._restrained().get(instance_id, self._per_instance))
        return (
            self._instances[instance_id] + of_instance >= most
            or self._users[user_id] + of_user >= self._per_user
        )

    def _count(self, instance_id: int, user_id: str) -> None:
        self._instances[instance_id] += 1
        self._users[user_id] += 1

    def _discount(self, instance_id: int, user_id: str) -> None:
        _less(self._instances, instance_id)
        _less(self._users, user_id)
        self._left = True


def both(one: Restraints, other: Restraints) -> Restraints:
    """What either restrains; where both do, the fewer places count."""

    def throttled() -> Mapping[int, int]:
        ours, theirs = one(), other()
        if not ours or not theirs:
            return ours or theirs
        return {each: min(ours.get(each, left), left) for each, left in {**ours, **theirs}.items()}

    return throttled


def _half(number: int) -> int:
    return (number + 1) // 2


def _less(counter: Counter[K], key: K) -> None:
    counter[key] -= 1
    if counter[key] <= 0:
        del counter[key]
