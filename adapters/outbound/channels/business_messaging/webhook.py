"""Reads what the WhatsApp Cloud API posts (https://developers.facebook.com/docs/whatsapp/cloud-api/webhooks/components)."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from itertools import starmap
from typing import Any

from adapters.outbound.channels.common import calls, contents
from adapters.outbound.channels.common.bodies import (
    at,
    camel_case,
    first_text,
    integer,
    items,
    json_object,
    same,
    text,
)
from domain.channels import messages
from domain.refusals import Forbidden, Unauthenticated

from .api import OF_RECIPIENT, error_text
from .config import TARGET, WhatsAppConfig, WhatsAppTarget

_FIELDS = ("", "messages", "user_id_update")
_RENAMES = ("user_changed_number", "customer_changed_number", "user_changed_user_id")
_MIME_TYPES = {
    "image": "image/jpeg",
    "video": "video/mp4",
    "audio": "audio/ogg",
    "voice": "audio/ogg",
    "document": "application/octet-stream",
    "sticker": "image/webp",
}
"""Kinds of media, and the media type of each where the message names none."""
_SILENT = ("", "text", "interactive", "button", "reaction", "system", "request_welcome", "edit", "revoke")
"""Kinds without a notice where they have no text: empty messages, and those about other messages."""


def receive(
    config: WhatsAppConfig, call: messages.RawCall, metadata: messages.ChannelMetadata, now: datetime
) -> messages.Received:
    """Answers the subscription challenge (GET), or verifies and reads a notification."""
    calls.require_webhook(call)
    if call.method.upper() in ("GET", "HEAD"):
        query = call.query
        token = query.get("hub.verify_token", "")
        if query.get("hub.mode") != "subscribe" or not same(token, config.webhook_verify_token):
            raise Forbidden(
                "hub.mode or hub.verify_token is wrong: it must be webhookVerifyToken of the instance."
            )
        headers = {"content-type": "text/plain; charset=utf-8"}
        return messages.Received(
            messages.RawAnswer(200, query.get("hub.challenge", "").encode(), headers), kind="challenge"
        )
    if not config.app_secret:
        missing_proof_field = "appSecret"
    elif same(call.headers.get("x-hub-signature-256", ""), calls.signature(config.app_secret, call.body)):
        missing_proof_field = None
    else:
        raise Unauthenticated("The header X-Hub-Signature-256 does not fit the body and appSecret.")
    events: list[messages.Event] = []
    ignored: list[str] = []
    statuses: list[messages.DeliveryStatus] = []
    renames: list[messages.SessionRename] = []
    aliases: dict[messages.SessionAlias, None] = {}
    for value in _values(config, json_object(call.body)):
        for message in items(value, "messages"):
            match read_message(message, value, reactions=config.reactions):
                case messages.Event() as event:
                    events.append(event)
                case reason:
                    ignored.append(reason)
        statuses += filter(None, map(_status, items(value, "statuses")))
        renames += renames_of(value)
        aliases |= dict.fromkeys(aliases_of(value))
    kinds = {"message": events, "status": statuses, "rename": renames}
    return messages.Received(
        events=tuple(events),
        delivery_statuses=tuple(statuses),
        session_renames=tuple(renames),
        session_aliases=tuple(aliases),
        kind=next((kind for kind, read in kinds.items() if read), f"ignored:{(*ignored, 'other')[0]}"),
        missing_proof_field=missing_proof_field,
    )


def _values(config: WhatsAppConfig, body: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The values of the changes at this instance's own number."""
    for entry in items(body, "entry"):
        for change in items(entry, "changes"):
            value = at(change, "value")
            is_own = text(value, "metadata", "phone_number_id") in ("", config.phone_number_id)
            if isinstance(value, dict) and is_own and text(change, "field") in _FIELDS:
                yield value


