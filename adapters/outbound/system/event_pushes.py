"""Events are pushed to the addresses that subscribe to them, signed by Standard Webhooks.

https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv6Address, ip_address
from typing import Any
from urllib.parse import urlsplit

import orjson

from adapters.outbound.channels.common import calls, outcomes
from adapters.outbound.net.addresses import numeric_host
from adapters.outbound.net.urls import checked_url
from domain import limits
from domain.channels.answers import Answer, OutboundMessage
from domain.channels.limits import Limits
from domain.channels.messages import Outcome, Sent
from domain.channels.model import ChannelDefinition, SetupInstructions
from domain.channels.typed import ChannelConfig, ChannelTarget, ConfigModel, JsonModel, setting
from domain.events import EventFilter, LoggedEvent
from domain.subscriptions.model import CHANNEL_ID, PUSH_HEADER
from domain.values import value
from ports.channels import Channel
from ports.http import Addresses, AddressRefused, Http, HttpFailed, HttpRequest, NoAddress
from ports.instances import InstanceStore
from ports.subscriptions import EventLog, SubscriptionStore
from ports.system import Clock

GONE = 410
PUSH_SECONDS = 20.0
CHECK_SECONDS = 5.0
TEST = "test"


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionConfig(ChannelConfig):
    url: str = setting("Where events are pushed to.")
    secret: str = setting("Signs them.", secret=True)
    off: str = setting("Why nothing is pushed any more.")


@value
class PushTarget(ChannelTarget):
    subscription: int = 0


CONFIG, TARGET = ConfigModel(SubscriptionConfig), JsonModel(PushTarget)
DEFINITION = ChannelDefinition(
    id=CHANNEL_ID,
    name="Event subscription",
    description="Pushes events.",
    fields=CONFIG.fields,
    setup=SetupInstructions("", (), "", webhook_required=False),
)


@dataclass(eq=False)
class EventPushes:
    """Sends pushes: `ports.capabilities.ReplySender` and `ports.subscriptions.PushSender`."""

    http: Http
    log: EventLog
    clock: Clock
    instances: InstanceStore
    subscriptions: SubscriptionStore

    def channel(self) -> Channel[Any, Any]:
        return Channel(definition=DEFINITION, config=CONFIG, target=TARGET, sender=self, limits=self)

    def render(
        self, config: SubscriptionConfig, target: PushTarget, answer: Answer
    ) -> Sequence[OutboundMessage]:
        """Answers are not sent to subscriptions."""
        return ()

    def limits(self, config: SubscriptionConfig, target: PushTarget) -> Limits:
        return Limits(config.url)

    async def send(
        self, config: SubscriptionConfig, target: PushTarget, message: OutboundMessage, key: str
    ) -> Sent:
        """An event that was deleted in the meantime counts as sent. What the user may see counts as it is now: a push
        may have waited for days."""
        subscription = await self.subscriptions.find(target.subscription)
        if subscription is None:
            return Sent(Outcome.PERMANENT, "the subscription was deleted")
        if subscription.off:
            return Sent(Outcome.PERMANENT, f"the subscription is switched off: {subscription.off}")
        stored_id = message.payload.get("event")
        event_id = stored_id if isinstance(stored_id, int) else 0
        page = await self.log.after(EventFilter(), event_id - 1, 1)
        event = next((event for event in page.events if event.id == event_id), None)
        if event is None:
            return Sent(Outcome.SENT)
        if not EventFilter(subscription.wanted.owner).takes(event):
            return Sent(Outcome.PERMANENT, "its user may not see this event any more")
        sent = await self._push(config, event, f"evt_{event.id}")
        if sent.outcome is Outcome.PERMANENT and sent.detail.startswith(f"HTTP {GONE}"):
            await self.subscriptions.switch_off(target.subscription, "the address answered 410 Gone")
        return sent

    async def test(self, subscription_id: int) -> Sent:
        instance = await self.instances.find(subscription_id)
        if instance is None:
            return Sent(Outcome.PERMANENT, "the subscription was deleted")
        now = self.clock.now()
        push_id = f"evt_test_{now.timestamp() * 1_000_000:.0f}"  # receivers drop an id that they have seen
        return await self._push(CONFIG.load(instance.config), LoggedEvent(0, TEST, now), push_id)

    async def _push(self, config: SubscriptionConfig, event: LoggedEvent, push_id: str) -> Sent:
        """Only 410 says that no try is of use: other answers come from servers that are being set up or mended. What
        may have arrived is sent again, under the same id."""
        body = orjson.dumps(event.document())
        try:
            signature = calls.standard_headers(config.secret, push_id, body, self.clock.now())
        except calls.BadSecret as error:
            return Sent(Outcome.PERMANENT, str(error))
        headers = {"Content-Type": "application/json", PUSH_HEADER: str(event.id), **signature}
        request = HttpRequest(
            "POST", config.url, headers, content=body, user_address=True, timeout=PUSH_SECONDS
        )
        answer = await outcomes.exchange(self.http, request)
        if isinstance(answer, Sent):
            return outcomes.repeatable(answer)
        sent = outcomes.by_status(answer, ref=str(answer.status))
        lasting = sent.outcome is Outcome.PERMANENT and answer.status != GONE
        return replace(sent, outcome=Outcome.TRANSIENT) if lasting else sent


@dataclass(frozen=True, slots=True)
class SubscriptionAddresses:
    """`ports.subscriptions.AddressCheck`. `own` are the addresses of this service."""

    addresses: Addresses
    own: Sequence[str]

    async def fault(self, url: str) -> str | None:
        if fault := limits.text_fault(url, limits.ADDRESS):
            return fault
        try:
            checked_url(url)
        except NoAddress as refused:
            return str(refused)
        parts = urlsplit(url)
        if parts.username or parts.password:
            return "must hold no user name and password: pushes are signed"
        if _origin(url) in {_origin(own) for own in self.own}:
            return "must not be this service itself: each push would make more events"
        return await self._policy_fault(parts.hostname or "", parts.port or 443)

    async def _policy_fault(self, host: str, port: int) -> str | None:
        """The policy is kept at each push as well; a name that is not found may be there later."""
        try:
            async with asyncio.timeout(CHECK_SECONDS):
                await self.addresses.resolve_allowed(host, port)
        except AddressRefused as refused:
            return f"{refused} (OUTBOUND_POLICY)"
        except (HttpFailed, TimeoutError):
            return None
        return None


def _origin(url: str) -> tuple[str, int]:
    """Names of this machine count as one."""
    parts = urlsplit(url)
    host = (parts.hostname or "").rstrip(".")
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        address = ip_address(numeric_host(host) or host)
    except ValueError:
        return host, port
    if isinstance(address, IPv6Address):
        address = address.ipv4_mapped or address
    return "localhost" if address.is_loopback or address.is_unspecified else host, port
