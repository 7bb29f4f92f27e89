"""Reads what Twilio calls with: incoming messages and the later states of messages we sent.

Source: https://www.twilio.com/docs/messaging/guides/webhook-request and
https://www.twilio.com/docs/messaging/guides/outbound-message-status-in-status-callbacks
"""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from adapters.outbound.channels.common.bodies import form, json_object, query, same, text
from adapters.outbound.channels.sms_provider.delivery import KEY
from adapters.outbound.channels.sms_provider.keywords import only_rejects, opt_out_type
from adapters.outbound.channels.sms_provider.signature import SIGNATURE, is_valid
from domain.channels.messages import (
    Attachment,
    Config,
    DeliveryStatus,
    Event,
    Identity,
    RawAnswer,
    RawCall,
    Received,
    Sender,
)
from domain.refusals import Invalid, NotFound, Unauthenticated

MAX_MEDIA = 10
_XML = {"content-type": "text/xml; charset=utf-8"}
_PROLOG = b'<?xml version="1.0" encoding="UTF-8"?>'
ACKNOWLEDGED = RawAnswer(
    200, _PROLOG + b"<Response><Message>Your message was received.</Message></Response>", _XML
)
"""The answer to an incoming message: TwiML that tells the sender that it arrived."""

SILENT = RawAnswer(200, _PROLOG + b"<Response></Response>", _XML)
"""The answer to anything that must not cause a message."""

_INBOUND = frozenset({"", "received", "receiving"})
_FAILED = frozenset({"failed", "undelivered", "canceled"})
_PHONE = re.compile(r"(?:[a-z]+:)?(\+[1-9][0-9]{4,14})")


def receive(config: Config, call: RawCall) -> Received:
    """Proves the origin of a call and reads it. Raises `Unauthenticated`, `Invalid`, `NotFound`."""
    if call.callback != "webhook":
        raise NotFound(f"This channel has no callback '{call.callback}'; its callback is 'webhook'.")
    signed = _is_signed(config, call)
    fields = _fields(call)
    unproved = _prove(config, fields, signed=signed)
    state = (fields.get("MessageStatus") or fields.get("SmsStatus", "")).lower()
    if state not in _INBOUND:
        return _status(fields, state, call.query.get(KEY, ""), unproved)
    if keyword := opt_out_type(fields):
        return Received(SILENT, kind=f"ignored:{keyword}", missing_proof_field=unproved)
    if same(fields.get("From", ""), str(config.get("providerPhoneNumber", ""))):
        return Received(SILENT, kind="ignored:own", missing_proof_field=unproved)
    return _message(call, fields, unproved)


def _fields(call: RawCall) -> Mapping[str, str]:
    if call.method == "GET":
        return query(call)
    if call.headers.get("content-type", "").startswith("application/json"):
        body = json_object(call.body)
        return {name: text(body, name) for name in body}
    return form(call.body)


def _is_signed(config: Config, call: RawCall) -> bool:
    """Whether there is a signature, which must be right: checked before anybody reads the body."""
    if SIGNATURE not in call.headers:
        return False
    if not is_valid(str(config.get("authToken", "")), call):
        raise Unauthenticated(
            "X-Twilio-Signature does not match: check authToken, and that Twilio calls this very address."
        )
    return True


def _prove(config: Config, fields: Mapping[str, str], *, signed: bool) -> str | None:
    """The account must be ours.

    The account alone proves nothing (whoever calls writes it), so a call without a signature is taken as
    unproved. A status callback may leave the account out; then only the signature speaks for it.
    """
    account = fields.get("AccountSid")
    if not same(account or "", str(config.get("accountSid", ""))) and not (signed and account is None):
        raise Unauthenticated("AccountSid is not the account of this instance.")
    return None if signed else "X-Twilio-Signature"


def _status(fields: Mapping[str, str], state: str, key: str, unproved: str | None) -> Received:
    sid = _sid(fields)
    if not sid:
        raise Invalid("MessageSid is missing.")
    code = fields.get("ErrorCode", "")
    detail = " ".join(filter(None, [state, f"error {code}" if code else "", fields.get("ErrorMessage", "")]))
    receipt = DeliveryStatus(ref=sid, state=state, failed=state in _FAILED, detail=detail, key=key)
    return Received(SILENT, receipts=(receipt,), kind="status", missing_proof_field=unproved)


def _message(call: RawCall, fields: Mapping[str, str], unproved: str | None) -> Received:
    sender = fields.get("From", "")
    if not sender:
        raise Invalid("From is missing.")
    body = fields.get("Body", "")
    attachments = tuple(_media(fields))
    if not body.strip() and not attachments:
        return Received(SILENT, kind="ignored:empty", missing_proof_field=unproved)
    event = Event(
        key=_sid(fields) or None,
        session_id=sender,
        sender=Sender(sender, fields.get("ProfileName", "") or sender, _identities(sender)),
        text=body,
        target={"to": sender, "callback": call.url.partition("?")[0]},
        attachments=attachments,
        only_decides=only_rejects(fields),
        raw=dict(fields),
    )
    answer = SILENT if event.only_decides else ACKNOWLEDGED
    return Received(answer, events=(event,), missing_proof_field=unproved)


def _sid(fields: Mapping[str, str]) -> str:
    return fields.get("MessageSid") or fields.get("SmsMessageSid") or fields.get("SmsSid", "")


def _identities(sender: str) -> tuple[Identity, ...]:
    """The phone number, also of an address such as `whatsapp:+4915112345678`; short codes prove nothing."""
    number = _PHONE.fullmatch(sender)
    return (Identity("phone", number.group(1)),) if number else ()


def _media(fields: Mapping[str, str]) -> Iterator[Attachment]:
    for index in range(MAX_MEDIA):
        url = fields.get(f"MediaUrl{index}", "")
        if not url.startswith(("https://", "http://")):
            continue
        mime_type = fields.get(f"MediaContentType{index}", "") or "application/octet-stream"
        name = _last_segment(url) or f"media-{index}"
        if "." not in name:
            name += mimetypes.guess_extension(mime_type) or ""
        yield Attachment(name, mime_type, {"url": url})


def _last_segment(url: str) -> str:
    try:
        return urlsplit(url).path.rpartition("/")[2]
    except ValueError:
        return ""
