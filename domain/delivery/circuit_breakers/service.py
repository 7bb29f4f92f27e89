"""Circuit breakers: nothing is sent for a while to a platform that does not answer."""

import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence, Set

from domain.channels.messages import Outcome, Sent
from domain.delivery.circuit_breakers.breaker import Breaker, State
from domain.delivery.rate_limits.model import MIN_WAIT, OpenBreaker, SendRequest
from ports.shared_limits import SharedLimits

log = logging.getLogger(__name__)

PROBE_SECONDS = 60.0
"""After so long without a result another conversation may be the probe."""

FAILURES = (Outcome.TRANSIENT, Outcome.UNKNOWN)
"""Any other answer of a platform, a refusal or a rate limit included, shows that it is there."""


class CircuitBreakers:
    """The breakers of all instances, as this worker knows them. `changed` tells the other workers of a change."""

    def __init__(self, shared: SharedLimits, changed: Callable[[], None]) -> None:
        self._shared = shared
        self._changed = changed
        self._breakers: dict[int, Breaker] = {}
        self._probes: dict[int, tuple[str, float]] = {}
        self._publishing: Counter[int] = Counter()
        self._published: set[int] = set()

    def __bool__(self) -> bool:
        """Whether any instance has a breaker, open or not."""
        return bool(self._breakers)

    def not_closed(self, now: float) -> Mapping[int, State]:
        """Instances whose breaker is open or half open."""
        states = ((instance_id, breaker.state(now)) for instance_id, breaker in self._breakers.items())
        return {instance_id: state for instance_id, state in states if state is not State.CLOSED}

    def remaining(self, request: SendRequest, now: float) -> float:
        """Seconds until a message may be tried, 0 for now. Half open, one conversation at a time is the probe."""
        breaker = self._breakers.get(request.instance_id)
        if breaker is None or self._may_pass(breaker, request, now):
            return 0.0
        return max(breaker.until - now, MIN_WAIT)

    def _may_pass(self, breaker: Breaker, request: SendRequest, now: float) -> bool:
        state = breaker.state(now)
        if state is not State.HALF_OPEN:
            return state is State.CLOSED
        probe, since = self._probes.get(request.instance_id, (request.queue_key, now))
        if probe != request.queue_key and now - since < PROBE_SECONDS:
            return False
        self._probes[request.instance_id] = (request.queue_key, now)
        return True

    async def record(self, request: SendRequest, sent: Sent, now: float) -> None:
        """Counts a failure, or ends the count, and tells the other workers if that opened or closed the breaker."""
        instance_id = request.instance_id
        if sent.outcome in FAILURES:
            await self._count_failure(request, sent.detail, now)
        elif breaker := self._breakers.get(instance_id):
            self.forget(instance_id)
            if breaker.openings:
                log.info("the platform answers again: replies are sent", extra={"instance": instance_id})
                await self._publish(instance_id, self._shared.close_breaker(instance_id))

    async def _count_failure(self, request: SendRequest, reason: str, now: float) -> None:
        instance_id = request.instance_id
        breaker = self._breakers.setdefault(instance_id, Breaker())
        if not breaker.failed(request.queue_key, now):
            return
        self._probes.pop(instance_id, None)
        seconds = breaker.until - now
        log.warning(
            "the platform does not answer: replies wait for %d s", seconds, extra={"instance": instance_id}
        )
        opened = OpenBreaker(instance_id, seconds, breaker.openings)
        await self._publish(instance_id, self._shared.open_breaker(opened, reason))

    async def _publish(self, instance_id: int, written: Awaitable[None]) -> None:
        """Shared state that was read before the end of this is older than ours."""
        self._publishing[instance_id] += 1
        try:
            await written
        finally:
            self._publishing[instance_id] -= 1
            self._published.add(instance_id)
        self._changed()

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
                self._adopt(opened, now)
        self._remove_closed(own_is_newer.union(opened.instance_id for opened in shared))

    def _adopt(self, opened: OpenBreaker, now: float) -> None:
        breaker = self._breakers.setdefault(opened.instance_id, Breaker())
        if opened.openings > breaker.openings or breaker.until > now + opened.seconds:
            breaker.adopt(opened.openings, now + opened.seconds)

    def _remove_closed(self, still_open: Set[int]) -> None:
        for instance_id, breaker in list(self._breakers.items()):
            if breaker.openings and instance_id not in still_open:
                self.forget(instance_id)
