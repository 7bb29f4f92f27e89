"""The Odoo channel: record events in by polling; notes on the records out, and each event as a signed POST to the
configured address."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from html import escape
from typing import Any

from adapters.outbound.channels.common import addresses, calls, outcomes
from adapters.outbound.channels.common.bodies import at, items, text
from adapters.outbound.rendering import Markup, render
from domain.channels.answers import Answer, OutboundMessage
from domain.channels.limits import Limits
from domain.channels.messages import Event, Outcome, Sender, Sent
from ports.capabilities import Opened, OpenRequest, PlatformError, Polled, PollFailed
from ports.channels import Channel, ChannelDependencies
from ports.http import Http, HttpFailed, HttpRequest
from ports.system import Clock

from .config import CONFIG, DEFINITION, TARGET, OdooConfig, RecordTarget, session_of
from .rpc import OdooError, Session, Sessions, sign_in
from .watching import UNLINK, Change, Scan, Watcher

NOTE, EVENT = "note", "event"
MAX_CONCURRENCY = 2
"""Notes at a time with one user. Odoo publishes no limit; each call takes one of the server's database connections
(64 by default, `db_maxconn`) and one of a few workers."""
_ADDRESS = re.compile(r"([a-z][a-z0-9_]*(?:\.[a-z0-9_]+)*):([1-9][0-9]{0,9})")
_GONE = "does not exist or has been deleted"
"""What Odoo says of a record that somebody deleted."""
_NO_NOTES = ("has no attribute 'message_post'", "does not exist", "message_post' does not")
_HTML_SINCE = 17
"""The first version that takes a text as text; before, every body is HTML."""
_MESSAGES = "mail.message"
"""The model of notes: `message_post` returns the id of one."""


@dataclass(frozen=True, slots=True)
class Odoo(addresses.NoDefaultAddress):
    """All capabilities of the channel."""

    http: Http
    clock: Clock
    sessions: Sessions
    default_interval_minutes: float = 5.0
    address: str = "the technical name of a model and the id of a record, for example sale.order:42"

    async def poll(
        self, config: OdooConfig, cursor: Mapping[str, Any] | None, now: datetime, since: datetime
    ) -> Polled:
        """What happened since the cursor; on the first poll since the instance was created. Raises `PollFailed`.

        Of a model or database that is new in the configuration, nothing from before is reported.
        """
        # Another server or database has other records: the cursor does not hold there.
        source = f"{config.erp_url.rstrip('/')} {config.database}"
        cursors = dict(cursor["models"]) if cursor and cursor.get("source") == source else {}
        with _poll_failures():
            await self.sessions.begin(config)
        scans: dict[str, Scan] = {}
        for model in config.model_names:

            async def scan(session: Session, model: str = model) -> Scan:
                watcher = Watcher(session, model, config.event_names)
                if model in cursors:
                    return await watcher.scan(cursors[model])
                return await watcher.begin(since if cursor is None else None, now)

            with _poll_failures(f"{model}: "):
                scans[model] = await self.sessions.use(config, scan)
        events = [_event(change) for scan in scans.values() for change in scan.changes]
        models = {model: scan.cursor for model, scan in scans.items()}
        return Polled(events, {"source": source, "models": models}, any(scan.more for scan in scans.values()))

    async def probe(self, config: OdooConfig) -> None:
        """Signs in, reads the fields of each model and the own e-mail address. Raises `PlatformError`."""
        try:
            session = await sign_in(self.http, config)
            for model in config.model_names:
                await session.call(model, "fields_get", attributes=["type"])
            await check_sender(session, config.username)
        except OdooError as error:
            reached = not isinstance(error.__cause__, HttpFailed)
            raise PlatformError(str(error), transient=error.transient, answered=reached) from error

    async def open(self, config: OdooConfig, request: OpenRequest) -> Opened[RecordTarget]:
        model, number = addresses.read_address(_ADDRESS, request.to, self.address).groups()
        return Opened(session_of(model, int(number)), RecordTarget(model=model, record_id=int(number)))

    def limits(self, config: OdooConfig, target: RecordTarget) -> Limits:
        """They bind the user that signs in."""
        return Limits(_account(config), max_concurrency=MAX_CONCURRENCY)

    def read_limits(self, config: OdooConfig) -> Limits:
        """One poll at a time, which never waits for notes."""
        return Limits(f"poll {_account(config)}", max_concurrency=1)

    def render(self, config: OdooConfig, target: RecordTarget, answer: Answer) -> Sequence[OutboundMessage]:
        """The note, if there is a record to put it on, and the event for `webhookUrl`, if that is set."""
        payloads: list[dict[str, str]] = []
        bodies = []
        for document in render(Markup.EMAIL, answer.text, None):
            body = document.text.partition("<body")[2].partition(">")[2].rpartition("</body>")[0]
            bodies.append(body.strip() or document.text)
        links = [f'<p><a href="{escape(file.url)}">{escape(file.name)}</a></p>' for file in answer.artifacts]
        html = "".join([*bodies, *links])
        if html and target.record_id and target.event != UNLINK:
            payloads.append({"kind": NOTE, "body": html})
        if config.webhook_url and target.event:
            # Text is made once, so that the signature covers the same bytes at every attempt.
            event = {
                "event": target.event,
                "model": target.model,
                "recordId": target.record_id,
                "record": target.record,
            }
            body = json.dumps(event, ensure_ascii=False, separators=(",", ":"))
            payloads.append({"kind": EVENT, "body": body})
        return [OutboundMessage(payload) for payload in payloads]

    async def send(
        self, config: OdooConfig, target: RecordTarget, message: OutboundMessage, key: str
    ) -> Sent:
        """Odoo has no idempotency key; a POST to webhookUrl has the event's key as webhook-id."""
        body = text(message.payload, "body")
        if message.payload["kind"] == EVENT:
            headers = {
                "content-type": "application/json",
                "webhook-id": target.key,
                "webhook-timestamp": str(int(self.clock.now().timestamp())),
                "x-webhook-signature": signature(config.password, body.encode()),
            }
            request = HttpRequest(
                "POST", config.webhook_url, headers=headers, content=body.encode(), user_address=True
            )
            return await outcomes.send(self.http, request)

        async def post_note(session: Session) -> Sent:
            note: dict[str, Any] = {"body": body, "message_type": "comment", "subtype_xmlid": "mail.mt_note"}
            try:
                version = await session.version()
            except OdooError as error:
                if error.transient:
                    raise
                version = 0
            if version >= _HTML_SINCE:
                note["body_is_html"] = True
            created = await session.call(target.model, "message_post", [target.record_id], **note)
            first = created[0] if isinstance(created, list) and created else created
            return Sent(Outcome.SENT, ref=str(first or ""))

        try:
            return await self.sessions.use(config, post_note)
        except OdooError as error:
            return _outcome(target.model, error)


