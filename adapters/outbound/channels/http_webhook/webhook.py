"""A call of an HTTP webhook: its proof of origin, its message, its session, its response address. Pure."""

import hashlib
import json
import uuid
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from adapters.outbound.channels.common import calls
from adapters.outbound.channels.common.bodies import at, json_value, same, text
from domain.addresses import address_fault
from domain.channels.answers import Answer
from domain.channels.messages import CallOutcome, ChannelMetadata, Event, RawAnswer, RawCall, Received, Sender
from domain.channels.rich import Form, rich_json
from domain.conversations.forms import is_form
from domain.refusals import Fault, Invalid, Unauthenticated
from domain.subscriptions.model import is_standard

from .config import TARGET, WebhookConfig, WebhookTarget

SIGNATURE_HEADERS = ("x-webhook-signature", "x-hub-signature-256", "x-signature")
MESSAGE_PATHS = ("message", "text", "content", "body", "data.message", "payload.text")
SESSION_PATHS = ("sessionId", "session_id", "userId", "user_id", "id")
RESPONSE_KEYS = ("responseUrl", "response_url")
LONGEST_KEY = 1000
wait_seconds = 30.0


def receive(config: WebhookConfig, call: RawCall, metadata: ChannelMetadata, now: datetime) -> Received:
    calls.require_webhook(call)
    if call.method != "POST":
        answer = {"error": f"{call.method} is not allowed here; POST a JSON body"}
        return Received(calls.json_answer(answer, 405, allow="POST"), kind="ignored:method")
    if config.webhook_secret:
        verify(config.webhook_secret, call, now)
    body = json_value(call.body)
    key = call.headers.get("webhook-id") or call.headers.get("idempotency-key") or None
    if key and len(key) > LONGEST_KEY:  # hashed in full: two keys may begin alike
        key = hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()
    address = call.url.partition("?")[0]  # a retry is the same request, whatever its query says
    request_id = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{address}#{key}")) if key else call.id
    session = session_of(config, body) or request_id
    message = message_of(config, body)
    event = Event(
        key=key,
        session_id=session,
        sender=Sender(session),
        text=message,
        **_picked(body, message),
        target=TARGET.dump(WebhookTarget(url=_response_address(config, body))),
        awaits_reply=config.sync_response,
        request_id=request_id,
    )
    accepted = {"status": "accepted", "requestId": request_id, "message": "The message was accepted"}
    return Received(calls.json_answer(accepted), (event,))


def verify(secret: str, call: RawCall, now: datetime) -> None:
    """Checks the HMAC-SHA256 in hexadecimal, or the signature of Standard Webhooks. Raises `Unauthenticated`.

    https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
    """
    expected = calls.signature(secret, call.body)
    signatures = [call.headers[name] for name in SIGNATURE_HEADERS if name in call.headers]
    if any(same(f"sha256={value.strip().lower().removeprefix('sha256=')}", expected) for value in signatures):
        return
    if not (is_standard(secret) and "webhook-signature" in call.headers):
        if signatures:
            raise Unauthenticated("the signature does not fit the body and webhookSecret")
        raise Unauthenticated("X-Webhook-Signature: is missing; this instance has a webhookSecret")
    seconds = calls.signed_at(call, "webhook-timestamp", now)
    try:
        expected = calls.standard_signature(secret, call.headers.get("webhook-id", ""), seconds, call.body)
    except calls.BadSecret as error:
        raise Unauthenticated(str(error)) from None
    if not any(same(value, expected) for value in call.headers["webhook-signature"].split()):
        raise Unauthenticated("webhook-signature: does not fit the body and webhookSecret")


def _picked(body: object, message: str) -> dict[str, Any]:
    """The choice or the form that a call names, as fields of its event."""
    form = at(body, "form")
    if is_form(reference := text(form, "reference")):
        values = at(form, "values")
        return {"choice": reference, "form_input": values if isinstance(values, dict) else {}}
    claims_choice = at(body, "choice") is True
    return {"choice": message if claims_choice else None, "claims_choice": claims_choice}


def answer_in_call(
    config: WebhookConfig, event: Event, outcome: CallOutcome, answer: Answer | None
) -> RawAnswer:
    if outcome is CallOutcome.TIMEOUT:
        message = "No answer within 30 seconds"
        if event.target.get("url"):
            message += "; it will be sent to the response address"
        return calls.json_answer(
            {"status": "timeout", "requestId": event.request_id, "message": message}, 504
        )
    if outcome is CallOutcome.FAILED or answer is None:
        message = answer.text if answer else "The message was not answered"
        return calls.json_answer({"status": "error", "requestId": event.request_id, "message": message}, 502)
    body: dict[str, Any] = {"status": "success", "requestId": event.request_id, "response": answer.text}
    return calls.json_answer(
        body
        | ({"artifacts": artifacts_of(answer)} if answer.artifacts else {})
        | ({"choices": choices_of(answer)} if answer.choices else {})
        | rich_of(answer)
    )


def shows_form(config: WebhookConfig, target: WebhookTarget, form: Form) -> bool:
    """Programs get a form as JSON, and send its values in one call."""
    return True


def rich_of(answer: Answer) -> dict[str, object]:
    """The rich content as the resource gave it; a form with the `reference` that its values have to name."""
    content = rich_json(answer.rich) if answer.rich else {}
    if isinstance(form := content.get("form"), dict):
        form["reference"] = answer.form_reference
    return content


def choices_of(answer: Answer) -> list[dict[str, str]]:
    return [{"label": choice.label, "value": choice.value} for choice in answer.choices]


def artifacts_of(answer: Answer) -> list[dict[str, str]]:
    return [
        {"name": artifact.name, "mimeType": artifact.mime_type, "url": artifact.url}
        for artifact in answer.artifacts
    ]


def message_of(config: WebhookConfig, body: Any) -> str:
    """The message: at messageField, else at the first usual path, else the body."""
    message = next(_values(body, config.message_field, MESSAGE_PATHS), body)
    return message if isinstance(message, str) else json.dumps(message, ensure_ascii=False)


def session_of(config: WebhookConfig, body: Any) -> str | None:
    """The session id: at sessionIdField, else at the first usual path. None without one."""
    for value in _values(body, config.session_id_field, SESSION_PATHS):
        if isinstance(value, (str, int, float)) and not isinstance(value, bool) and value != "":
            return str(value)
    return None


def _values(body: Any, own_path: str, usual_paths: tuple[str, ...]) -> Iterator[Any]:
    values = (at_path(body, path) for path in (own_path, *usual_paths) if path)
    return (value for value in values if value is not None)


def at_path(value: Any, path: str) -> Any:
    """The value at a dot-path; a numeric segment indexes an array. None if the path breaks off."""
    for segment in path.split("."):
        if isinstance(value, dict):
            value = value.get(segment)
        elif isinstance(value, list) and segment.isascii() and segment.isdigit() and len(segment) < 10:
            value = value[int(segment)] if int(segment) < len(value) else None
        else:
            return None
    return value


def _response_address(config: WebhookConfig, body: Any) -> str:
    """The payload's own address, else the configured one. Raises `Invalid`."""
    for key in RESPONSE_KEYS:
        address = at_path(body, key)
        if address is None or address == "":
            continue
        if fault := address_fault(address if isinstance(address, str) else ""):
            raise Invalid.of([Fault(key, fault)])
        return str(address)
    return config.response_webhook_url
