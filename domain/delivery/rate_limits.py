"""The rate limiter: quotas, cooldowns, circuit breakers and concurrency limits of one message."""

import logging
from collections.abc import Awaitable, Callable, Mapping

from domain.channels.messages import Sent, Target
from domain.delivery.circuit_breakers import CircuitBreakers, State
from domain.delivery.concurrency import ConcurrencyLimiter
from domain.delivery.cooldowns import Cooldowns
from domain.delivery.model import MAX_WAIT, MIN_WAIT, SendRequest, SharedState, send_request
from domain.delivery.quotas import Quotas
from domain.instances.model import Instance
from domain.refusals import Unavailable
from ports.channels import AnyChannel
from ports.outbox import SharedLimits
from ports.system import Clock, Meter

log = logging.getLogger(__name__)


def request_for(
    instance: Instance, channel: AnyChannel, queue_key: str, target: Target, *, edit: bool = False
) -> SendRequest:
    """A channel that cannot tell its limits is taken for one without limits. `edit`: a message is changed."""
    limits = None
    if channel.limits:
        try:
            limits = channel.limits.limits(channel.config.load(instance.config), channel.target.load(target))
        except Exception:
            log.exception("a channel could not tell its limits", extra={"instance": instance.id})
    return send_request(instance.id, instance.channel_id, queue_key, limits, edit=edit)


