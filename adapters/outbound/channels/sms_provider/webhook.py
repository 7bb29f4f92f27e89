"""Reads what Twilio calls with: incoming messages and the later states of messages we sent.

https://www.twilio.com/docs/messaging/guides/webhook-request and
https://www.twilio.com/docs/messaging/guides/outbound-message-status-in-status-callbacks
"""

import base64
import hashlib
import hmac
import mimetypes
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from urllib.parse import parse_qsl, urlsplit

from adapters.outbound.channels.common import calls, contents
from adapters.outbound.channels.common.bodies import fields_of, same, text
from domain.channels import messages
from domain.refusals import Invalid, Unauthenticated

from .config import KEY, OF_RECIPIENT, TARGET, SmsConfig, SmsTarget

MAX_MEDIA = 10
_XML = {"content-type": "text/xml; charset=utf-8"}
_PROLOG = b'<?xml version="1.0" encoding="UTF-8"?>'
ACKNOWLEDGED = messages.RawAnswer(
    200, _PROLOG + b"<Response><Message>Your message was received.</Message></Response>", _XML
)
"""The answer to an incoming message: TwiML that tells the sender that it arrived."""
SILENT = messages.RawAnswer(200, _PROLOG + b"<Response></Response>", _XML)
"""The answer to anything that must not cause a message."""

NOT_IN_GROUPS = "I cannot answer in group messages. Please write to me alone."
_OTHERS = "OtherRecipients"
"""Twilio numbers these fields: the other numbers of a group message."""
_SILENT_TYPES = ("", "text", "reaction", "system")
_INBOUND = frozenset({"", "received", "receiving"})
_FAILED = frozenset({"failed", "undelivered", "canceled"})
_OF_RECIPIENT = frozenset(map(str, OF_RECIPIENT))
_PHONE = re.compile(r"(?:[a-z]+:)?(\+[1-9][0-9]{4,14})")


def receive(
    config: SmsConfig, call: messages.RawCall, metadata: messages.ChannelMetadata, now: datetime
) -> messages.Received:
    calls.require_webhook(call)
    is_signed = SIGNATURE in call.headers
    if is_signed and not is_valid(config.auth_token, call):  # before anything reads the body
        raise Unauthenticated(
            "X-Twilio-Signature does not match: check authToken, and that Twilio calls this very address."
        )
    named = fields_of(call)
    fields = {name: text(named, name) for name in named}
    account = fields.get("AccountSid")
    # A status callback may leave the account out; then only the signature proves it.
    if not same(account or "", config.account_sid) and not (is_signed and account is None):
        raise Unauthenticated("AccountSid is not the account of this instance.")
    # Without a signature the account proves nothing: whoever calls can write it.
    return replace(
        _read(config, call, fields), missing_proof_field=None if is_signed else "X-Twilio-Signature"
    )


def _read(config: SmsConfig, call: messages.RawCall, fields: Mapping[str, str]) -> messages.Received:
    state = (fields.get("MessageStatus") or fields.get("SmsStatus", "")).lower()
    if state not in _INBOUND:
        status = _status(fields, state, call.query.get(KEY, ""))
        return messages.Received(SILENT, delivery_statuses=(status,), kind="status")
    if keyword := opt_out_type(fields):
        opt_outs = _opt_outs(fields, keyword)
        return messages.Received(SILENT, kind=f"ignored:{keyword}", opt_outs=opt_outs)
    sender = fields.get("From", "")
    if same(sender, config.provider_phone_number):
        return messages.Received(SILENT, kind="ignored:own")
    if not sender:
        raise Invalid("From is missing.")
    event = _message(call, fields, sender)
    if event is None:
        return messages.Received(SILENT, kind="ignored:empty")
    event = _of_group(event, fields)
    is_acknowledged = config.acknowledge and event.is_direct and not event.only_decides
    answer = ACKNOWLEDGED if is_acknowledged else SILENT
    # After a YES Twilio accepts messages to the person again; it is handed on too.
    opt_outs = _opt_outs(fields, START) if _keyword(fields) == _OPT_IN_OR_APPROVAL else ()
    return messages.Received(answer, events=(event,), opt_outs=opt_outs)


def _opt_outs(fields: Mapping[str, str], keyword: str) -> tuple[messages.OptOut, ...]:
    """The sender's choice by a keyword."""
    sender = fields.get("From", "")
    return (messages.OptOut(sender, over=keyword == START),) if sender and keyword in (STOP, START) else ()


