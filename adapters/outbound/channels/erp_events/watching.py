"""Finds the changes of the records of a model since the last scan.

The timestamp of a record is the time at which its transaction began, so a late commit appears in the past: each scan
goes back over a window and leaves out what is reported already. The window is counted from the newest timestamp seen,
never from our clock. Deleted records are found by comparing ids.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from adapters.outbound.channels.common.bodies import items, text

from .rpc import Session

CREATE, WRITE, UNLINK = "create", "write", "unlink"
WINDOW = timedelta(minutes=10)
"""How long a transaction may take and still be noticed."""

MAX_RECORDS = 500
"""Records of one scan."""

MAX_STAMPS = 50_000
"""Timestamps that one scan asks for, besides those that are known."""

_AHEAD = timedelta(minutes=1)
"""How far Odoo's clock may be ahead of ours."""

_STAMP = "%Y-%m-%d %H:%M:%S"
_NOT_READ = frozenset({"binary", "one2many", "many2many"})
_NOTE_PREFIXES = ("message_", "activity_", "my_activity_", "website_message_", "rating_")
"""Fields of Odoo's mail, activity and rating mixins."""

_NOTE_NAMES = frozenset({"has_message", "__last_update", "access_token"})
"""Others that notes change; `access_token` opens the record's page to customers."""
_EVERYTHING = {"active_test": False}
"""Archived records too: archiving is a change, not a deletion."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a record. `record` has its fields, its id alone when it is gone; `stamp` identifies its state."""

    model: str
    event: str
    record_id: int
    stamp: str
    record: Mapping[str, Any]

    @property
    def key(self) -> str:
        return ":".join(filter(None, [self.model, str(self.record_id), self.stamp, self.event]))


@dataclass(frozen=True, slots=True)
class Scan:
    """The changes of a model, and where the next scan begins. `more`: there are more changes."""

    changes: Sequence[Change]
    cursor: Mapping[str, Any]
    more: bool = False


