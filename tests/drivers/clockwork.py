"""A clock that a step moves."""

from datetime import UTC, datetime, timedelta


class MovableClock:
    """Shows the real time plus what steps have added. Stopped, it shows what steps add alone."""

    def __init__(self) -> None:
        self._ahead = timedelta()
        self._stopped: datetime | None = None

    def now(self) -> datetime:
        return (self._stopped or datetime.now(UTC)) + self._ahead

    def stop(self) -> None:
        """From here on no time passes but what steps add, however slow the machine is."""
        self._stopped = datetime.now(UTC)

    def go_on(self) -> None:
        self._stopped = None

    def reset(self) -> None:
        """Shows the real time again: no scenario leaves its own to the next one."""
        self._stopped, self._ahead = None, timedelta()

    def advance(self, by: timedelta) -> None:
        self._ahead += by
