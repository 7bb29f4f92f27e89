"""Leases that are taken in the statement that commits the rows, for the worker of the same process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Generic, TypeVar

from adapters.outbound.storage.arrays import Bigints, Texts
from adapters.outbound.storage.failures import is_rolled_back
from ports.direct_dispatch import LocalWorker
from ports.queue import QueueKey

L = TypeVar("L")


class Offered(Generic[L]):
    """The lanes for which there are places; `taken` gets what the statement leased of them."""

    def __init__(self, keys: Sequence[QueueKey]) -> None:
        self.lanes = keys
        self.taken: dict[QueueKey, L] = {}

    @property
    def parameters(self) -> dict[str, object]:
        """Of the common table expression `OFFERED`."""
        return {
            "offered_instances": Bigints(key.instance_id for key in self.lanes),
            "offered_lanes": Texts(key.session_key for key in self.lanes),
        }


class DirectDispatch(Generic[L]):
    """`desk` is the worker, where this process has one."""

    def __init__(self) -> None:
        self.desk: LocalWorker[L] | None = None

    @contextmanager
    def offering(self, keys: Iterable[QueueKey]) -> Iterator[Offered[L]]:
        """Asks the worker for places, and hands over what got leased. A failure leaves open what was, unless the
        server refused the statement: then nothing was leased."""
        desk = self.desk
        offered: Offered[L] = Offered([key for key in keys if desk.offer(key)] if desk else ())
        try:
            yield offered
        except BaseException as error:
            if desk and offered.lanes:
                desk.decline(offered.lanes, lease_uncertain=not is_rolled_back(error))
            raise
        if desk:
            desk.decline((key for key in offered.lanes if key not in offered.taken), lease_uncertain=False)
            for leased in offered.taken.values():
                desk.take(leased)
