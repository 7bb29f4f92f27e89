"""The queue of jobs: polls, firings, registrations, maintenance. Wake-ups only; what is due stands in rows."""

from typing import Protocol


class JobQueue(Protocol):
    async def enqueue(self, kind: str, subject: int = 0, *, alone: bool = True) -> bool:
        """Asks for a job; False when the same job is waiting or running already, as the two would be one.

        `alone` False: it is asked for even so, because the job itself sees to it that it runs once.

        Raises `Unavailable` when the queue is away.
        """
        ...
