"""Signs that somebody is writing, which outlive the work on an answer."""

from typing import Protocol

from ports.queue import QueueKey


class TypingSigns(Protocol):
    def stop(self, key: QueueKey) -> None:
        """The answer of the conversation is handed to the platform."""
        ...