def _status(fields: Mapping[str, str], state: str, key: str) -> messages.DeliveryStatus:
    sid = _sid(fields)
    if not sid:
        raise Invalid("MessageSid is missing.")
    code = fields.get("ErrorCode", "")
    detail = " ".join(filter(None, [state, f"error {code}" if code else "", fields.get("ErrorMessage", "")]))
    return messages.DeliveryStatus(sid, state, state in _FAILED, detail, key, code in _OF_RECIPIENT)


def _message(call: messages.RawCall, fields: Mapping[str, str], sender: str) -> messages.Event | None:
    location = {"latitude": fields.get("Latitude", ""), "longitude": fields.get("Longitude", "")}
    place = (fields.get("Label", ""), fields.get("Address", ""))
    body = fields.get("Body", "")
    if not body.strip():
        body = contents.location_text(location, *place)
    attachments = tuple(_media(fields))
    # Twilio names the type of a message that came over WhatsApp or RCS.
    is_unreadable = not body and not attachments and fields.get("MessageType", "text") not in _SILENT_TYPES
    if not any((body, attachments, is_unreadable)):
        return None
    quoted = fields.get("OriginalRepliedMessageSid", "")
    # Also of an address such as `whatsapp:+4915112345678`; short codes prove nothing.
    number = _PHONE.fullmatch(sender)
    identities = (messages.Identity("phone", number[1]),) if number else ()
    return messages.Event(
        key=_sid(fields) or None,
        session_id=sender,
        sender=messages.Sender(sender, fields.get("ProfileName", "") or sender, identities),
        text=body,
        target=TARGET.dump(SmsTarget(to=sender, callback=call.url.partition("?")[0])),
        attachments=attachments,
        choice=fields.get("ButtonPayload") or fields.get("ListId") or None,
        canned_reply=contents.unreadable() if is_unreadable else None,
        only_decides=_keyword(fields) == _OPT_OUT_OR_REJECTION,  # Twilio refuses answers to it
        quoted=messages.Quoted(ref=quoted, key=quoted) if quoted else None,
        context={**_context(fields), **contents.location_context(location, *place)},
        raw=dict(fields),
    )


def _context(fields: Mapping[str, str]) -> dict[str, object]:
    """What an agent needs beside the text: the ad that the person came from, the values of a form, where the number
    is registered."""
    forwarded = {"frequently": fields.get("FrequentlyForwarded") == "true"}
    is_forwarded = fields.get("Forwarded") == "true" or forwarded["frequently"]
    return {
        "payload": fields.get("InteractiveData", "") or fields.get("FlowData", ""),
        "forwarded": forwarded if is_forwarded else {},
        "referral": _of_prefix(fields, "Referral"),
        "platform": {**_of_prefix(fields, "From"), "description": fields.get("ListDescription", "")},
    }


def _of_prefix(fields: Mapping[str, str], prefix: str) -> dict[str, object]:
    """The fields whose names begin so, in camel case without it: `sourceId` for `ReferralSourceId`."""
    named = ((name.removeprefix(prefix), value) for name, value in fields.items() if name.startswith(prefix))
    return {name[0].lower() + name[1:]: value for name, value in named if name}


def _of_group(event: messages.Event, fields: Mapping[str, str]) -> messages.Event:
    """The event of a message to several numbers. What we send reaches the sender alone, who gets one notice of it."""
    others = {value for name, value in fields.items() if name.startswith(_OTHERS) and value}
    if not others:
        return event
    session_id = f"group:{','.join(sorted({event.session_id, *others}))}"
    key = f"{session_id}:{event.sender.external_id}"
    return replace(event, key=key, session_id=session_id, canned_reply=NOT_IN_GROUPS, is_direct=False)


def _sid(fields: Mapping[str, str]) -> str:
    return fields.get("MessageSid") or fields.get("SmsMessageSid") or fields.get("SmsSid", "")


def _media(fields: Mapping[str, str]) -> Iterator[messages.Attachment]:
    for index in range(MAX_MEDIA):
        url = fields.get(f"MediaUrl{index}", "")
        if not url.startswith(("https://", "http://")):
            continue
        mime_type = fields.get(f"MediaContentType{index}", "") or "application/octet-stream"
        name = f"media-{index}"
        with suppress(ValueError):
            name = urlsplit(url).path.rpartition("/")[2] or name
        if "." not in name:
            name += mimetypes.guess_extension(mime_type) or ""
        yield messages.Attachment(name, mime_type, {"url": url})


SIGNATURE = "x-twilio-signature"
SETTINGS = "x-twilio-webhooks-signature-settings"
"""`key=<id>,algorithm=HMAC_SHA256`: how the call was signed, when not with the default HMAC_SHA1."""

