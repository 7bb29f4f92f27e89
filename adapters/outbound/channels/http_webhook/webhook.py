"""A call of an HTTP webhook: its proof of origin, its message, its session, its response address. Pure."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from adapters.outbound.channels.common.bodies import json_value
from adapters.outbound.channels.http_webhook.signatures import prove
from domain.channels.messages import Config, Event, RawAnswer, RawCall, Received, Sender
from domain.instances.validation import address_fault
from domain.refusals import Fault, Invalid, NotFound

MESSAGE_PATHS = ("message", "text", "content", "body", "data.message", "payload.text")
SESSION_PATHS = ("sessionId", "session_id", "userId", "user_id", "id")
RESPONSE_KEYS = ("responseUrl", "response_url")
LONGEST_KEY = 1000


def receive(config: Config, call: RawCall, now: datetime) -> Received:
    """Proves and reads a call. Raises `Unauthenticated`, `Invalid`, `NotFound`."""
    if call.callback != "webhook":
        raise NotFound(f"an http-webhook has no callback '{call.callback}'; use /webhook")
    if call.method != "POST":
        answer = {"error": f"{call.method} is not allowed here; POST a JSON body"}
        return Received(json_answer(answer, 405, {"allow": "POST"}), kind="ignored:method")
    if secret := config.get("webhookSecret"):
        prove(secret, call.headers, call.body, now)
    body = json_value(call.body)
    event = _event(config, call, body)
    accepted = {"status": "accepted", "requestId": event.request_id, "message": "The message was accepted"}
    return Received(json_answer(accepted), (event,))


def json_answer(body: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> RawAnswer:
    """A JSON answer to the call."""
    content = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return RawAnswer(status, content, {"content-type": "application/json", **(headers or {})})


def _event(config: Config, call: RawCall, body: Any) -> Event:
    key = _key(call)
    address = call.url.partition("?")[0]  # a retry is the same request, whatever its query says
    request_id = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{address}#{key}")) if key else call.id
    session = session_of(config, body)
    waits = config.get("syncResponse") is True
    return Event(
        key=key,
        session_id=session or request_id,
        sender=Sender(session or request_id),
        text=message_of(config, body),
        target={"url": _response_address(config, body)},
        awaits_reply=waits,
        request_id=request_id,
    )


def _key(call: RawCall) -> str | None:
    key = call.headers.get("webhook-id") or call.headers.get("idempotency-key")
    if key and len(key) > LONGEST_KEY:  # as a whole, lest two that begin alike are taken for one
        return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()
    return key or None


def message_of(config: Config, body: Any) -> str:
    """The message: at messageField, else at the first usual place, else the whole body."""
    places = (config.get("messageField"), *MESSAGE_PATHS)
    for place in filter(None, places):
        found = at_path(body, place)
        if found is not None:
            return _as_text(found)
    return _as_text(body)


def session_of(config: Config, body: Any) -> str | None:
    """The session id: at sessionIdField, else at the first usual place; None when there is none."""
    places = (config.get("sessionIdField"), *SESSION_PATHS)
    for place in filter(None, places):
        found = at_path(body, place)
        if isinstance(found, (str, int, float)) and not isinstance(found, bool) and found != "":
            return str(found)
    return None


def at_path(value: Any, path: str) -> Any:
    """What stands at a dot-path; a numeric segment indexes an array. None where the path breaks off."""
    for segment in path.split("."):
        if isinstance(value, dict):
            value = value.get(segment)
        elif isinstance(value, list) and segment.isascii() and segment.isdigit() and len(segment) < 10:
            value = value[int(segment)] if int(segment) < len(value) else None
        else:
            return None
    return value


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _response_address(config: Config, body: Any) -> str | None:
    """The payload's own address comes first, then the configured one."""
    for key in RESPONSE_KEYS:
        given = at_path(body, key)
        if given is None or given == "":
            continue
        if fault := address_fault(given if isinstance(given, str) else ""):
            raise Invalid.of([Fault(key, fault)])
        return str(given)
    return config.get("responseWebhookUrl") or None
