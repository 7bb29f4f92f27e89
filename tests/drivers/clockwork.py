"""A clock that a step moves."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


class MovableClock:
    """Shows the real time plus what steps have added."""

    def __init__(self) -> None:
        self._ahead = timedelta()

    def now(self) -> datetime:
        return datetime.now(UTC) + self._ahead

    def advance(self, by: timedelta) -> None:
        self._ahead += by
