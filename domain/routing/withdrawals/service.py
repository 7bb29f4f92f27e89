"""Breaks off the work on messages that their senders took back or replaced."""

import asyncio
from collections.abc import Awaitable, Sequence
from typing import TypeVar

T = TypeVar("T")


class Withdrawn(Exception):
    """The message that was worked on is withdrawn: its outcome must not be stored."""


class Withdrawals:
    """The work under way in this process, by the ids of its messages."""

    def __init__(self) -> None:
        self._running: dict[int, asyncio.Task[object] | None] = {}
        self._withdrawn: set[int] = set()

    def withdraw(self, inbox_id: int) -> None:
        if task := self._running.get(inbox_id):
            self._withdrawn.add(inbox_id)
            task.cancel()

    async def run(self, ids: Sequence[int], work: Awaitable[T]) -> T:
        """The result of the work. Raises `Withdrawn`."""
        task = asyncio.current_task()
        self._running.update(dict.fromkeys(ids, task))
        try:
            return await work
        except asyncio.CancelledError:
            is_withdrawn = not self._withdrawn.isdisjoint(ids)
            if task is None or not is_withdrawn or task.uncancel() > 0:
                raise
            raise Withdrawn from None
        finally:
            for id in ids:
                del self._running[id]
            self._withdrawn.difference_update(ids)
