"""Answers as notes on the records, and each event as a signed POST to the configured address."""

import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from adapters.outbound.channels.common import outcomes
from adapters.outbound.channels.common.bodies import at, text
from adapters.outbound.channels.erp_events.config import OdooConfig, RecordTarget
from adapters.outbound.channels.erp_events.rpc import OdooError, Session, Sessions
from adapters.outbound.channels.erp_events.watching import UNLINK
from adapters.outbound.rendering import Markup, render
from domain.channels.answers import Answer, OutboundMessage
from domain.channels.limits import Limits
from domain.channels.messages import Outcome, Sent
from ports.http import Http, HttpRequest
from ports.system import Clock

NOTE, EVENT = "note", "event"
MAX_CONCURRENCY = 2
"""Notes at a time with one user. Odoo publishes no limit; each call takes one of the server's database connections
(64 by default, `db_maxconn`) and one of a few workers."""
_GONE = "does not exist or has been deleted"
"""What Odoo says of a record that somebody deleted."""
_NO_NOTES = ("has no attribute 'message_post'", "does not exist", "message_post' does not")
_HTML_SINCE = 17
"""The first version that takes a text as text; before, every body is HTML."""


def limits(config: OdooConfig, target: RecordTarget) -> Limits:
    """They bind the user that signs in."""
    return Limits(_account(config), max_concurrency=MAX_CONCURRENCY)


def read_limits(config: OdooConfig) -> Limits:
    """One poll at a time, which never waits for notes."""
    return Limits(f"poll {_account(config)}", max_concurrency=1)


def _account(config: OdooConfig) -> str:
    return f"{config.erp_url.rstrip('/').lower()} {config.database} {config.username}"


@dataclass(frozen=True, slots=True)
class Delivery:
    http: Http
    clock: Clock
    sessions: Sessions

    def render(self, config: OdooConfig, target: RecordTarget, answer: Answer) -> Sequence[OutboundMessage]:
        """The note, when there is a record to put it on, and the event for `webhookUrl`, when that is set."""
        payloads: list[dict[str, str]] = []
        html = _html(answer)
        if html and target.record_id and target.event != UNLINK:
            payloads.append({"kind": NOTE, "body": html})
        if config.webhook_url and target.event:
            payloads.append({"kind": EVENT, "body": _notification(target)})
        return [OutboundMessage(payload) for payload in payloads]

    async def send(
        self, config: OdooConfig, target: RecordTarget, message: OutboundMessage, key: str
    ) -> Sent:
        """Odoo has no idempotency key; a POST to webhookUrl has the event's key as webhook-id."""
        if message.payload["kind"] == EVENT:
            return await self._post_event(config, target, text(message.payload, "body"))
        html = text(message.payload, "body")
        try:
            return await self.sessions.use(
                config, lambda session: _post_note(session, target.model, target.record_id, html)
            )
        except OdooError as error:
            return _outcome(target.model, error)

    async def _post_event(self, config: OdooConfig, target: RecordTarget, body: str) -> Sent:
        content = body.encode()
        headers = {
            "content-type": "application/json",
            "webhook-id": target.key,
            "webhook-timestamp": str(int(self.clock.now().timestamp())),
            "x-webhook-signature": signature(config.password, content),
        }
        request = HttpRequest("POST", config.webhook_url, headers=headers, content=content, user_address=True)
        return await outcomes.send(self.http, request)


def _html(answer: Answer) -> str:
    rendered = render(Markup.EMAIL, answer.text, None) if answer.text.strip() else []
    bodies = [_inner(document.text) for document in rendered]
    links = [f'<p><a href="{escape(file.url)}">{escape(file.name)}</a></p>' for file in answer.artifacts]
    return "".join([*bodies, *links])


def _inner(document: str) -> str:
    """The content of the body of an HTML document."""
    body = document.partition("<body")[2].partition(">")[2].rpartition("</body>")[0]
    return body.strip() or document


def _notification(target: RecordTarget) -> str:
    """The JSON text to post; made once, so that the signature covers the same bytes at every attempt."""
    names = ("event", "model", "recordId", "record")
    values = (target.event, target.model, target.record_id, target.record)
    return json.dumps(dict(zip(names, values, strict=True)), ensure_ascii=False, separators=(",", ":"))


async def _post_note(session: Session, model: str, record_id: int, html: str) -> Sent:
    note: dict[str, Any] = {"body": html, "message_type": "comment", "subtype_xmlid": "mail.mt_note"}
    if await _version(session) >= _HTML_SINCE:
        note["body_is_html"] = True
    created = await session.call(model, "message_post", [record_id], **note)
    first = created[0] if isinstance(created, list) and created else created
    return Sent(Outcome.SENT, ref=str(first or ""))


async def check_sender(session: Session, username: str) -> None:
    """Raises `OdooError` where the user cannot write notes: Odoo refuses those of users without an e-mail address.

    A user whose address cannot be read passes.
    """
    try:
        users = await session.call("res.users", "read", [session.uid], fields=["email"])
    except OdooError as error:
        if error.transient or error.denied:
            raise
        return
    own = users[0] if isinstance(users, list) and users else None
    if at(own, "email") in (False, ""):
        raise OdooError(
            f"The Odoo user {username} has no e-mail address, and Odoo refuses notes of such a user. Set one in Odoo:"
            " the user's Preferences, Email."
        )


async def _version(session: Session) -> int:
    """The server's version; 0 where it does not tell. Raises `OdooError` for transient errors."""
    try:
        return await session.version()
    except OdooError as error:
        if error.transient:
            raise
        return 0


def _outcome(model: str, error: OdooError) -> Sent:
    message = str(error)
    if not error.transient:
        if any(text in message for text in _NO_NOTES):
            message = f"Records of {model} take no notes, or the record is gone: {message}"
        return Sent(Outcome.PERMANENT, message, of_recipient=_GONE in message)
    if error.retry_after is not None:
        return Sent(Outcome.RETRY_AFTER, message, retry_after=error.retry_after)
    return Sent(Outcome.UNKNOWN if error.sent else Outcome.TRANSIENT, message)


def signature(password: str, content: bytes) -> str:
    """HMAC-SHA256 of the body. The key is the SHA-256 of the instance's password in hex, so that who holds the key
    does not hold the password."""
    key = hashlib.sha256(password.encode()).hexdigest().encode()
    return f"sha256={hmac.new(key, content, hashlib.sha256).hexdigest()}"
