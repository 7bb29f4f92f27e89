"""Tries again where that may help, within the time that a message has."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from math import ldexp

from domain.routing.model import RunRequest, RunResult
from ports.resources import Downstream, DownstreamFailed

FIRST_WAIT = 0.5
LONGEST_WAIT = 20.0
MAX_ATTEMPTS = 6


class Retrying:
    """Runs `inner` until it answers, fails for good, or the request's `timeout` leaves no room.

    Waits double from half a second, with a random part of up to half; Retry-After is never undercut.
    What may have used a tool that a person approved is not tried again: that was approved for one use.
    `sleep`, `now` (monotonic seconds) and `chance` (in [0, 1)) are injected.
    """

    def __init__(
        self,
        inner: Downstream,
        *,
        sleep: Callable[[float], Awaitable[object]],
        now: Callable[[], float],
        chance: Callable[[], float],
        attempts: int = MAX_ATTEMPTS,
    ) -> None:
        self._inner = inner
        self._sleep = sleep
        self._now = now
        self._chance = chance
        self._attempts = attempts

    async def run(self, request: RunRequest) -> RunResult:
        """Raises `DownstreamFailed`: the last one, when there were several."""
        deadline = self._now() + request.timeout
        attempt, attempted = 1, request
        while True:
            try:
                return await self._once(attempted, request.timeout)
            except DownstreamFailed as failed:
                wait = None if _used_up(request, failed) else self._wait(attempt, failed)
                if attempt >= self._attempts or wait is None or self._now() + wait >= deadline:
                    raise
            await self._sleep(wait)
            attempt += 1
            attempted = replace(request, timeout=deadline - self._now())

    async def _once(self, request: RunRequest, whole: float) -> RunResult:
        try:
            async with asyncio.timeout(request.timeout):
                return await self._inner.run(request)
        except TimeoutError:
            raise DownstreamFailed(
                f"the resource does not answer within {whole:g} s", retryable=False
            ) from None

    def _wait(self, attempt: int, failed: DownstreamFailed) -> float | None:
        if not failed.retryable:
            return None
        backoff = min(LONGEST_WAIT, ldexp(FIRST_WAIT, attempt - 1))
        jittered = backoff * (1 + self._chance() / 2)
        return max(failed.retry_after or 0.0, jittered)


def _used_up(request: RunRequest, failed: DownstreamFailed) -> bool:
    approval = request.approval
    return approval is not None and approval.permits and failed.begun
