"""Finds what happened to the records of a model since the last look.

Odoo stamps a record with the time at which its transaction began, so a late commit appears in the past: each
look goes back over a window and leaves out what it has reported already. The window is counted from the
newest stamp seen, never from a clock of ours. Deleted records are found by comparing ids.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from adapters.outbound.channels.common.bodies import items, text
from adapters.outbound.channels.erp_events.idset import packed, unpacked
from adapters.outbound.channels.erp_events.rpc import Session

CREATE, WRITE, UNLINK = "create", "write", "unlink"
WINDOW = timedelta(minutes=10)
"""How long a transaction may take and still be noticed."""

AT_ONCE = 500
"""Records that one look takes up."""

MOST = 50_000
"""Stamps that one look asks for, besides those that are known."""

_AHEAD = timedelta(minutes=1)
"""How far Odoo's clock may be ahead of ours."""

_STAMP = "%Y-%m-%d %H:%M:%S"
_X2MANY = frozenset({"one2many", "many2many"})
_NOTE_PREFIXES = ("message_", "activity_", "my_activity_", "website_message_", "rating_")
"""Fields of Odoo's mail, activity and rating mixins."""

_NOTE_NAMES = frozenset({"has_message", "__last_update", "access_token"})
"""Those of other names; `access_token` opens the record's page to customers, and is made when one hears of a note."""
_EVERYTHING = {"active_test": False}
"""Archived records are records: archiving is a change, no deletion."""


@dataclass(frozen=True, slots=True)
class Change:
    """What happened to a record. `record` holds its fields, its id alone when it is gone; `stamp` is what it is
    known by from now on."""

    model: str
    event: str
    record_id: int
    stamp: str
    record: Mapping[str, Any]

    @property
    def key(self) -> str:
        return ":".join(filter(None, [self.model, str(self.record_id), self.stamp, self.event]))


@dataclass(frozen=True, slots=True)
class Look:
    """What a look found, and where the next one begins. `more`: it was not all."""

    changes: Sequence[Change]
    cursor: Mapping[str, Any]
    more: bool = False