def _status(status: Any) -> messages.DeliveryStatus | None:
    ref, state = text(status, "id"), text(status, "status")
    if not ref or not state:
        return None
    errors = items(status, "errors")
    detail = "; ".join(filter(None, map(error_text, errors)))
    of_recipient = any(integer(error, "code") in OF_RECIPIENT for error in errors)
    key = text(status, "biz_opaque_callback_data")
    return messages.DeliveryStatus(ref, state, state == "failed", detail, key, of_recipient)


def aliases_of(value: Mapping[str, Any]) -> Iterator[messages.SessionAlias]:
    """The business-scoped ids of people whose number is known: once they hide it, the id comes alone
    (https://developers.facebook.com/documentation/business-messaging/whatsapp/business-scoped-user-ids)."""
    pairs = [(text(contact, "wa_id"), text(contact, "user_id")) for contact in items(value, "contacts")]
    pairs += [(text(message, "from"), text(message, "from_user_id")) for message in items(value, "messages")]
    for phone, scoped in pairs:
        if phone and scoped and phone != scoped:
            yield messages.SessionAlias(scoped, phone)


def renames_of(value: Mapping[str, Any]) -> Iterator[messages.SessionRename]:
    """People who have another number or business-scoped id from now on.

    Meta reports both in system messages of the field 'messages'
    (https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/messages/system);
    some providers pass on a field 'user_id_update' of their own.
    """
    for message in items(value, "messages"):
        if text(message, "type") == "system" and text(message, "system", "type") in _RENAMES:
            system = at(message, "system")
            previous = (
                text(message, "from") or text(system, "previous_user_id") or text(message, "from_user_id")
            )
            yield from _rename(previous, first_text(system, "wa_id", "new_wa_id", "user_id"))
    updates = at(value, "user_id_update")
    for update in updates if isinstance(updates, list) else [updates]:
        if not text(update, "wa_id"):  # who shows a number is known by it: another id changes nothing
            ids = at(update, "user_id") if isinstance(at(update, "user_id"), Mapping) else update
            yield from _rename(text(ids, "previous"), text(ids, "current"))


def _rename(previous: str, current: str) -> Iterator[messages.SessionRename]:
    if previous and current and previous != current:
        yield messages.SessionRename(previous, current)


def read_message(message: Any, value: Mapping[str, Any], *, reactions: bool = False) -> messages.Event | str:
    """Returns the event of a message (of a reaction only with `reactions`), or why it is ignored.

    A sender may be known by phone number, by a business-scoped id, or by both.
    """
    phone, scoped = text(message, "from"), text(message, "from_user_id")
    if not (phone or scoped):
        return "incomplete"
    own = "".join(filter(str.isdigit, text(value, "metadata", "display_phone_number")))
    if own and phone == own:
        return "own"
    event = _with_content(_event(message, value), message, reactions=reactions)
    is_empty = not (event.text or event.attachments or event.reaction)
    if is_empty and (text(message, "group_id") or text(message, "type") in _SILENT):
        return "kind"
    return replace(event, canned_reply=contents.unreadable()) if is_empty else event


def _event(message: Any, value: Mapping[str, Any]) -> messages.Event:
    """The event of a message, without what the message says."""
    phone, scoped = text(message, "from"), text(message, "from_user_id")
    ids = {phone, scoped} - {""}
    names = (
        text(contact, "profile", "name")
        for contact in items(value, "contacts")
        if ids & {text(contact, "wa_id"), text(contact, "user_id")}
    )
    identities = (("business-messaging", phone), ("phone", phone), ("business-messaging", scoped))
    proved = tuple(messages.Identity(kind, id) for kind, id in identities if id)
    wamid, group, original = text(message, "id"), text(message, "group_id"), text(message, "context", "id")
    target = WhatsAppTarget(to=phone, recipient="" if phone else scoped, message_id=wamid)
    if group:
        target = WhatsAppTarget(group=group, message_id=wamid)
    return messages.Event(
        key=wamid or None,
        session_id=group or phone or scoped,
        sender=messages.Sender(phone or scoped, next(names, ""), proved),
        text="",
        target=TARGET.dump(target),
        quoted=messages.Quoted(ref=original, key=original) if original else None,
        is_direct=not group,
        alias=target.recipient,
        message_id=wamid,
        written_at=contents.moment(text(message, "timestamp")),
        context=_context(message, value),
    )