_DIGESTS = {"HMAC_SHA1": hashlib.sha1, "HMAC_SHA256": hashlib.sha256}
_DEFAULT_PORTS = {"http": 80, "https": 443}


def is_valid(secret: str, call: messages.RawCall) -> bool:
    """Return True if the signature header was made with the secret over this very call.

    Twilio signs the address that it called, followed by each name and value of a form, sorted by name. The body of
    anything but a form is covered by its SHA-256, which is in the address as `bodySHA256`
    (https://www.twilio.com/docs/usage/webhooks/webhooks-security).
    """
    options = call.headers.get(SETTINGS, "").split(",")
    named = dict(option.strip().split("=", 1) for option in options if "=" in option)
    digest = _DIGESTS.get(named.get("algorithm", "").strip().upper() or "HMAC_SHA1")
    if digest is None:
        return False
    signed = b""
    if call.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        pairs = parse_qsl(call.body.decode("latin-1"), keep_blank_values=True, encoding="latin-1")
        signed = "".join(name + value for name, value in sorted(set(pairs))).encode("latin-1")
    elif call.body:
        announced = call.query.get("bodySHA256", "")
        if not same(announced.lower(), hashlib.sha256(call.body).hexdigest()):
            return False
    signature = call.headers.get(SIGNATURE, "")
    digests = [hmac.digest(secret.encode(), url.encode() + signed, digest) for url in _addresses(call)]
    matches = [same(signature, base64.b64encode(expected).decode()) for expected in digests]
    return any(matches)


def _addresses(call: messages.RawCall) -> Iterator[str]:
    """The addresses that may have been signed: with and without port, and under the host as called.

    A proxy in front may end TLS and keep the Host header, so that the host which the caller named counts under
    both schemes. The secret covers the address in any case, so this lets nothing unsigned through.
    """
    public = urlsplit(call.url)
    candidates = [public]
    if (host := call.headers.get("host", "")) and host != public.netloc:
        candidates += [public._replace(netloc=host, scheme=scheme) for scheme in _DEFAULT_PORTS]
    for address in candidates:
        try:
            port = address.port
        except ValueError:
            continue
        name = address.netloc.rpartition(":")[0] if port else address.netloc
        yield address._replace(netloc=name).geturl()
        yield address._replace(netloc=f"{name}:{port or _DEFAULT_PORTS.get(address.scheme, 80)}").geturl()


STOP, START, HELP = "opt-out", "opt-in", "help"
_TYPES = {"STOP": STOP, "START": START, "HELP": HELP}
_KEYWORDS = {
    **dict.fromkeys(("STOP", "STOPALL", "STOP ALL", "UNSUBSCRIBE", "END", "QUIT", "REVOKE"), STOP),
    **dict.fromkeys(("OPTOUT", "OPT OUT", "OPT-OUT"), STOP),
    **dict.fromkeys(("START", "UNSTOP"), START),
    **dict.fromkeys(("HELP", "INFO"), HELP),
}
"""Twilio's defaults, some in two spellings, without CANCEL and YES: these also answer an approval prompt. After YES
Twilio accepts answers again, so it may be a message too."""
_OPT_OUT_OR_REJECTION = "CANCEL"
_OPT_IN_OR_APPROVAL = "YES"

_AROUND = re.compile(r"^[^\w?]+|[^\w?]+$")
"""White space, punctuation, emoji and invisible characters; a question mark makes it a question."""
_LONGEST = 40


def opt_out_type(fields: Mapping[str, str]) -> str | None:
    """Returns 'opt-out', 'opt-in' or 'help' for a message that Twilio answers itself, None for any other message.

    Until the person opts in again Twilio refuses what is sent (error 21610). Sources:
    https://www.twilio.com/docs/messaging/tutorials/advanced-opt-out and
    https://help.twilio.com/articles/223134027 (Twilio support for opt-out keywords).

    `OptOutType` is there when Advanced Opt-Out matched a keyword, which may be one of the customer's own. Without it
    the whole message must be a keyword, in any case. A sender on another network (`whatsapp:+49...`) has no carrier
    that would act on keywords.
    """
    if matched := fields.get("OptOutType"):
        return _TYPES.get(matched.strip().upper(), STOP)
    return _KEYWORDS.get(_keyword(fields))


def _keyword(fields: Mapping[str, str]) -> str:
    """The message as a keyword, empty if it cannot be one."""
    body = fields.get("Body", "").strip()
    if ":" in fields.get("From", "") or len(body) > _LONGEST:
        return ""
    return _AROUND.sub("", body).upper()
