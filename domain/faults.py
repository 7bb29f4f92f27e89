"""Failures of the work on queued rows that the database does not record, remembered in this process. Pure."""

from dataclasses import dataclass

MANY = 10_000
"""So many rows are remembered; then all are forgotten."""

RowName = tuple[int, str]
"""The id of a row and its key, as ids of another database may be the same."""


@dataclass(slots=True)
class Fault:
    """How often the work on a row failed, and what came of it, which must not be done again (None: nothing)."""

    failures: int = 0
    outcome: str | None = None


class Faults:
    def __init__(self) -> None:
        self._faults: dict[RowName, Fault] = {}

    def find(self, row: RowName) -> Fault:
        """The remembered fault, or an empty one."""
        return self._faults.get(row) or Fault()

    def remember(self, row: RowName) -> Fault:
        """The fault of a row, to be changed."""
        if len(self._faults) >= MANY:
            self._faults.clear()
        return self._faults.setdefault(row, Fault())

    def forget(self, row: RowName) -> None:
        self._faults.pop(row, None)
