"""Who holds a worker's places, and for whom there are some."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import TypeVar

from ports.storage import Lane, Room

K = TypeVar("K")

Restraints = Callable[[], Mapping[int, int]]
"""Instances that get fewer places for the moment, with how many."""

REMEMBERED = 10_000
"""Instances whose user is remembered."""
NAMED = 8
"""Whoever holds more than this part of a share is named in the question for more."""


class Places:
    """Of `concurrency` places a quarter may belong to one instance and three quarters to one user, so that nobody
    takes all; `restrained` names instances that get fewer for the moment.

    Lanes are taken in two ways: leased from among those that wait, or kept a place for while their first rows are
    committed. The second must not overtake the first: nothing is kept while more wait than were taken.
    """

    def __init__(self, concurrency: int, restrained: Restraints) -> None:
        self._concurrency = concurrency
        self._per_instance = max(1, concurrency // 4)
        self._per_user = max(1, concurrency * 3 // 4)
        self._restrained = restrained
        self._held = 0
        self._asked = 0
        self._instances: Counter[int] = Counter()
        self._users: Counter[str] = Counter()
        self._users_of: dict[int, str] = {}
        self._kept: dict[Lane, str] = {}
        self._behind = False
        self._passed_over: set[int] = set()

    @property
    def kept(self) -> set[Lane]:
        return set(self._kept)

    def room(self) -> Room:
        """Those that hold little are not named, which saves naming all: what comes beyond a share is given back."""
        instances = {
            each: self._per_instance - count
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
        lanes = free if self._behind else (free + 1) // 2
        return Room(lanes, self._per_instance, self._per_user, instances, users)

    def ask(self, room: Room) -> None:
        """A lease for so many is under way: their places are not kept for others."""
        self._asked = room.lanes

    def answered(self, room: Room, count: int) -> None:
        """It brought `count` lanes."""
        self._asked = 0
        self._behind = count >= room.lanes
        full_users = {user for user, left in room.users.items() if left <= 0}
        self._passed_over = {
            each
            for each in self._passed_over
            if room.instances.get(each, 1) <= 0 or self._users_of.get(each) in full_users
        }

    def occupy(self, lane: Lane) -> None:
        self._held += 1
        self._count(lane.instance_id, lane.user_id)
        if len(self._users_of) >= REMEMBERED:
            self._users_of.clear()
        self._users_of[lane.instance_id] = lane.user_id

    def leave(self, lane: Lane) -> bool:
        """Whether somebody may have waited for just this place."""
        crowded = (
            self._held + len(self._kept) >= self._concurrency
            or self.full(lane.instance_id, lane.user_id)
            or lane.instance_id in self._restrained()
        )
        self._held -= 1
        self._discount(lane.instance_id, lane.user_id)
        return crowded

    def keep(self, lane: Lane) -> bool:
        """Keeps a place for a lane, where there is one and nobody has waited longer. An instance whose user is not
        known yet comes by the other way first."""
        user_id = lane.user_id or self._users_of.get(lane.instance_id)
        if user_id is None or self._behind or lane in self._kept:
            return False
        if self._held + len(self._kept) + self._asked >= self._concurrency:
            self._behind = not self._asked
            return False
        if lane.instance_id in self._passed_over or self.full(lane.instance_id, user_id):
            self._passed_over.add(lane.instance_id)
            return False
        self._kept[lane] = user_id
        self._count(lane.instance_id, user_id)
        return True

    def let_go(self, lane: Lane) -> None:
        self._discount(lane.instance_id, self._kept.pop(lane))

    def full(self, instance_id: int, user_id: str) -> bool:
        """Whether the instance or the user holds all that it may."""
        most = min(self._per_instance, self._restrained().get(instance_id, self._per_instance))
        return self._instances[instance_id] >= most or self._users[user_id] >= self._per_user

    def _count(self, instance_id: int, user_id: str) -> None:
        self._instances[instance_id] += 1
        self._users[user_id] += 1

    def _discount(self, instance_id: int, user_id: str) -> None:
        _less(self._instances, instance_id)
        _less(self._users, user_id)


def both(one: Restraints, other: Restraints) -> Restraints:
    """What either restrains; where both do, the fewer places count."""

    def restrained() -> Mapping[int, int]:
        ours, theirs = one(), other()
        if not ours or not theirs:
            return ours or theirs
        return {each: min(ours.get(each, left), left) for each, left in {**ours, **theirs}.items()}

    return restrained


def full(room: Room) -> int:
    """How many instances and users get nothing more."""
    return sum(left <= 0 for shares in (room.instances, room.users) for left in shares.values())


def _less(counter: Counter[K], key: K) -> None:
    counter[key] -= 1
    if counter[key] <= 0:
        del counter[key]
