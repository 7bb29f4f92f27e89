"""The http-webhook channel: takes any JSON POST; answers in the call, or at a response address."""

import json
import uuid
from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from adapters import trace_context
from adapters.outbound.channels.common import addresses, calls, outcomes
from domain.addresses import address_fault
from domain.channels.answers import Answer, OutboundMessage
from domain.channels.limits import Limits
from domain.channels.messages import Outcome, Sent
from domain.channels.rich import RichKind
from domain.subscriptions.model import is_standard
from ports.capabilities import Opened, OpenRequest
from ports.channels import Channel, ChannelDependencies
from ports.http import AddressRefused, HttpFailed, HttpRequest

from . import webhook
from .config import CONFIG, DEFINITION, TARGET, WebhookConfig, WebhookTarget
from .webhook import artifacts_of, choices_of, rich_of

UNSETTABLE = frozenset({"host", "content-length", "transfer-encoding", "connection"})
"""Headers of the connection itself, which responseHeaders cannot set."""


class Delivery:
    address = "an address of yours that begins with http:// or https://, to which the message is POSTed"

    def __init__(self, dependencies: ChannelDependencies) -> None:
        self._http = dependencies.http
        self._clock = dependencies.clock
        self._hosts = dependencies.hosts

    def default_address(self, config: WebhookConfig) -> str:
        return config.response_webhook_url

    async def open(self, config: WebhookConfig, request: OpenRequest) -> Opened[WebhookTarget]:
        """The session id follows from the address: messages to it belong together, and a call that names the session
        goes on with them."""
        url = request.to
        if len(url) > addresses.LONGEST_ADDRESS or address_fault(url):
            raise addresses.no_address(f"must be {self.address}")
        parts = urlsplit(url)
        try:
            await self._hosts.resolve_allowed(parts.hostname or "", parts.port or 443)
        except AddressRefused as refused:
            raise addresses.no_address(str(refused)) from None
        except HttpFailed:
            pass  # a name that cannot be resolved now may be later: the delivery tries again
        return Opened(str(uuid.uuid5(uuid.NAMESPACE_URL, url)), WebhookTarget(url=url))

    def render(
        self, config: WebhookConfig, target: WebhookTarget, answer: Answer
    ) -> Sequence[OutboundMessage]:
        if not target.url:
            return []
        payload = {
            "status": "success",
            "requestId": answer.request_id,
            "sessionId": answer.session_id,
            "response": answer.text,
            "artifacts": artifacts_of(answer),
        }
        choices = {"choices": choices_of(answer)} if answer.choices else {}
        return [OutboundMessage(payload | choices | rich_of(answer))]

    def limits(self, config: WebhookConfig, target: WebhookTarget) -> Limits:
        """A response address has its limits, whichever instance sends to it."""
        return Limits(target.url)

    async def send(
        self, config: WebhookConfig, target: WebhookTarget, message: OutboundMessage, key: str
    ) -> Sent:
        body = calls.json_bytes(message.payload)
        secret = config.webhook_secret
        signatures = {"X-Webhook-Signature": calls.signature(secret, body)} if secret else {}
        if is_standard(secret):
            try:
                signatures |= calls.standard_headers(secret, key, body, self._clock.now())
            except calls.BadSecret as error:
                return Sent(Outcome.PERMANENT, str(error))
        configured = json.loads(config.response_headers or "{}")
        settable = {name: value for name, value in configured.items() if name.lower() not in UNSETTABLE}
        own = {"Content-Type": "application/json", "Idempotency-Key": key, **trace_context.headers()}
        # A later layer replaces the header of an earlier one, whatever the case of its name.
        layers = (own, settable, signatures)
        headers = {name.lower(): (name, value) for layer in layers for name, value in layer.items()}
        request = HttpRequest("POST", target.url, dict(headers.values()), content=body, user_address=True)
        sent = await outcomes.send(self._http, request)
        return replace(sent, of_recipient=target.url != config.response_webhook_url)


def build(dependencies: ChannelDependencies) -> Channel[WebhookConfig, WebhookTarget]:
    delivery = Delivery(dependencies)
    return Channel(
        definition=DEFINITION,
        config=CONFIG,
        target=TARGET,
        webhook=webhook,
        call_responder=webhook,
        rich_kinds=frozenset(RichKind),
        forms=webhook,
        sender=delivery,
        opener=delivery,
        limits=delivery,
    )
