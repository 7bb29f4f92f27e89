"""Answers as notes on the records, and each event as a signed POST to the configured address."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from adapters.outbound.channels.common.bodies import at
from adapters.outbound.channels.common.outcomes import by_status, exchange
from adapters.outbound.channels.erp_events.rpc import OdooError, Session, sign_in
from adapters.outbound.channels.erp_events.watching import UNLINK
from adapters.outbound.rendering import Markup, render
from domain.channels.messages import Answer, Config, OutboundMessage, Outcome, Sent, Target
from ports.http import Http, HttpRequest

NOTE, EVENT = "note", "event"
_NO_NOTES = ("has no attribute 'message_post'", "does not exist", "message_post' does not")
_HTML_SINCE = 17
"""The first version that takes a text for text; before, every body is HTML."""


def parts(config: Config, target: Target, answer: Answer) -> Sequence[OutboundMessage]:
    """The note, when there is a record to put it on, and the event for `webhookUrl`, when that is set."""
    found: list[OutboundMessage] = []
    html = _html(answer)
    if html and target.get("recordId") and target.get("event") != UNLINK:
        found.append(OutboundMessage({"kind": NOTE, "body": html}))
    if config.get("webhookUrl") and target.get("event"):
        found.append(OutboundMessage({"kind": EVENT, "body": _notification(target)}))
    return found


def _html(answer: Answer) -> str:
    rendered = render(Markup.EMAIL, answer.text, None) if answer.text.strip() else []
    bodies = [_inner(each.text) for each in rendered]
    links = [f'<p><a href="{escape(each.url)}">{escape(each.name)}</a></p>' for each in answer.artifacts]
    return "".join([*bodies, *links])


def _inner(document: str) -> str:
    """What stands in the body of an HTML document."""
    body = document.partition("<body")[2].partition(">")[2].rpartition("</body>")[0]
    return body.strip() or document


def _notification(target: Target) -> str:
    """The JSON text that is posted; made once, so that the signature covers the same bytes at every try."""
    names = ("event", "model", "recordId", "record")
    return json.dumps({name: target[name] for name in names}, ensure_ascii=False, separators=(",", ":"))


async def send(http: Http, config: Config, target: Target, part: OutboundMessage, stamp: int) -> Sent:
    """Sends one part; `stamp` is the present time in seconds."""
    if part.payload["kind"] == EVENT:
        return await _notify(http, config, target, part.payload["body"], stamp)
    return await _note(http, config, target, part.payload["body"])


async def _note(http: Http, config: Config, target: Target, html: str) -> Sent:
    model, record_id = str(target["model"]), int(target["recordId"])
    note: dict[str, Any] = {"body": html, "message_type": "comment", "subtype_xmlid": "mail.mt_note"}
    try:
        session = await sign_in(http, config)
        if await _version(session) >= _HTML_SINCE:
            note["body_is_html"] = True
        made = await session.call(model, "message_post", [record_id], **note)
    except OdooError as error:
        return _outcome(model, error)
    first = made[0] if isinstance(made, list) and made else made
    return Sent(Outcome.SENT, ref=str(first or ""))


async def check_sender(session: Session, username: str) -> None:
    """Raises `OdooError` where the user can write no notes: Odoo refuses those of users without an e-mail address.

    Nothing is said of a user whose address cannot be read.
    """
    try:
        found = await session.call("res.users", "read", [session.uid], fields=["email"])
    except OdooError as error:
        if error.passing or error.denied:
            raise
        return
    own = found[0] if isinstance(found, list) and found else None
    if at(own, "email") in (False, ""):
        raise OdooError(
            f"The Odoo user {username} has no e-mail address, and Odoo refuses notes of such a user. Set one in Odoo:"
            " the user's Preferences, Email."
        )


async def _version(session: Session) -> int:
    """The server's version; 0 where it keeps that to itself. Raises `OdooError` for passing trouble."""
    try:
        return await session.version()
    except OdooError as error:
        if error.passing:
            raise
        return 0


def _outcome(model: str, error: OdooError) -> Sent:
    words = str(error)
    if not error.passing and any(each in words for each in _NO_NOTES):
        return Sent(Outcome.PERMANENT, f"Records of {model} take no notes, or the record is gone: {words}")
    if not error.passing:
        return Sent(Outcome.PERMANENT, words)
    if error.retry_after is not None:
        return Sent(Outcome.RETRY_AFTER, words, retry_after=error.retry_after)
    return Sent(Outcome.UNKNOWN if error.sent else Outcome.TRANSIENT, words)


async def _notify(http: Http, config: Config, target: Target, body: str, stamp: int) -> Sent:
    content = body.encode()
    headers = {
        "content-type": "application/json",
        "webhook-id": str(target["key"]),
        "webhook-timestamp": str(stamp),
        **signature(str(config["password"]), content),
    }
    request = HttpRequest(
        "POST", str(config["webhookUrl"]), headers=headers, content=content, user_address=True
    )
    answer = await exchange(http, request)
    return answer if isinstance(answer, Sent) else by_status(answer)


def signature(password: str, content: bytes) -> Mapping[str, str]:
    """`X-Webhook-Signature`: HMAC-SHA256 of the body. The key is the SHA-256 of the instance's password in hex,
    so that whoever holds the key does not hold the password."""
    key = hashlib.sha256(password.encode()).hexdigest().encode()
    return {"x-webhook-signature": f"sha256={hmac.new(key, content, hashlib.sha256).hexdigest()}"}
