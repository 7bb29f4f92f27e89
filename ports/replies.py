"""Waiting for what happens elsewhere: in this process, or in another one."""

from typing import Protocol


class Answers(Protocol):
    """Tells a waiting HTTP call that its answer is on record."""

    async def wait(self, inbox_id: int, seconds: float) -> None:
        """Returns when the answer of that event may be there, or after `seconds`."""
        ...
