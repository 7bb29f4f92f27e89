"""Leases on the queues of conversations."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from domain.values import value

L = TypeVar("L")
L_contra = TypeVar("L_contra", contravariant=True)


@value
class QueueKey:
    """The queue of one conversation, inbound or outbound. `user_id`: whose instance it is."""

    instance_id: int
    session_key: str
    user_id: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Capacity:
    """How many queues a worker can take, at most so many of one instance and of one user.

    `instances` and `users`: what is left to those that hold some already, 0 for nothing.
    """

    total: int
    per_instance: int
    per_user: int
    instances: Mapping[int, int] = field(default_factory=dict)
    users: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Leases(Generic[L]):
    """`more`: other queues were due too, of instances and users that have capacity left."""

    leased: Sequence[L]
    more: bool


class LocalWorker(Protocol[L_contra]):
    """A worker in this process that takes queues leased together with the commit of their rows."""

    def offer(self, key: QueueKey) -> bool:
        """Whether a slot is reserved for the queue, until `take` or `decline`."""
        ...

    @property
    def has_capacity(self) -> bool:
        """Whether a queue that is due would be leased by this worker at once."""
        ...

    def take(self, leased: L_contra) -> None:
        """The queue is leased to this process: work on it."""
        ...

    def decline(self, keys: Iterable[QueueKey], *, lease_uncertain: bool) -> None:
        """Cancels the slots. `lease_uncertain`: the queues may have been leased all the same."""
        ...
