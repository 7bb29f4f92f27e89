"""Leases on the queues of conversations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

L = TypeVar("L")


@dataclass(frozen=True, slots=True)
class QueueKey:
    """A leased queue of one conversation, inbound or outbound. `user_id`: whose instance it is."""

    instance_id: int
    session_key: str
    user_id: str = field(default="", compare=False)

    @property
    def key(self) -> str:
        """The former name."""
        return self.session_key


@dataclass(frozen=True, slots=True)
class Capacity:
    """How many lanes a worker has places for.

    No instance and no user gets more than its share of them; `instances` and `users` say what is left to
    those that hold some already, 0 for nothing.
    """

    total: int
    per_instance: int
    per_user: int
    instances: Mapping[int, int] = field(default_factory=dict)
    users: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Leases(Generic[L]):
    """What a lease brought. `more`: others waited too, that are not of those to whom nothing is left. There was no
    room for them, or another worker was just about them."""

    leased: Sequence[L]
    more: bool
