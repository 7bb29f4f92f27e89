"""Pauses that platforms ask for."""

from collections.abc import Callable, Sequence

from domain.channels.limits import Scope
from domain.channels.messages import Outcome, Sent
from domain.delivery.model import MIN_WAIT, SendRequest
from ports.outbox import SharedLimits

MAX_COOLDOWN = 3600.0
"""Seconds that a platform can ask for at a time; if it means more, it will say so again."""


class Cooldowns:
    """Until when nothing is sent with an account or into a conversation, by key. `changed` tells other workers."""

    def __init__(self, shared: SharedLimits, changed: Callable[[], None]) -> None:
        self._shared = shared
        self._changed = changed
        self._until: dict[str, float] = {}
        self._refused: dict[str, dict[str, float]] = {}

    def remaining(self, key: str, now: float) -> float:
        """Seconds left, 0 or less for none."""
        return self._until.get(key, 0.0) - now

    async def record(self, request: SendRequest, sent: Sent, now: float, *, alone: bool) -> None:
        """Starts the cooldown that an answer asks for. `alone`: no other worker has to know of a used-up quota."""
        if sent.outcome is Outcome.RETRY_AFTER:
            seconds = sent.retry_after if sent.retry_after is not None else MIN_WAIT
            scope = sent.scope or self._inferred_scope(request, seconds, now)
            key = (scope is Scope.CONVERSATION and request.conversation) or request.account
            await self._share(key, self._start(key, seconds, now))
        elif sent.outcome is Outcome.SENT and sent.retry_after:
            key = request.conversation or request.account
            seconds = self._start(key, sent.retry_after, now)
            if not alone:
                await self._share(key, seconds)

    def _start(self, key: str, seconds: float, now: float) -> float:
        """Starts a cooldown, unless a longer one runs. The seconds within their bounds."""
        seconds = min(max(seconds, 0.0), MAX_COOLDOWN)
        self._until[key] = max(now + seconds, self._until.get(key, 0.0))
        return seconds

    async def _share(self, key: str, seconds: float) -> None:
        await self._shared.cool_down(key, seconds)
        self._changed()

    def _inferred_scope(self, request: SendRequest, seconds: float, now: float) -> Scope:
        """A platform that refuses two conversations of an account at the same time means the account."""
        refused = self._refused.setdefault(request.account, {})
        others = any(until > now for key, until in refused.items() if key != request.conversation)
        refused[request.conversation] = now + min(seconds, MAX_COOLDOWN)
        return Scope.ACCOUNT if others else Scope.CONVERSATION

    def refresh(self, shared: Sequence[tuple[str, float]], now: float) -> None:
        """Takes over the shared cooldowns, seconds left by key, and removes what has expired."""
        for key, seconds in shared:
            self._start(key, seconds, now)
        self._until = _running(self._until, now)
        running = {account: _running(refused, now) for account, refused in self._refused.items()}
        self._refused = {account: refused for account, refused in running.items() if refused}

    def clear(self) -> None:
        self._until.clear()
        self._refused.clear()


def _running(until: dict[str, float], now: float) -> dict[str, float]:
    return {key: end for key, end in until.items() if end > now}
