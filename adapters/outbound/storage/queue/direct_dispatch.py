"""Leases that are taken in the statement that commits the rows, for the worker of the same process."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Generic, TypeVar

from adapters.outbound.storage.arrays import Bigints, Texts
from adapters.outbound.storage.failures import is_rolled_back
from ports.queue import LocalWorker, QueueKey

L = TypeVar("L")


class Offer(Generic[L]):
    """The queues for which slots are reserved; `leased` gets what the statement leased of them."""

    def __init__(self, keys: Sequence[QueueKey]) -> None:
        self.keys = keys
        self.leased: dict[QueueKey, L] = {}

    @property
    def parameters(self) -> dict[str, object]:
        """Of the CTE `OFFERED`."""
        return {
            "offered_ids": Bigints(key.instance_id for key in self.keys),
            "offered_keys": Texts(key.session_key for key in self.keys),
        }


class DirectDispatch(Generic[L]):
    """`worker` is None where this process has none."""

    def __init__(self) -> None:
        self.worker: LocalWorker[L] | None = None

    @property
    def has_capacity(self) -> bool:
        """Whether the worker of this process would lease what is due at once."""
        return self.worker is not None and self.worker.has_capacity

    @contextmanager
    def offering(self, keys: Iterable[QueueKey]) -> Iterator[Offer[L]]:
        """Reserves slots of the worker, and dispatches what the block leased. After a failure it is uncertain what
        was leased, unless the server refused the statement."""
        worker = self.worker
        offer: Offer[L] = Offer([key for key in keys if worker.offer(key)] if worker else ())
        try:
            yield offer
        except BaseException as error:
            if worker and offer.keys:
                worker.decline(offer.keys, lease_uncertain=not is_rolled_back(error))
            raise
        if worker:
            worker.decline((key for key in offer.keys if key not in offer.leased), lease_uncertain=False)
            for leased in offer.leased.values():
                worker.take(leased)
