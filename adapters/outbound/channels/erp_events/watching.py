"""Finds what happened to the records of a model since the last look.

Odoo stamps a record with the time at which its transaction began, so a late commit appears in the past: each
look goes back over a window and leaves out what it has reported already. The window is counted from the
newest stamp seen, never from a clock of ours. Deleted records are found by comparing ids.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from adapters.outbound.channels.bodies import items, text
from adapters.outbound.channels.erp_events.idset import packed, unpacked
from adapters.outbound.channels.erp_events.rpc import Session

CREATE, WRITE, UNLINK = "create", "write", "unlink"
WINDOW = timedelta(minutes=10)
"""How long a transaction may take and still be noticed."""

AT_ONCE = 500
"""Records that one look takes up."""

MOST = 50_000
"""Stamps that one look asks for, besides those that are known."""

_STAMP = "%Y-%m-%d %H:%M:%S"
_EVERYTHING = {"active_test": False}
"""Archived records are records: archiving is a change, no deletion."""


@dataclass(frozen=True, slots=True)
class Change:
    """What happened to a record. `record` holds its fields, its id alone when it is gone."""

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
    _names: list[str] = field(default_factory=list)

    async def begin(self) -> Mapping[str, Any]:
        """Where watching begins: what is there now is not reported."""
        newest = await self._call(
            "search_read", domain=[], fields=["write_date"], order="write_date desc", limit=1
        )
        since = text(newest[0], "write_date") if newest else ""
        seen = {each["id"]: each["write_date"] for each in await self._stamps(since, MOST)} if since else {}
        return self._cursor(since, seen, await self._ids())

    async def look(self, cursor: Mapping[str, Any]) -> Look:
        """What happened since the cursor. Raises `OdooError`."""
        since, seen = text(cursor, "since"), {int(key): each for key, each in cursor["seen"].items()}
        stamps = await self._stamps(since, len(seen) + MOST)
        fresh = [each for each in stamps if seen.get(each["id"]) != each["write_date"]]
        taken = fresh[:AT_ONCE]
        changes = [change async for change in self._read(taken, _earlier(since), seen)]
        ids = await self._ids()
        changes += self._gone(cursor, ids)
        newest = max([since, *(each["write_date"] for each in taken)])
        kept = {**seen, **{each["id"]: each["write_date"] for each in taken}}
        recent = {key: stamp for key, stamp in kept.items() if stamp >= _earlier(newest)}
        return Look(changes, self._cursor(newest, recent, ids), more=len(fresh) > len(taken))

    async def _stamps(self, since: str, limit: int) -> list[dict[str, Any]]:
        """Ids and stamps in the window, the oldest first."""
        domain = [["write_date", ">=", _earlier(since)]] if since else []
        found = await self._call(
            "search_read", domain=domain, fields=["write_date"], order="write_date, id", limit=limit
        )
        return [each for each in found if isinstance(each["id"], int) and text(each, "write_date")]

    async def _read(
        self, taken: Sequence[Mapping[str, Any]], known_since: str, seen: Mapping[int, str]
    ) -> AsyncIterator[Change]:
        """The changes of records that are reported, in the order of their stamps."""
        if not taken or not self.events & {CREATE, WRITE}:
            return
        ids = [each["id"] for each in taken]
        names = await self._field_names()
        found = await self._call("search_read", domain=[["id", "in", ids]], fields=names)
        records = {each["id"]: each for each in found}
        for each in taken:
            record = records.get(each["id"])
            if record is None:  # deleted in between
                continue
            event = _event(record, known_since, each["id"] in seen)
            if event in self.events and not self._is_own(event, record):
                yield Change(self.model, event, each["id"], each["write_date"], record)

    def _is_own(self, event: str, record: Mapping[str, Any]) -> bool:
        """Our notes change a record too; and they are records themselves, for who watches mail."""
        writers = items(record, "write_uid")
        by_us = bool(self.session.uid) and bool(writers) and writers[0] == self.session.uid
        return by_us and (event == WRITE or self.model.startswith("mail."))

    async def _field_names(self) -> list[str]:
        """The stored fields that are not binary: what is computed may cost or fail, and files are large."""
        if not self._names:
            fields = await self._call("fields_get", attributes=["type", "store"])
            self._names = [
                name
                for name, each in fields.items()
                if text(each, "type") != "binary" and each.get("store", True)
            ]
        return sorted({*self._names, "create_date", "write_date", "write_uid"})

    async def _ids(self) -> set[int]:
        if UNLINK not in self.events:
            return set()
        return {each for each in await self._call("search", domain=[]) if isinstance(each, int)}

    def _gone(self, cursor: Mapping[str, Any], ids: set[int]) -> Iterator[Change]:
        if UNLINK in self.events and "ids" in cursor:
            for each in sorted(unpacked(cursor["ids"]) - ids):
                yield Change(self.model, UNLINK, each, "", {"id": each})

    def _cursor(self, since: str, seen: Mapping[int, str], ids: set[int]) -> Mapping[str, Any]:
        kept = {"since": since, "seen": {str(key): stamp for key, stamp in seen.items()}}
        return {**kept, "ids": packed(ids)} if UNLINK in self.events else kept

    async def _call(self, method: str, **arguments: Any) -> Any:
        if method != "fields_get":
            arguments["context"] = _EVERYTHING
        return await self.session.call(self.model, method, **arguments)


def _event(record: Mapping[str, Any], known_since: str, was_seen: bool) -> str:
    """A record made since the last look is created, any other one was written."""
    return CREATE if not was_seen and text(record, "create_date") >= known_since else WRITE


def _earlier(stamp: str) -> str:
    """The beginning of the window before a stamp; empty before the first one."""
    if not stamp:
        return ""
    return (datetime.strptime(stamp[:19], _STAMP) - WINDOW).strftime(_STAMP)  # noqa: DTZ007 - always UTC
