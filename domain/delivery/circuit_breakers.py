"""Circuit breakers: nothing is sent to an instance for a while after repeated failures."""

import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from domain.channels.messages import Outcome, Sent
from domain.delivery.model import MIN_WAIT, OpenBreaker, SendRequest
from ports.outbox import SharedLimits

log = logging.getLogger(__name__)


THRESHOLD = 5
"""Failures in a row that open a breaker."""
CONVERSATIONS = 3
"""They must be of so many conversations: a single one that fails is delayed by its own retries."""
FIRST_OPEN = 10.0
"""Seconds that a breaker stays open; each failed probe doubles them."""
LONGEST_OPEN = 300.0


class State(StrEnum):
    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class Breaker:
    """The breaker of one instance. `openings`: how often in a row it has opened."""

    __slots__ = ("_conversations", "_failures", "openings", "until")

    def __init__(self) -> None:
        self._failures = 0
        self._conversations: set[str] = set()
        self.openings = 0
        self.until = 0.0

    def state(self, now: float) -> State:
        if not self.openings:
            return State.CLOSED
        return State.OPEN if now < self.until else State.HALF_OPEN

    def failed(self, conversation: str, now: float) -> bool:
        """Counts a failure; whether it opened the breaker (again)."""
        state = self.state(now)
        if state is State.OPEN:  # a message that was under way when it opened
            return False
        self._failures += 1
        if len(self._conversations) < CONVERSATIONS:
            self._conversations.add(conversation)
        many = self._failures >= THRESHOLD and len(self._conversations) >= CONVERSATIONS
        if state is State.CLOSED and not many:
            return False
        self.openings += 1
        self.until = now + opening(self.openings)
        return True

    def adopt(self, openings: int, until: float) -> None:
        """Takes over the state that another process has."""
        self.openings, self.until = openings, until


def opening(openings: int) -> float:
    """Seconds for which a breaker opens that opens for the n-th time in a row."""
    return min(LONGEST_OPEN, FIRST_OPEN * 2.0 ** min(openings - 1, 10))


PROBE_SECONDS = 60.0
"""After so long without a result another conversation may be the probe."""

FAILURES = (Outcome.TRANSIENT, Outcome.UNKNOWN)
"""Any other answer of a platform, a refusal or a rate limit included, shows that it is there."""


@dataclass(eq=False)
class CircuitBreakers:
    """The breakers of all instances, as this worker knows them. `changed` tells the other workers of a change."""

    shared: SharedLimits
    changed: Callable[[], None]
    _breakers: dict[int, Breaker] = field(default_factory=dict, init=False)
    _probes: dict[int, tuple[str, float]] = field(default_factory=dict, init=False)
    _publishing: Counter[int] = field(default_factory=Counter, init=False)
    _published: set[int] = field(default_factory=set, init=False)

    def __bool__(self) -> bool:
        """Return True if any instance has a breaker, open or not."""
        return bool(self._breakers)

    def not_closed(self, now: float) -> Mapping[int, State]:
        """Instances whose breaker is open or half open."""
        states = ((instance_id, breaker.state(now)) for instance_id, breaker in self._breakers.items())
        return {instance_id: state for instance_id, state in states if state is not State.CLOSED}

    def remaining(self, request: SendRequest, now: float) -> float:
        """Seconds until a message may be tried, 0 for now. Half open, one conversation at a time is the probe."""
        breaker = self._breakers.get(request.instance_id)
        if breaker is None or (state := breaker.state(now)) is State.CLOSED:
            return 0.0
        if state is State.HALF_OPEN:
            probe, since = self._probes.get(request.instance_id, (request.queue_key, now))
            if probe == request.queue_key or now - since >= PROBE_SECONDS:
                self._probes[request.instance_id] = (request.queue_key, now)
                return 0.0
        return max(breaker.until - now, MIN_WAIT)

    async def record(self, request: SendRequest, sent: Sent, now: float) -> None:
        """Counts a failure, or ends the count, and tells the other workers if that opened or closed the breaker."""
        instance_id = request.instance_id
        if sent.outcome in FAILURES:
            breaker = self._breakers.setdefault(instance_id, Breaker())
            if not breaker.failed(request.queue_key, now):
                return
            self._probes.pop(instance_id, None)
            seconds = breaker.until - now
            log.warning(
                "the platform does not answer: replies wait for %d s",
                seconds,
                extra={"instance": instance_id},
            )
            opened = OpenBreaker(instance_id, seconds, breaker.openings)
            await self._publish(instance_id, self.shared.open_breaker(opened, sent.detail))
        elif ended := self._breakers.get(instance_id):
            self.forget(instance_id)
            if ended.openings:
                log.info("the platform answers again: replies are sent", extra={"instance": instance_id})
                await self._publish(instance_id, self.shared.close_breaker(instance_id))

    async def _publish(self, instance_id: int, written: Awaitable[None]) -> None:
        """Shared state that was read before the end of this is older than ours."""
        self._publishing[instance_id] += 1
        try:
            await written
        finally:
            self._publishing[instance_id] -= 1
            self._published.add(instance_id)
        self.changed()

    def forget(self, instance_id: int) -> None:
        self._breakers.pop(instance_id, None)
        self._probes.pop(instance_id, None)

    def clear(self) -> None:
        self._breakers.clear()
        self._probes.clear()

    def begin_refresh(self) -> None:
        """To be called before the shared state is read."""
        self._publishing = +self._publishing
        self._published = set(self._publishing)

    def refresh(self, shared: Sequence[OpenBreaker], now: float) -> None:
        """Takes over the shared state, except of instances whose change was being written meanwhile."""
        own_is_newer = self._published | set(+self._publishing)
        for opened in shared:
            if opened.instance_id not in own_is_newer:
                breaker = self._breakers.setdefault(opened.instance_id, Breaker())
                if opened.openings > breaker.openings or breaker.until > now + opened.seconds:
                    breaker.adopt(opened.openings, now + opened.seconds)
        still_open = own_is_newer.union(opened.instance_id for opened in shared)
        for instance_id, breaker in list(self._breakers.items()):
            if breaker.openings and instance_id not in still_open:
                self.forget(instance_id)