def _account(config: OdooConfig) -> str:
    return f"{config.erp_url.rstrip('/').lower()} {config.database} {config.username}"


@contextmanager
def _poll_failures(context: str = "") -> Iterator[None]:
    try:
        yield
    except OdooError as error:
        raise PollFailed(f"{context}{error}", fatal=error.denied, retry_after=error.retry_after) from error
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise PollFailed(f"{context}Odoo's answer has an unknown form") from error


def _event(change: Change) -> Event:
    record = json.dumps(change.record, ensure_ascii=False)
    target = RecordTarget(
        model=change.model,
        record_id=change.record_id,
        event=change.event,
        key=change.key,
        record=dict(change.record),
    )
    writer = items(change.record, "write_uid")
    name = writer[1] if len(writer) > 1 and isinstance(writer[1], str) else ""
    user = writer[0] if writer else at(change.record, "write_uid") or "odoo"
    return Event(
        key=change.key,
        session_id=session_of(change.model, change.record_id),
        sender=Sender(str(user), name),
        text=f"Odoo {change.event} event in {change.model} (ID: {change.record_id}): {record}",
        target=TARGET.dump(target),
        ids=(str(change.record_id),) if change.model == _MESSAGES else (),
        automated=True,
        raw={"model": change.model, "event": change.event, "recordId": change.record_id},
    )


async def check_sender(session: Session, username: str) -> None:
    """Raises `OdooError` if the user cannot write notes: Odoo refuses those of users without an e-mail address.

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


def _outcome(model: str, error: OdooError) -> Sent:
    message = str(error)
    if not error.transient:
        if any(reason in message for reason in _NO_NOTES):
            message = f"Records of {model} take no notes, or the record is gone: {message}"
        return Sent(Outcome.PERMANENT, message, of_recipient=_GONE in message)
    if error.retry_after is not None:
        return Sent(Outcome.RETRY_AFTER, message, retry_after=error.retry_after)
    return Sent(Outcome.UNKNOWN if error.sent else Outcome.TRANSIENT, message)


def signature(password: str, content: bytes) -> str:
    """HMAC-SHA256 of the body. The key is the SHA-256 of the instance's password in hex, so that who holds the key
    does not hold the password."""
    return calls.signature(hashlib.sha256(password.encode()).hexdigest(), content)


def build(dependencies: ChannelDependencies) -> Channel[OdooConfig, RecordTarget]:
    odoo = Odoo(dependencies.http, dependencies.clock, Sessions(dependencies.http))
    return Channel(
        definition=DEFINITION,
        config=CONFIG,
        target=TARGET,
        sender=odoo,
        opener=odoo,
        limits=odoo,
        read_limits=odoo,
        poller=odoo,
        probe=odoo,
    )
