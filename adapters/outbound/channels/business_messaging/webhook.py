"""Reads what the WhatsApp Cloud API posts (https://developers.facebook.com/docs/whatsapp/cloud-api/webhooks)."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from adapters.outbound.channels.common.bodies import at, integer, items, json_object, same, text
from adapters.outbound.channels.common.calls import require_webhook, signature
from domain.channels.messages import (
    ChannelMetadata,
    DeliveryStatus,
    Event,
    RawAnswer,
    RawCall,
    Received,
    SessionAlias,
    SessionRename,
)
from domain.refusals import Forbidden, Unauthenticated

from .api import OF_RECIPIENT, error_text
from .config import WhatsAppConfig
from .messages import read_message

_FIELDS = ("", "messages", "user_id_update")
_RENAMES = ("user_changed_number", "customer_changed_number", "user_changed_user_id")


def receive(config: WhatsAppConfig, call: RawCall, metadata: ChannelMetadata, now: datetime) -> Received:
    """Answers the subscription challenge (GET), or verifies and reads a notification."""
    require_webhook(call)
    if call.method.upper() in ("GET", "HEAD"):
        return _challenge(config, call)
    missing_proof_field = _verify(config, call)
    values = list(_values(config, json_object(call.body)))
    read = [
        read_message(message, value, reactions=config.reactions)
        for value in values
        for message in items(value, "messages")
    ]
    events = tuple(event for event in read if isinstance(event, Event))
    statuses = (_status(status) for value in values for status in items(value, "statuses"))
    delivery_statuses = tuple(status for status in statuses if status)
    renames = tuple(rename for value in values for rename in renames_of(value))
    ignored = next((f"ignored:{reason}" for reason in read if isinstance(reason, str)), "ignored:other")
    kind = "message" if events else "status" if delivery_statuses else "rename" if renames else ignored
    return Received(
        events=events,
        delivery_statuses=delivery_statuses,
        session_renames=renames,
        session_aliases=tuple(dict.fromkeys(alias for value in values for alias in aliases_of(value))),
        kind=kind,
        missing_proof_field=missing_proof_field,
    )


def _challenge(config: WhatsAppConfig, call: RawCall) -> Received:
    query = call.query
    token = query.get("hub.verify_token", "")
    if query.get("hub.mode") != "subscribe" or not same(token, config.webhook_verify_token):
        raise Forbidden(
            "hub.mode or hub.verify_token is wrong: it must be webhookVerifyToken of the instance."
        )
    headers = {"content-type": "text/plain; charset=utf-8"}
    return Received(RawAnswer(200, query.get("hub.challenge", "").encode(), headers), kind="challenge")


def _verify(config: WhatsAppConfig, call: RawCall) -> str | None:
    """The config field without which nothing can be verified, None when the call is verified."""
    if not config.app_secret:
        return "appSecret"
    if not same(call.headers.get("x-hub-signature-256", ""), signature(config.app_secret, call.body)):
        raise Unauthenticated("The header X-Hub-Signature-256 does not fit the body and appSecret.")
    return None


def _values(config: WhatsAppConfig, body: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The values of the changes at this instance's own number."""
    for entry in items(body, "entry"):
        for change in items(entry, "changes"):
            value = at(change, "value")
            number = text(value, "metadata", "phone_number_id")
            is_own = number in ("", config.phone_number_id)
            if isinstance(value, dict) and is_own and text(change, "field") in _FIELDS:
                yield value


def _status(status: Any) -> DeliveryStatus | None:
    ref, state = text(status, "id"), text(status, "status")
    if not ref or not state:
        return None
    errors = items(status, "errors")
    detail = "; ".join(filter(None, map(error_text, errors)))
    of_recipient = any(integer(error, "code") in OF_RECIPIENT for error in errors)
    key = text(status, "biz_opaque_callback_data")
    return DeliveryStatus(ref, state, state == "failed", detail, key, of_recipient)


def aliases_of(value: Mapping[str, Any]) -> Iterator[SessionAlias]:
    """The business-scoped ids of people whose number is told with them: once they hide it, the id comes alone
    (https://developers.facebook.com/documentation/business-messaging/whatsapp/business-scoped-user-ids)."""
    told = [(text(contact, "wa_id"), text(contact, "user_id")) for contact in items(value, "contacts")]
    told += [(text(message, "from"), text(message, "from_user_id")) for message in items(value, "messages")]
    for phone, scoped in told:
        if phone and scoped and phone != scoped:
            yield SessionAlias(scoped, phone)


def renames_of(value: Mapping[str, Any]) -> Iterator[SessionRename]:
    """People who have another number or business-scoped id from now on.

    Meta tells of both in system messages of the field 'messages'
    (https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/messages/system);
    some providers pass on a field 'user_id_update' of their own.
    """
    for message in items(value, "messages"):
        if text(message, "type") == "system" and text(message, "system", "type") in _RENAMES:
            system = at(message, "system")
            previous = (
                text(message, "from") or text(system, "previous_user_id") or text(message, "from_user_id")
            )
            current = text(system, "wa_id") or text(system, "new_wa_id") or text(system, "user_id")
            yield from _rename(previous, current)
    updates = at(value, "user_id_update")
    for update in updates if isinstance(updates, list) else [updates]:
        if not text(update, "wa_id"):  # who shows a number is known by it: another id changes nothing
            ids = at(update, "user_id") if isinstance(at(update, "user_id"), Mapping) else update
            yield from _rename(text(ids, "previous"), text(ids, "current"))


def _rename(previous: str, current: str) -> Iterator[SessionRename]:
    if previous and current and previous != current:
        yield SessionRename(previous, current)