@dataclass(slots=True)
class Watcher:
    """Scans one model, for one set of events. All methods raise `OdooError`."""

    session: Session
    model: str
    events: frozenset[str]
    _fields: dict[str, bool] = field(default_factory=dict)
    """The names of the fields that are read, and whether users set them."""

    async def begin(self, since: datetime | None, now: datetime) -> Scan:
        """The first scan: from `since` on, or with None from now on. Earlier changes are not reported, nor those with
        a timestamp in the future, which proves nothing."""
        newest = await self._call(
            "search_read", domain=[], fields=["write_date"], order="write_date desc", limit=1
        )
        last = text(newest[0], "write_date") if newest else ""
        start = since.astimezone(UTC).strftime(_STAMP) if since else ""
        end = (now.astimezone(UTC) + _AHEAD).strftime(_STAMP)
        if start and last >= start:
            stamps = await self._stamps(start, MAX_STAMPS)
            before = {record_id: stamp for record_id, stamp in stamps.items() if not start <= stamp <= end}
            return await self._changes(stamps, before, start, created_since=start)
        seen = await self._stamps(last, MAX_STAMPS) if last else {}
        return Scan((), self._cursor(last, seen, await self._ids()))

    async def scan(self, cursor: Mapping[str, Any]) -> Scan:
        """The changes since the cursor."""
        since, seen = text(cursor, "since"), {int(key): mark for key, mark in cursor["seen"].items()}
        stamps = await self._stamps(since, len(seen) + MAX_STAMPS)
        ids = unpacked(cursor["ids"]) if "ids" in cursor else set()
        return await self._changes(stamps, seen, since, created_since=_earlier(since), previous_ids=ids)

    async def _changes(
        self,
        stamps: Mapping[int, str],
        seen: Mapping[int, str],
        since: str,
        *,
        created_since: str,
        previous_ids: AbstractSet[int] = frozenset(),
    ) -> Scan:
        changed, again = [], []
        for record_id, stamp in stamps.items():
            if _stamp_of(seen.get(record_id)) != stamp:
                changed.append(record_id)
            elif stamp == since and seen[record_id].startswith(f"{since}#"):
                # Of the newest known second: it may have been written once more then, after the last scan.
                again.append(record_id)
        scanned = [*again[:MAX_RECORDS], *changed[:MAX_RECORDS]]
        newest = max([since, *(stamps[record_id] for record_id in scanned)])
        records = await self._read(scanned)
        changes: list[Change] = []
        marks = dict(seen)
        for record_id in scanned:
            reported, marks[record_id] = self._change(
                record_id,
                stamps[record_id],
                records.get(record_id),
                seen.get(record_id),
                newest,
                created_since,
            )
            changes += reported
        ids = await self._ids()
        if UNLINK in self.events:
            deleted = sorted(previous_ids - ids)
            changes += [Change(self.model, UNLINK, gone, "", {"id": gone}) for gone in deleted]
        recent = {record_id: mark for record_id, mark in marks.items() if mark >= _earlier(newest)}
        return Scan(changes, self._cursor(newest, recent, ids), more=len(changed) > MAX_RECORDS)

    def _change(
        self,
        record_id: int,
        stamp: str,
        record: Mapping[str, Any] | None,
        previous: str | None,
        newest: str,
        created_since: str,
    ) -> tuple[list[Change], str]:
        """The change of a record, none if it is not reported, and the new mark of the record.

        A mark identifies the state of a record: its timestamp, and in the newest second its content too. The content
        is compared once, in the next scan: by then the second is over, and no user causes a later change without a
        new timestamp.
        """
        mark = stamp
        if stamp == newest and record is not None:
            written = {name: value for name, value in record.items() if self._fields.get(name, True)}
            content = json.dumps(written, sort_keys=True, default=str).encode()
            with_content = f"{stamp}#{hashlib.sha256(content).hexdigest()[:12]}"
            mark = stamp if with_content == previous else with_content
        is_rescan = _stamp_of(previous) == stamp
        reported = []
        if mark != _stamp_of(previous) and (event := self._event(record, created_since, previous)):
            state = mark if is_rescan else stamp
            reported.append(Change(self.model, event, record_id, state, record or {}))
        return reported, stamp if is_rescan else mark

    async def _stamps(self, since: str, limit: int) -> dict[int, str]:
        """The timestamps in the window by record id, the oldest first."""
        domain = [["write_date", ">=", _earlier(since)]] if since else []
        rows = await self._call(
            "search_read", domain=domain, fields=["write_date"], order="write_date, id", limit=limit
        )
        return {
            row["id"]: row["write_date"]
            for row in rows
            if isinstance(row["id"], int) and text(row, "write_date")
        }

    async def _read(self, ids: Sequence[int]) -> Mapping[int, Mapping[str, Any]]:
        """The records, without those that were deleted in between."""
        if not ids or not self.events & {CREATE, WRITE}:
            return {}
        if not self._fields:
            fields = await self._call(
                "fields_get", attributes=["type", "store", "readonly", "depends", "related"]
            )
            # Stored values of the record itself: computed fields may be slow or fail, and files are large. The rows
            # of x2many fields are other records, such as messages and followers: they change with each note of
            # ours, and `write_date` does not. Odoo computes read-only fields with dependencies, maybe notes.
            self._fields = {
                name: not (field.get("readonly") and (field.get("depends") or field.get("related")))
                for name, field in fields.items()
                if text(field, "type") not in _NOT_READ
                and field.get("store", True) is not False
                and name not in _NOTE_NAMES
                and not name.startswith(_NOTE_PREFIXES)
            }
        names = sorted({*self._fields, "create_date", "write_date", "write_uid"})
        rows = await self._call("search_read", domain=[["id", "in", list(ids)]], fields=names)
        return {row["id"]: row for row in rows}

    def _event(self, record: Mapping[str, Any] | None, created_since: str, mark: str | None) -> str | None:
        """The event to report, None for an event that we caused: our notes change a record, and are records of the
        mail models themselves. A record made since the last scan is created, any other written."""
        if record is None:
            return None
        event = CREATE if mark is None and text(record, "create_date") >= created_since else WRITE
        writer = next(iter(items(record, "write_uid")), None)
        by_us = bool(self.session.uid) and writer == self.session.uid
        is_own = by_us and (event == WRITE or self.model.startswith("mail."))
        return event if event in self.events and not is_own else None

    async def _ids(self) -> set[int]:
        if UNLINK not in self.events:
            return set()
        return {entry for entry in await self._call("search", domain=[]) if isinstance(entry, int)}

    def _cursor(self, since: str, marks: Mapping[int, str], ids: set[int]) -> Mapping[str, Any]:
        cursor = {"since": since, "seen": {str(record_id): mark for record_id, mark in marks.items()}}
        return {**cursor, "ids": packed(ids)} if UNLINK in self.events else cursor

    async def _call(self, method: str, **arguments: Any) -> Any:
        if method != "fields_get":
            arguments["context"] = _EVERYTHING
        return await self.session.call(self.model, method, **arguments)


def _stamp_of(mark: str | None) -> str:
    return (mark or "").partition("#")[0]


def _earlier(stamp: str) -> str:
    """The beginning of the window before a stamp; empty before the first one."""
    if not stamp:
        return ""
    return (datetime.strptime(stamp[:19], _STAMP) - WINDOW).strftime(_STAMP)  # noqa: DTZ007 - always UTC


def packed(ids: Iterable[int]) -> str:
    """The ids as text, in ascending ranges such as '1-500,502'."""
    runs: list[list[int]] = []
    for record_id in sorted(set(ids)):
        if runs and record_id == runs[-1][1] + 1:
            runs[-1][1] = record_id
        else:
            runs.append([record_id, record_id])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in runs)


def unpacked(text: str) -> set[int]:
    """The ids that `packed` was given."""
    ids: set[int] = set()
    for run in filter(None, text.split(",")):
        low, _, high = run.partition("-")
        ids.update(range(int(low), int(high or low) + 1))
    return ids
