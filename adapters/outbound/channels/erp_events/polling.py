"""A poll: signs in, looks at each model, and makes events of what it finds."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Mapping
from datetime import datetime
from typing import Any

from adapters.outbound.channels.common.bodies import at, items
from adapters.outbound.channels.erp_events.rpc import OdooError, sign_in
from adapters.outbound.channels.erp_events.watching import Change, Look, Watcher
from domain.channels.messages import Config, Event, Sender
from ports.channels import Polled, PollFailed
from ports.http import Http

_MESSAGES = "mail.message"
"""The model of notes: `message_post` gives the id of one."""


async def poll(
    http: Http, config: Config, cursor: Mapping[str, Any] | None, now: datetime, since: datetime
) -> Polled:
    """What happened since the cursor; on the first poll since the instance was made. Raises `PollFailed`.

    Of a model or database that the configuration names only now, nothing from before is reported.
    """
    source = _source(config)
    known = cursor["models"] if cursor and cursor.get("source") == source else {}
    try:
        session = await sign_in(http, config)
    except OdooError as error:
        raise _failed(str(error), error) from error
    events: list[Event] = []
    cursors: dict[str, Any] = {}
    more = False
    for model in listed(config, "models"):
        watcher = Watcher(session, model, frozenset(each.lower() for each in listed(config, "events")))
        if model in known:
            look = await _look(model, watcher.look(known[model]))
        else:
            look = await _look(model, watcher.begin(since if cursor is None else None, now))
        events += [_event(change) for change in look.changes]
        cursors[model] = look.cursor
        more = more or look.more
    return Polled(events, {"source": source, "models": cursors}, more=more)


def listed(config: Config, name: str) -> list[str]:
    """The items of a comma-separated field, each once."""
    given = (each.strip() for each in str(config.get(name) or "").split(","))
    return list(dict.fromkeys(filter(None, given)))


def _source(config: Config) -> str:
    """Another server or database has other records: what is known of the old one does not count."""
    return f"{str(config['erpUrl']).rstrip('/')} {config['database']}"


async def _look(model: str, looking: Awaitable[Look]) -> Look:
    try:
        return await looking
    except OdooError as error:
        raise _failed(f"{model}: {error}", error) from error
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise PollFailed(f"{model}: Odoo answered in an unknown form ({type(error).__name__})") from error


def _failed(words: str, error: OdooError) -> PollFailed:
    return PollFailed(words, fatal=error.denied, retry_after=error.retry_after)


def _event(change: Change) -> Event:
    record = json.dumps(change.record, ensure_ascii=False)
    return Event(
        key=change.key,
        session_id=f"{change.model}:{change.record_id}",
        sender=_sender(change.record),
        text=f"Odoo {change.event} event in {change.model} (ID: {change.record_id}): {record}",
        target={
            "model": change.model,
            "recordId": change.record_id,
            "event": change.event,
            "key": change.key,
            "record": dict(change.record),
        },
        ids=(str(change.record_id),) if change.model == _MESSAGES else (),
        automated=True,
        raw={"model": change.model, "event": change.event, "recordId": change.record_id},
    )


def _sender(record: Mapping[str, Any]) -> Sender:
    """Who wrote the record, by its user id."""
    writer = items(record, "write_uid")
    name = writer[1] if len(writer) > 1 and isinstance(writer[1], str) else ""
    return Sender(str(writer[0]) if writer else str(at(record, "write_uid") or "odoo"), name)
