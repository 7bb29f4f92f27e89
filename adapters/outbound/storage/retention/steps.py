"""Rows that go by more than their age: statements one after the other."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator
from datetime import datetime
from typing import Any

from adapters.outbound.storage.pool import Database

Step = tuple[str, str, dict[str, Any]]
"""The table, a statement that answers with the number of rows, and its parameters but `batch`."""


class Steps(ABC):
    """What deletes; a step is repeated until it finds no row."""

    def __init__(self) -> None:
        self._rows = 0

    def took(self, rows: int) -> None:
        """How many rows the step before deleted."""
        self._rows = rows

    @abstractmethod
    def steps(self, database: Database, now: datetime | None) -> AsyncIterator[Step]: ...

    def _until_none(self, *step: *Step) -> Iterator[Step]:
        self._rows = 1
        while self._rows:
            yield step
