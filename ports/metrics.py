"""What is counted on a message's way. Labels are few and bounded: channel ids and outcomes, never users."""

from typing import Protocol


class Meter(Protocol):
    def received(self, channel_id: str, kind: str) -> None:
        """A call of a platform was taken; `kind` says what it was."""
        ...

    def refused(self, channel_id: str, reason: str) -> None:
        """A call was refused: failed proof of origin, bad body."""
        ...

    def accepted(self, channel_id: str, fresh: bool) -> None:
        """An event is in the inbox; not fresh: a redelivery that was dropped."""
        ...

    def processed(self, channel_id: str, outcome: str, waited: float) -> None:
        """A conversation step ended; `waited` is the seconds from the arrival of its event to the start of work."""
        ...

    def downstream(self, kind: str, outcome: str, seconds: float) -> None:
        """A downstream resource answered or failed."""
        ...

    def throttled(self, channel_id: str, reason: str) -> None:
        """A message had to wait: 'breaker', 'account' or 'conversation' (a cooldown), 'quota' or 'concurrency'."""
        ...

    def delivered(self, channel_id: str, outcome: str, seconds: float) -> None:
        """A part was sent, or not; `seconds` is the time of the try."""
        ...
