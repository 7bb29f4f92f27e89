"""Sends answers to the response address."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from adapters import trace_context
from adapters.outbound.channels.common.outcomes import send
from adapters.outbound.channels.common.standard_webhooks import BadSecret
from domain.channels.answers import Answer, OutboundMessage
from domain.channels.limits import Limits
from domain.channels.messages import Outcome, Sent
from ports.channels import ChannelDependencies
from ports.http import HttpRequest

from .config import WebhookConfig, WebhookTarget
from .signatures import sign
from .webhook import artifacts_of, choices_of, json_bytes

UNSETTABLE = frozenset({"host", "content-length", "transfer-encoding", "connection"})
"""Headers of the connection itself, which responseHeaders cannot set."""


class Delivery:
    def __init__(self, dependencies: ChannelDependencies) -> None:
        self._http = dependencies.http
        self._clock = dependencies.clock

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
        return [OutboundMessage(payload | ({"choices": choices_of(answer)} if answer.choices else {}))]

    def limits(self, config: WebhookConfig, target: WebhookTarget) -> Limits:
        """A response address has its limits, whichever instance sends to it."""
        return Limits(target.url)

    async def send(
        self, config: WebhookConfig, target: WebhookTarget, message: OutboundMessage, key: str
    ) -> Sent:
        body = json_bytes(message.payload)
        secret = config.webhook_secret
        try:
            signature = sign(secret, key, body, self._clock.now()) if secret else {}
        except BadSecret as error:
            return Sent(Outcome.PERMANENT, str(error))
        own = {"Content-Type": "application/json", "Idempotency-Key": key, **trace_context.headers()}
        headers = _merged(own, _configured_headers(config), signature)
        request = HttpRequest("POST", target.url, headers, content=body, user_address=True)
        sent = await send(self._http, request)
        return replace(sent, of_recipient=target.url != config.response_webhook_url)


def _configured_headers(config: WebhookConfig) -> dict[str, str]:
    if not config.response_headers:
        return {}
    headers = json.loads(config.response_headers)
    return {name: value for name, value in headers.items() if name.lower() not in UNSETTABLE}


def _merged(*layers: Mapping[str, str]) -> dict[str, str]:
    """All headers; a later layer replaces the header of an earlier one, whatever the case of its name."""
    named = {name.lower(): (name, value) for layer in layers for name, value in layer.items()}
    return dict(named.values())
