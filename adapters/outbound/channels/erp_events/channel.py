"""Polls: scans each model, and makes events of its changes.

Opens records for notes that answer no event.

The Odoo channel: record events in by polling, notes on the records out.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from adapters.outbound.channels.common.addresses import read_address
from adapters.outbound.channels.common.bodies import at, items
from adapters.outbound.channels.erp_events import delivery
from adapters.outbound.channels.erp_events.config import (
    CONFIG,
    DEFINITION,
    TARGET,
    OdooConfig,
    RecordTarget,
    session_of,
)
from adapters.outbound.channels.erp_events.rpc import OdooError, Session, Sessions, sign_in
from adapters.outbound.channels.erp_events.watching import Change, Scan, Watcher
from domain.channels.messages import Event, Sender
from ports.capabilities import Opened, OpenRequest, PlatformError, Polled, PollFailed
from ports.channels import Channel, ChannelDependencies
from ports.http import Http, HttpFailed

_MESSAGES = "mail.message"
"""The model of notes: `message_post` returns the id of one."""


async def poll(
    sessions: Sessions, config: OdooConfig, cursor: Mapping[str, Any] | None, now: datetime, since: datetime
) -> Polled:
    """What happened since the cursor; on the first poll since the instance was created. Raises `PollFailed`.

    Of a model or database that is new in the configuration, nothing from before is reported.
    """
    source = _source(config)
    cursors = dict(cursor["models"]) if cursor and cursor.get("source") == source else {}
    with _poll_failures():
        await sessions.begin(config)
    scans: dict[str, Scan] = {}
    for model in config.model_names:

        async def scan(session: Session, model: str = model) -> Scan:
            watcher = Watcher(session, model, config.event_names)
            if model in cursors:
                return await watcher.scan(cursors[model])
            return await watcher.begin(since if cursor is None else None, now)

        with _poll_failures(f"{model}: "):
            scans[model] = await sessions.use(config, scan)
    events = [_event(change) for scan in scans.values() for change in scan.changes]
    models = {model: scan.cursor for model, scan in scans.items()}
    return Polled(events, {"source": source, "models": models}, any(scan.more for scan in scans.values()))


def _source(config: OdooConfig) -> str:
    """The server and database: another one has other records, and the cursor does not hold there."""
    return f"{config.erp_url.rstrip('/')} {config.database}"


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
    return Event(
        key=change.key,
        session_id=session_of(change.model, change.record_id),
        sender=_sender(change.record),
        text=f"Odoo {change.event} event in {change.model} (ID: {change.record_id}): {record}",
        target=TARGET.dump(target),
        ids=(str(change.record_id),) if change.model == _MESSAGES else (),
        automated=True,
        raw={"model": change.model, "event": change.event, "recordId": change.record_id},
    )


def _sender(record: Mapping[str, Any]) -> Sender:
    """Who wrote the record, by its user id."""
    writer = items(record, "write_uid")
    name = writer[1] if len(writer) > 1 and isinstance(writer[1], str) else ""
    return Sender(str(writer[0]) if writer else str(at(record, "write_uid") or "odoo"), name)


_ADDRESS = re.compile(r"([a-z][a-z0-9_]*(?:\.[a-z0-9_]+)*):([1-9][0-9]{0,9})")


@dataclass(frozen=True, slots=True)
class Opener:
    address: str = "the technical name of a model and the id of a record, for example sale.order:42"

    def default_address(self, config: OdooConfig) -> str:
        return ""

    async def open(self, config: OdooConfig, request: OpenRequest) -> Opened[RecordTarget]:
        model, number = read_address(_ADDRESS, request.to, self.address).groups()
        return Opened(session_of(model, int(number)), RecordTarget(model=model, record_id=int(number)))


@dataclass(frozen=True, slots=True)
class Odoo:
    http: Http
    sessions: Sessions
    default_interval_minutes: float = 5.0

    async def poll(
        self, config: OdooConfig, cursor: Mapping[str, Any] | None, now: datetime, since: datetime
    ) -> Polled:
        return await poll(self.sessions, config, cursor, now, since)

    async def probe(self, config: OdooConfig) -> None:
        """Signs in, reads the fields of each model and the own e-mail address. Raises `PlatformError`."""
        try:
            session = await sign_in(self.http, config)
            for model in config.model_names:
                await session.call(model, "fields_get", attributes=["type"])
            await delivery.check_sender(session, config.username)
        except OdooError as error:
            reached = not isinstance(error.__cause__, HttpFailed)
            raise PlatformError(str(error), transient=error.transient, answered=reached) from error


def build(dependencies: ChannelDependencies) -> Channel[OdooConfig, RecordTarget]:
    sessions = Sessions(dependencies.http)
    odoo = Odoo(dependencies.http, sessions)
    sender = delivery.Delivery(dependencies.http, dependencies.clock, sessions)
    return Channel(
        definition=DEFINITION,
        config=CONFIG,
        target=TARGET,
        sender=sender,
        opener=Opener(),
        limits=delivery,
        read_limits=delivery,
        poller=odoo,
        probe=odoo,
    )
