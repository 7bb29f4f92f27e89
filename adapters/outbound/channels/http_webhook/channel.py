"""The HTTP webhook channel."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from adapters.outbound.channels.common.outcomes import by_status, exchange
from adapters.outbound.channels.http_webhook.definition import DEFINITION
from adapters.outbound.channels.http_webhook.limits import limits
from adapters.outbound.channels.http_webhook.signatures import BadSecret, sign
from adapters.outbound.channels.http_webhook.webhook import json_answer, receive
from domain.channels.limits import Limits
from domain.channels.messages import (
    Answer,
    CallOutcome,
    ChannelMetadata,
    Config,
    Event,
    OutboundMessage,
    Outcome,
    RawAnswer,
    RawCall,
    Received,
    Sent,
    Target,
)
from domain.channels.typed import RAW
from ports.channels import Channel, ChannelDependencies
from ports.http import HttpRequest

UNSETTABLE = frozenset({"host", "content-length", "transfer-encoding", "connection"})
"""Headers of the connection itself, which responseHeaders cannot set."""


class HttpWebhook:
    """Takes any JSON POST; answers in the call, or at a response address."""

    wait_seconds = 30.0

    def __init__(self, dependencies: ChannelDependencies) -> None:
        self._http = dependencies.http
        self._clock = dependencies.clock

    def receive(self, config: Config, call: RawCall, known: ChannelMetadata, now: datetime) -> Received:
        return receive(config, call, now)

    def answer_in_call(
        self, config: Config, event: Event, outcome: CallOutcome, answer: Answer | None
    ) -> RawAnswer:
        if outcome is CallOutcome.TIMEOUT:
            words = "No answer within 30 seconds"
            if event.target.get("url"):
                words += "; it will be sent to the response address"
            return json_answer({"status": "timeout", "requestId": event.request_id, "message": words}, 504)
        if outcome is CallOutcome.FAILED or answer is None:
            words = answer.text if answer else "The message was not answered"
            return json_answer({"status": "error", "requestId": event.request_id, "message": words}, 502)
        body: dict[str, Any] = {"status": "success", "requestId": event.request_id, "response": answer.text}
        if answer.artifacts:
            body["artifacts"] = _artifacts(answer)
        return json_answer(body)

    def render(self, config: Config, target: Target, answer: Answer) -> Sequence[OutboundMessage]:
        if not target.get("url"):
            return []
        return [
            OutboundMessage(
                {
                    "status": "success",
                    "requestId": answer.request_id,
                    "sessionId": answer.session_id,
                    "response": answer.text,
                    "artifacts": _artifacts(answer),
                }
            )
        ]

    def limits(self, config: Config, target: Target) -> Limits:
        return limits(config, target)

    async def send(self, config: Config, target: Target, part: OutboundMessage, key: str) -> Sent:
        body = json.dumps(part.payload, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        headers = {"Content-Type": "application/json", "Idempotency-Key": key}
        secret = config.get("webhookSecret")
        try:
            proof = sign(secret, key, body, self._clock.now()) if secret else {}
        except BadSecret as bad:
            return Sent(Outcome.PERMANENT, str(bad))
        headers = _joined(headers, _own_headers(config), proof)
        answer = await exchange(
            self._http, HttpRequest("POST", target["url"], headers, content=body, user_address=True)
        )
        return answer if isinstance(answer, Sent) else by_status(answer)


def _artifacts(answer: Answer) -> list[dict[str, str]]:
    return [{"name": each.name, "mimeType": each.mime_type, "url": each.url} for each in answer.artifacts]


def _own_headers(config: Config) -> dict[str, str]:
    headers = json.loads(config.get("responseHeaders") or "{}")
    return {name: value for name, value in headers.items() if name.lower() not in UNSETTABLE}


def _joined(*layers: Mapping[str, str]) -> dict[str, str]:
    """All the headers; a later layer replaces what an earlier one has, whatever the case of its name."""
    named = {name.lower(): (name, value) for layer in layers for name, value in layer.items()}
    return dict(named.values())


def build(dependencies: ChannelDependencies) -> Channel[Config, Target]:
    channel = HttpWebhook(dependencies)
    return Channel(
        definition=DEFINITION,
        config=RAW,
        target=RAW,
        webhook=channel,
        call_responder=channel,
        sender=channel,
        limits=channel,
    )
