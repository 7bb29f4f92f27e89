"""Reads a call of manual_trigger: fires the schedule by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping

from adapters.outbound.channels.common.bodies import json_object, same
from domain.channels.messages import Config, Event, RawAnswer, RawCall, Received, Sender
from domain.refusals import Fault, Invalid, NotFound, Unauthenticated

CALLBACK = "manual_trigger"
SECRET = "x-webhook-secret"  # noqa: S105 - the name of a header


def receive(config: Config, call: RawCall) -> Received:
    """Checks the secret, if there is one, and fires. Raises `Unauthenticated`, `Invalid`, `NotFound`."""
    if call.callback != CALLBACK:
        raise NotFound(f"This channel has no callback '{call.callback}'; its callback is '{CALLBACK}'.")
    secret = str(config.get("triggerSecret") or "")
    if secret and not same(call.headers.get(SECRET, ""), secret):
        raise Unauthenticated("X-Webhook-Secret is not the triggerSecret of this instance.")
    event = firing(config, _instance(call), message=_message(call), request_id=call.id)
    body = {"status": "accepted", "requestId": call.id}
    answer = RawAnswer(202, json.dumps(body).encode(), {"content-type": "application/json"})
    return Received(answer, events=(event,), kind="trigger")


def firing(
    config: Config,
    instance: str,
    *,
    key: str | None = None,
    message: str | None = None,
    request_id: str = "",
    raw: Mapping[str, str] | None = None,
) -> Event:
    """The event of a firing; `message` stands in for the configured one."""
    return Event(
        key=key,
        session_id=instance,
        sender=Sender("cron", "Cron"),
        text=message or str(config["message"]),
        target={},
        request_id=request_id,
        raw=raw or {},
    )


def _message(call: RawCall) -> str | None:
    if not call.body.strip():
        return None
    message = json_object(call.body).get("message")
    if message is not None and not isinstance(message, str):
        raise Invalid.of([Fault("message", "must be a string")])
    return message or None


def _instance(call: RawCall) -> str:
    """The instance's id, which stands before the callback in the address."""
    return call.url.partition("?")[0].rstrip("/").split("/")[-2]