def _context(message: Any, value: Mapping[str, Any]) -> dict[str, object]:
    """What an agent needs beside the text: the ad or the product that the person came from, the group, the values of
    a form (Flow), the line below a picked row, the name by which a person without a number is known."""
    interactive, context = at(message, "interactive"), at(message, "context")
    frequently = at(context, "frequently_forwarded") is True
    is_forwarded = frequently or at(context, "forwarded") is True
    usernames = (text(contact, "profile", "username") for contact in items(value, "contacts"))
    return {
        "group": {"id": text(message, "group_id")},
        "payload": text(interactive, "nfm_reply", "response_json"),
        "forwarded": {"frequently": frequently} if is_forwarded else {},
        "referral": camel_case(at(message, "referral")),
        "platform": {
            "form": text(interactive, "nfm_reply", "name"),
            "description": text(interactive, "list_reply", "description"),
            "referredProduct": camel_case(at(context, "referred_product")),
            "username": next(filter(None, usernames), ""),
        },
    }


def _with_content(event: messages.Event, message: Any, *, reactions: bool) -> messages.Event:
    """The event with what the message says. The press of a button quotes nothing."""
    kind = text(message, "type")
    part, body, choice = at(message, kind), "", ""
    context: Mapping[str, object] = {}
    match kind:
        case "text":
            body = text(part, "body")
        case "interactive":
            reply = at(part, "button_reply") or at(part, "list_reply")
            choice = text(reply, "id")
            body = text(reply, "title") or choice or text(part, "nfm_reply", "response_json")
        case "button":  # a quick reply of a template
            choice = text(part, "payload")
            body = text(part, "text") or choice
        case "location":
            place = (part, text(part, "name"), text(part, "address"))
            body, context = contents.location_text(*place), contents.location_context(*place)
        case "contacts":
            contacts = [*map(_contact, items(message, "contacts"))]
            body = "\n".join(filter(None, starmap(contents.contact_text, contacts)))
            context = contents.contact_context(*contacts[0]) if contacts else {}
        case "order":
            products = [
                {
                    "productId": text(item, "product_retailer_id"),
                    "quantity": at(item, "quantity"),
                    "price": at(item, "item_price"),
                    "currency": text(item, "currency"),
                }
                for item in items(part, "product_items")
            ]
            order = {"catalogId": text(part, "catalog_id"), "text": text(part, "text"), "items": products}
            body, context = contents.order_text(order), {"order": order}
        case "reaction" if reactions and text(part, "message_id") and text(part, "emoji"):
            ref = text(part, "message_id")
            event = replace(event, reaction=text(part, "emoji"), reacts_to=ref, reacted_ref=ref)
        case _ if kind in _MIME_TYPES:
            body, event = text(part, "caption"), replace(event, attachments=_attachments(kind, part))
    return replace(
        event,
        text=body.strip(),
        choice=choice or None,
        quoted=None if choice else event.quoted,
        context={**event.context, **context},
    )


def _attachments(kind: str, file: Any) -> tuple[messages.Attachment, ...]:
    media_id = text(file, "id")
    if not media_id:
        return ()
    mime_type = text(file, "mime_type").partition(";")[0].strip() or _MIME_TYPES[kind]
    name = text(file, "filename") or contents.file_name(kind, mime_type)
    is_voice = kind == "voice" or at(file, "voice") is True
    return (messages.Attachment(name, mime_type, {"media_id": media_id}, is_voice=is_voice),)


def _contact(contact: Any) -> tuple[str, list[str], list[str]]:
    phones = (text(phone, "phone") for phone in items(contact, "phones"))
    emails = (text(email, "email") for email in items(contact, "emails"))
    return text(contact, "name", "formatted_name"), [*filter(None, phones)], [*filter(None, emails)]