class RateLimiter:
    """Tells delivery when a message may be sent, and learns from how that ended.

    `changed` tells the other workers that the shared state has changed. Without `enforce_quotas` only the answers of
    platforms delay messages.
    """

    def __init__(
        self,
        shared: SharedLimits,
        clock: Clock,
        sleep: Callable[[float], Awaitable[None]],
        changed: Callable[[], None],
        meter: Meter,
        slots: ConcurrencyLimiter,
        *,
        enforce_quotas: bool = True,
    ) -> None:
        self.enforce_quotas = enforce_quotas
        self.sleep = sleep
        self.quotas = Quotas(shared)
        self._cooldowns = Cooldowns(shared, changed)
        self._breakers = CircuitBreakers(shared, changed)
        self._slots = slots
        self._shared = shared
        self._clock = clock
        self._meter = meter
        self._paused_until: dict[int, float] = {}
        self._without_slot: dict[int, SendRequest] = {}

    def throttled(self) -> Mapping[int, int]:
        """Instances of which fewer conversations are to be leased than their share, with how many. Asked several
        times for each message, and nearly always none."""
        if not (self._paused_until or self._without_slot or self._breakers):
            return {}
        now = self._now()
        leases = self._leases_without_slot()
        self._paused_until = {
            instance_id: until for instance_id, until in self._paused_until.items() if until > now
        }
        leases.update(dict.fromkeys(self._paused_until, 0))
        for instance_id, state in self._breakers.not_closed(now).items():
            leases[instance_id] = 0 if state is State.OPEN else leases.get(instance_id, 1)
        return leases

    def _leases_without_slot(self) -> dict[int, int]:
        """Instances whose credential has all its calls under way: as many conversations wait as are sent."""
        self._without_slot = {
            instance_id: request
            for instance_id, request in self._without_slot.items()
            if self._slots.is_full(request.account, request.max_concurrency)
        }
        return {
            instance_id: 2 * self._slots.share(request.max_concurrency)
            for instance_id, request in self._without_slot.items()
        }

    async def acquire(self, request: SendRequest) -> float:
        """Waits until a message may be sent: 0 when it may, else the seconds for which to give its conversation back.

        After a 0 one of the credential's slots is taken until `release`.
        """
        while True:
            wait = await self._pass_limits(request)
            if wait or not request.max_concurrency:
                return wait
            if self._slots.is_full(request.account, request.max_concurrency):
                self._without_slot[request.instance_id] = request
            if not (await self._slots.acquire(request.account, request.max_concurrency, MAX_WAIT)):
                self._meter.throttled(request.channel_id, "concurrency")
                return MIN_WAIT
            if self._blocked(request)[0] <= 0:
                return 0.0
            self.release(request)

    async def acquire_now(self, request: SendRequest) -> float:
        """As `acquire`, for a message that may be left out: it waits for nothing, and takes no slot that is due
        later."""
        wait = max(0.0, self._blocked(request)[0])
        if not wait and self.enforce_quotas and request.budgets:
            wait = max((await self.quotas.reserve(request.budgets, self._now(), patience=0.0)).values())
        if wait or not request.max_concurrency:
            return wait
        if self._slots.is_full(request.account, request.max_concurrency):
            return MIN_WAIT
        await self._slots.acquire(request.account, request.max_concurrency)
        return 0.0

    def release(self, request: SendRequest) -> None:
        """Frees the slot, whether the message was sent or not."""
        if request.max_concurrency:
            self._slots.release(request.account, request.max_concurrency)

    async def _pass_limits(self, request: SendRequest) -> float:
        """As `acquire`, without the slot."""
        while True:
            wait = await self._pass_cooldowns(request)
            if wait or not self.enforce_quotas or not request.budgets:
                return wait
            # Seconds until the message may be sent. While the quota of the account is used up, no conversation of the
            # instance is leased.
            waits = await self.quotas.reserve(request.budgets, self._now())
            account_wait = max(
                (wait for key, wait in waits.items() if request.is_of_account(key)), default=0.0
            )
            if account_wait > MAX_WAIT:
                self._paused_until[request.instance_id] = self._now() + account_wait - MAX_WAIT
            wait = max(waits.values())
            if wait > MAX_WAIT:
                self._meter.throttled(request.channel_id, "quota")
                return wait
            if not wait:
                return 0.0
            await self.sleep(wait)
            if self._blocked(request)[0] <= 0:  # else all that waited would be sent when the cooldown ends
                return 0.0

    async def _pass_cooldowns(self, request: SendRequest) -> float:
        while True:
            wait, reason = self._blocked(request)
            if wait <= 0:
                return 0.0
            self._meter.throttled(request.channel_id, reason)
            if wait > MAX_WAIT or reason == "breaker":
                return wait
            await self.sleep(wait)

    def _blocked(self, request: SendRequest) -> tuple[float, str]:
        """For how long a breaker or a cooldown blocks the message, 0 or less for not, and which."""
        now = self._now()
        if (wait := self._breakers.remaining(request, now)) > 0:
            return wait, "breaker"
        if (wait := self._cooldowns.remaining(request.account, now)) > 0:
            if wait > MAX_WAIT:
                self._paused_until[request.instance_id] = now + wait
            return wait, "account"
        return self._cooldowns.remaining(request.conversation, now), "conversation"

    async def record(self, request: SendRequest, sent: Sent) -> None:
        """Learns from how a message was answered.

        A failure of the database does not end the work on a message that the platform has taken: then only this
        worker knows of a cooldown or breaker.
        """
        now = self._now()
        try:
            await self._breakers.record(request, sent, now)
            await self._cooldowns.record(request, sent, now, alone=self.quotas.workers == 1)
        except Unavailable:
            log.debug("the database is unavailable: other workers were not told of a limit")
        except Exception:
            log.exception("other workers could not be told of a limit")

    async def refresh(self) -> SharedState:
        """Takes over the state that the workers share, and removes what has expired."""
        self._breakers.begin_refresh()
        state = await self._shared.state()
        now = self._now()
        self._slots.workers = max(1, state.workers)
        self.quotas.refresh(max(1, state.workers), now)
        self._cooldowns.refresh(state.cooldowns, now)
        self._breakers.refresh(state.breakers, now)
        return state

    def forget(self, instance_id: int | None) -> None:
        """An instance has changed, or None: any may have. What delayed its messages may be over."""
        if instance_id is not None:
            self._breakers.forget(instance_id)
            self._paused_until.pop(instance_id, None)
            return
        self.quotas.clear()
        self._cooldowns.clear()
        self._breakers.clear()
        self._paused_until.clear()

    def _now(self) -> float:
        return self._clock.now().timestamp()
