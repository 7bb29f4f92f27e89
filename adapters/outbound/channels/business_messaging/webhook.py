"""Reads what the WhatsApp Cloud API posts (https://developers.facebook.com/docs/whatsapp/cloud-api/webhooks).

Messages of a person to a WhatsApp business number. Pure.

https://developers.facebook.com/docs/whatsapp/cloud-api/webhooks/components
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from adapters.outbound.channels.business_messaging.api import OF_RECIPIENT, error_text
from adapters.outbound.channels.business_messaging.config import TARGET, WhatsAppConfig, WhatsAppTarget
from adapters.outbound.channels.common.bodies import at, camel_case, integer, items, json_object, same, text
from adapters.outbound.channels.common.calls import require_webhook, signature
from adapters.outbound.channels.common.contents import (
    contact_context,
    contact_text,
    file_name,
    location_context,
    location_text,
    order_text,
    unreadable,
)
from domain.channels.messages import (
    Attachment,
    ChannelMetadata,
    DeliveryStatus,
    Event,
    Identity,
    Quoted,
    RawAnswer,
    RawCall,
    Received,
    Sender,
    SessionAlias,
    SessionRename,
)
from domain.refusals import Forbidden, Unauthenticated

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


_DIGITS = 11
"""Of a time in seconds since 1970 up to the year 5138."""
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
"""Kinds that say nothing where they have no text: empty messages, and what WhatsApp tells of other messages."""


def read_message(message: Any, value: Mapping[str, Any], *, reactions: bool = False) -> Event | str:
    """The event of a message, of a reaction where those are wanted, or a word that says why there is none.

    A sender may be known by phone number, by a business-scoped id, or by both.
    """
    phone, scoped = text(message, "from"), text(message, "from_user_id")
    if not (phone or scoped):
        return "incomplete"
    own = text(value, "metadata", "display_phone_number")
    if phone and phone == "".join(character for character in own if character.isdigit()):
        return "own"
    body, choice = _text_and_choice(message)
    attachments = _attachments(message)
    reacts_to = text(message, "reaction", "message_id")
    reaction = text(message, "reaction", "emoji") if reactions and reacts_to else ""
    wamid, group = text(message, "id"), text(message, "group_id")
    notice = None if body or attachments or reaction or group else _notice(message)
    if not (body or attachments or reaction or notice):
        return "kind"
    target = WhatsAppTarget(to=phone, recipient="" if phone else scoped, message_id=wamid)
    if group:
        target = WhatsAppTarget(group=group, message_id=wamid)
    return Event(
        key=wamid or None,
        session_id=group or session_of(phone, scoped),
        sender=Sender(phone or scoped, _name(value, phone, scoped), _identities(phone, scoped)),
        text=body,
        target=TARGET.dump(target),
        attachments=attachments,
        choice=choice,
        canned_reply=notice,
        quoted=None if choice else _quoted(message),
        reaction=reaction,
        reacts_to=reacts_to if reaction else "",
        is_direct=not group,
        alias="" if phone or group else scoped,
        message_id=wamid,
        written_at=_written_at(message),
        context={**_told(message, value), **_context(message)},
    )


def session_of(phone: str, scoped: str) -> str:
    """A person, by phone number where it is known, else by the business-scoped id."""
    return phone or scoped


def _written_at(message: Any) -> datetime | None:
    """When the person wrote, which may be days before Meta hands the message over. None for what is no time."""
    seconds = text(message, "timestamp")
    is_time = seconds.isascii() and seconds.isdigit() and len(seconds) <= _DIGITS
    return datetime.fromtimestamp(int(seconds), UTC) if is_time else None


def _told(message: Any, value: Mapping[str, Any]) -> dict[str, object]:
    """What an agent needs beside the text: the ad or the product that the person came from, the group, the values of
    a form (Flow), the line below a picked row, the name by which a person without a number is known."""
    interactive = at(message, "interactive")
    said = at(message, "context")
    forwarded = {"frequently": at(said, "frequently_forwarded") is True}
    is_forwarded = at(said, "forwarded") is True or forwarded["frequently"]
    return {
        "group": {"id": text(message, "group_id")},
        "payload": text(interactive, "nfm_reply", "response_json"),
        "forwarded": forwarded if is_forwarded else {},
        "referral": camel_case(at(message, "referral")),
        "platform": {
            "form": text(interactive, "nfm_reply", "name"),
            "description": text(interactive, "list_reply", "description"),
            "referredProduct": camel_case(at(said, "referred_product")),
            "username": next(
                filter(None, (text(contact, "profile", "username") for contact in items(value, "contacts"))),
                "",
            ),
        },
    }


def _quoted(message: Any) -> Quoted | None:
    """What was replied to, of which WhatsApp tells the id alone and gives no way to read it."""
    wamid = text(message, "context", "id")
    return Quoted(ref=wamid, key=wamid) if wamid else None


def _text_and_choice(message: Any) -> tuple[str, str | None]:
    """The text and the pressed button; empty for reactions, system notes and unsupported kinds."""
    kind = text(message, "type")
    choice = ""
    if kind in _MIME_TYPES:
        body = text(message, kind, "caption")
    elif kind == "text":
        body = text(message, "text", "body")
    elif kind == "interactive":
        body, choice = _reply(at(message, "interactive"))
    elif kind == "button":  # a quick reply of a template
        choice = text(message, "button", "payload")
        body = text(message, "button", "text") or choice
    elif kind == "location":
        location = at(message, "location")
        body = location_text(location, text(location, "name"), text(location, "address"))
    elif kind == "contacts":
        contacts = (contact_text(*_contact(contact)) for contact in items(message, "contacts"))
        body = "\n".join(filter(None, contacts))
    elif kind == "order":
        body = order_text(_order(message))
    else:
        body = ""
    return body.strip(), choice or None


def _reply(interactive: Any) -> tuple[str, str]:
    for kind in ("button_reply", "list_reply"):
        if isinstance(reply := at(interactive, kind), dict):
            choice = text(reply, "id")
            return text(reply, "title") or choice, choice
    return text(interactive, "nfm_reply", "response_json"), ""


def _attachments(message: Any) -> tuple[Attachment, ...]:
    kind = text(message, "type")
    file = at(message, kind)
    media_id = text(file, "id")
    if kind not in _MIME_TYPES or not media_id:
        return ()
    mime_type = text(file, "mime_type").partition(";")[0].strip() or _MIME_TYPES[kind]
    name = text(file, "filename") or file_name(kind, mime_type)
    is_voice = kind == "voice" or at(file, "voice") is True
    return (Attachment(name, mime_type, {"media_id": media_id}, is_voice=is_voice),)


def _notice(message: Any) -> str | None:
    """For a message to the bot alone of a kind that cannot be read, such as a poll, which comes as 'unsupported'."""
    kind = text(message, "type")
    return None if kind in _SILENT else unreadable()


def _context(message: Any) -> dict[str, object]:
    """What a message tells beside its text."""
    match text(message, "type"):
        case "location":
            location = at(message, "location")
            return location_context(location, text(location, "name"), text(location, "address"))
        case "contacts":
            contacts = map(_contact, items(message, "contacts"))
            return next((contact_context(*contact) for contact in contacts), {})
        case "order":
            return {"order": _order(message)}
    return {}


def _contact(contact: Any) -> tuple[str, list[str]]:
    phones = (text(phone, "phone") for phone in items(contact, "phones"))
    return text(contact, "name", "formatted_name"), list(filter(None, phones))


def _order(message: Any) -> dict[str, object]:
    order = at(message, "order")
    products = [
        {
            "productId": text(item, "product_retailer_id"),
            "quantity": at(item, "quantity"),
            "price": at(item, "item_price"),
            "currency": text(item, "currency"),
        }
        for item in items(order, "product_items")
    ]
    return {"catalogId": text(order, "catalog_id"), "text": text(order, "text"), "items": products}


def _identities(phone: str, scoped: str) -> tuple[Identity, ...]:
    own = (Identity("business-messaging", phone), Identity("phone", phone)) if phone else ()
    return (*own, Identity("business-messaging", scoped)) if scoped else own


def _name(value: Mapping[str, Any], phone: str, scoped: str) -> str:
    ids = {phone, scoped} - {""}
    for contact in items(value, "contacts"):
        if ids & {text(contact, "wa_id"), text(contact, "user_id")}:
            return text(contact, "profile", "name")
    return ""