@dataclass(slots=True)
class Watcher:
    """Looks at one model, for one set of events."""

    session: Session
    model: str
    events: frozenset[str]
    _fields: dict[str, bool] = field(default_factory=dict)
    """The names of those that are read, and whether a writer sets them."""

    async def begin(self, since: datetime | None, now: datetime) -> Look:
        """Where watching begins: at `since`, or with None now. What is there by then is not reported, nor what
        bears a stamp of the future, which says nothing.

        Raises `OdooError`.
        """
        newest = await self._call(
            "search_read", domain=[], fields=["write_date"], order="write_date desc", limit=1
        )
        last = text(newest[0], "write_date") if newest else ""
        start = since.astimezone(UTC).strftime(_STAMP) if since else ""
        end = (now.astimezone(UTC) + _AHEAD).strftime(_STAMP)
        if start and last >= start:
            stamps = await self._stamps(start, MOST)
            before = {
                each["id"]: each["write_date"] for each in stamps if not start <= each["write_date"] <= end
            }
            return await self._changed(stamps, before, start, created_since=start)
        seen = {each["id"]: each["write_date"] for each in await self._stamps(last, MOST)} if last else {}
        return Look((), self._cursor(last, seen, await self._ids()))

    async def look(self, cursor: Mapping[str, Any]) -> Look:
        """What happened since the cursor. Raises `OdooError`."""
        since, seen = text(cursor, "since"), {int(key): each for key, each in cursor["seen"].items()}
        stamps = await self._stamps(since, len(seen) + MOST)
        known = unpacked(cursor["ids"]) if "ids" in cursor else set()
        return await self._changed(stamps, seen, since, created_since=_earlier(since), known=known)

    async def _changed(
        self,
        stamps: Sequence[Mapping[str, Any]],
        seen: Mapping[int, str],
        since: str,
        *,
        created_since: str,
        known: AbstractSet[int] = frozenset(),
    ) -> Look:
        fresh = [each for each in stamps if _stamp_of(seen.get(each["id"])) != each["write_date"]]
        taken = [*_worth_another_look(stamps, seen, since), *fresh[:AT_ONCE]]
        newest = max([since, *(each["write_date"] for each in taken)])
        records = await self._read([each["id"] for each in taken])
        changes, kept = [], dict(seen)
        for each in taken:
            record, mark = records.get(each["id"]), seen.get(each["id"])
            known_by = _mark(each["write_date"], self._written(record), mark, newest)
            again = _stamp_of(mark) == each["write_date"]
            kept[each["id"]] = each["write_date"] if again else known_by
            event = self._event(record, created_since, mark)
            if event and known_by != _stamp_of(mark):
                stamp = known_by if again else each["write_date"]
                changes.append(Change(self.model, event, each["id"], stamp, record or {}))
        ids = await self._ids()
        if UNLINK in self.events:
            changes += [Change(self.model, UNLINK, each, "", {"id": each}) for each in sorted(known - ids)]
        recent = {key: mark for key, mark in kept.items() if mark >= _earlier(newest)}
        return Look(changes, self._cursor(newest, recent, ids), more=len(fresh) > AT_ONCE)

    async def _stamps(self, since: str, limit: int) -> list[dict[str, Any]]:
        """Ids and stamps in the window, the oldest first."""
        domain = [["write_date", ">=", _earlier(since)]] if since else []
        found = await self._call(
            "search_read", domain=domain, fields=["write_date"], order="write_date, id", limit=limit
        )
        return [each for each in found if isinstance(each["id"], int) and text(each, "write_date")]

    async def _read(self, ids: Sequence[int]) -> Mapping[int, Mapping[str, Any]]:
        """The records, without those that were deleted in between."""
        if not ids or not self.events & {CREATE, WRITE}:
            return {}
        names = await self._field_names()
        found = await self._call("search_read", domain=[["id", "in", list(ids)]], fields=names)
        return {each["id"]: each for each in found}

    def _event(self, record: Mapping[str, Any] | None, created_since: str, mark: str | None) -> str | None:
        """What happened to a record: one made since the last look is created, any other was written. None when
        that is not to be reported."""
        if record is None:
            return None
        event = CREATE if mark is None and text(record, "create_date") >= created_since else WRITE
        return event if event in self.events and not self._is_own(event, record) else None

    def _is_own(self, event: str, record: Mapping[str, Any]) -> bool:
        """Our notes change a record too; and they are records themselves, for who watches mail."""
        writers = items(record, "write_uid")
        by_us = bool(self.session.uid) and bool(writers) and writers[0] == self.session.uid
        return by_us and (event == WRITE or self.model.startswith("mail."))

    async def _field_names(self) -> list[str]:
        if not self._fields:
            fields = await self._call(
                "fields_get", attributes=["type", "store", "readonly", "depends", "related"]
            )
            self._fields = {name: _is_set(field) for name, field in fields.items() if _is_read(name, field)}
        return sorted({*self._fields, "create_date", "write_date", "write_uid"})

    def _written(self, record: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        """What writers set of a record."""
        return record and {name: value for name, value in record.items() if self._fields.get(name, True)}

    async def _ids(self) -> set[int]:
        if UNLINK not in self.events:
            return set()
        return {each for each in await self._call("search", domain=[]) if isinstance(each, int)}

    def _cursor(self, since: str, seen: Mapping[int, str], ids: set[int]) -> Mapping[str, Any]:
        kept = {"since": since, "seen": {str(key): stamp for key, stamp in seen.items()}}
        return {**kept, "ids": packed(ids)} if UNLINK in self.events else kept

    async def _call(self, method: str, **arguments: Any) -> Any:
        if method != "fields_get":
            arguments["context"] = _EVERYTHING
        return await self.session.call(self.model, method, **arguments)


def _is_read(name: str, field: Mapping[str, Any]) -> bool:
    """Whether a field is part of what is told of a record: a stored value of the record itself.

    Computed fields may cost or fail, and files are large. The rows of x2many fields, messages, followers and
    activities among them, are other records: they change with each note of ours, and `write_date` does not.
    """
    kind = text(field, "type")
    return (
        kind != "binary"
        and kind not in _X2MANY
        and field.get("store", True) is not False
        and name not in _NOTE_NAMES
        and not name.startswith(_NOTE_PREFIXES)
    )


def _is_set(field: Mapping[str, Any]) -> bool:
    """Whether a writer sets a field. Odoo computes the others from what they depend on, which may be notes."""
    return not (field.get("readonly") and (field.get("depends") or field.get("related")))


def _worth_another_look(
    stamps: Sequence[Mapping[str, Any]], seen: Mapping[int, str], since: str
) -> list[Mapping[str, Any]]:
    """The records of the newest second that is known, and by content: they may have been written once more in
    that second, after we had looked."""
    found = [
        each
        for each in stamps
        if each["write_date"] == since and seen.get(each["id"], "").startswith(f"{since}#")
    ]
    return found[:AT_ONCE]


def _stamp_of(mark: str | None) -> str:
    return (mark or "").partition("#")[0]


def _mark(stamp: str, record: Mapping[str, Any] | None, mark: str | None, newest: str) -> str:
    """What a record is known by: its stamp, and in the newest second its content too.

    The content is compared once, at the next look: by then the second is over, and whatever changes later without
    a new stamp is not the work of a writer.
    """
    if stamp != newest or record is None:
        return stamp
    content = json.dumps(record, sort_keys=True, default=str).encode()
    found = f"{stamp}#{hashlib.sha256(content).hexdigest()[:12]}"
    return stamp if found == mark else found


def _earlier(stamp: str) -> str:
    """The beginning of the window before a stamp; empty before the first one."""
    if not stamp:
        return ""
    return (datetime.strptime(stamp[:19], _STAMP) - WINDOW).strftime(_STAMP)  # noqa: DTZ007 - always UTC
