"""Tells calls that wait for an answer how it grows."""

import asyncio
from collections.abc import Callable

LOOK_SECONDS = 0.1
LONGEST_PIECE = 600
"""Characters: in JSON they fit a notice between processes, of at most 8,000 bytes."""
MOST_PIECES = 20
"""At one look; the rest comes with the next ones, or with the answer."""

Grew = Callable[[int, int, str], None]
"""Hears of a piece of the answer to a message: its id, where the piece begins, and the piece."""


def not_heard(inbox_id: int, offset: int, piece: str) -> None:
    """Stands for no listener."""


class AnswerFollower:
    """Follows an answer while it is made: `follow` runs from the first piece of it on, until `close` ends it."""

    def __init__(self) -> None:
        self._text: Callable[[], str] = str
        self._finished = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def update(self, text: Callable[[], str]) -> None:
        """`text` gives the whole answer so far; it is called when something is to be shown of it."""
        self._text = text
        if self._task is None:
            self._task = asyncio.create_task(self.follow())

    async def close(self) -> None:
        self._finished.set()
        if self._task is not None:
            await self._task

    async def follow(self) -> None:
        raise NotImplementedError

    async def finishes_within(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                await self._finished.wait()
        except TimeoutError:
            return False
        return True


class Growing(AnswerFollower):
    """Publishes the answer to one message. White space at its end is published once more text follows it. Text that
    does not continue what was published before, as that of another try, is not: the call gets the whole answer at its
    end."""

    def __init__(self, grew: Grew, inbox_id: int) -> None:
        super().__init__()
        self._grew = grew
        self._inbox_id = inbox_id

    async def follow(self) -> None:
        published = ""
        while not await self.finishes_within(LOOK_SECONDS):
            text = self._text().strip()
            if text.startswith(published):
                end = min(len(text), len(published) + MOST_PIECES * LONGEST_PIECE)
                for start in range(len(published), end, LONGEST_PIECE):
                    self._grew(self._inbox_id, start, text[start : min(end, start + LONGEST_PIECE)])
                published = text[:end]
