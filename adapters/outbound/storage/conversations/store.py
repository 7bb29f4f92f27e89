"""Conversations of instances: a list of them, who has each, and their erasure."""

import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from adapters.outbound.storage.codec import key_of, storable, stored_event
from adapters.outbound.storage.conversations.erasure import erase
from adapters.outbound.storage.conversations.messages import note_message
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.sends import assignee_of
from adapters.outbound.storage.queue.statements import SQL as QUEUE_SQL
from adapters.outbound.storage.queue.statements import read_statements
from adapters.rpc.messages import from_us, to_us
from domain.conversations.model import (
    ConversationCounts,
    ConversationFilter,
    ConversationSender,
    ConversationState,
    ConversationUpdate,
    ConversationView,
    Handler,
    Message,
    NewNote,
)
from domain.paging import Page, cursor_of, read_cursor
from domain.web_chat.model import ChatPlace

LAST_TEXT = 500
"""Characters of the latest message that a list shows."""
MOST_COUNTED = 1000
"""Messages of a conversation that are counted, and searched."""
SEARCHED = 50
"""Conversations that one statement searches."""
SEARCH_SECONDS = 2.0
"""After so long a search ends with a page that may not be full."""

LATEST_US = 10**17
"""Microseconds after 1970 that no cursor reaches: it is the year 5138."""


_BEFORE = "touched_at <= %(at)s AND (touched_at, instance_id, session_key) < (%(at)s, %(instance)s, %(key)s)"
_VISIBLE_IDS = (
    "ANY(ARRAY(SELECT o.id FROM channel_instance o WHERE o.user_id = %(owner)s"
    " UNION ALL SELECT a.instance_id FROM instance_access a WHERE a.user_id = %(owner)s))"
)
"""The caller's own instances and those that are shared with them: an array, so that each is found by its id."""
_VISIBLE = f"c.id = {_VISIBLE_IDS}"
_WAITING = {True: "pending > 0", False: "pending <= 0"}
_WANTS_PERSON = "held_until > now() AND held_by_until IS DISTINCT FROM held_until"
_OPEN = "closed_at IS NULL AND (snoozed_until > now()) IS NOT TRUE"
_STATES = {
    ConversationState.OPEN: _OPEN,
    ConversationState.SNOOZED: "closed_at IS NULL AND snoozed_until > now()",
    ConversationState.CLOSED: "closed_at IS NOT NULL",
}
_CLOSED = {True: "closed_at IS NOT NULL", False: "closed_at IS NULL"}
_HANDLERS = {Handler.PERSON: "held_until > now()", Handler.RESOURCE: "(held_until > now()) IS NOT TRUE"}


_COUNTED = {
    "mine": f"assignee = %(me)s AND {_OPEN}",
    "teams": f"assignee = ANY(%(teams)s) AND {_OPEN}",
    "unassigned": f"assignee IS NULL AND {_OPEN}",
    "open": _OPEN,
    "snoozed": _STATES[ConversationState.SNOOZED],
    "closed": _STATES[ConversationState.CLOSED],
    "wants_person": _WANTS_PERSON,
}
"""The condition of each view, in the order of `ConversationCounts`; of those that failed, see `_failed`."""
SQL = read_statements(Path(__file__).with_suffix(".sql"), most_counted=MOST_COUNTED, views=_COUNTED)


def list_sql(owner: str | None, wanted: ConversationFilter, *, first: bool) -> str:
    """The statement for a page, the `first` one or another, with only the conditions that it needs."""
    instances = {
        _VISIBLE: owner is not None,
        "c.id = ANY(%(instances)s)": wanted.instance_ids,
        "c.channel_id = %(channel)s": wanted.channel_id,
    }
    conversations = [] if first else [_BEFORE]
    conversations += _conditions(wanted)
    if wanted.failed:
        conversations.append(_failed(owner))
    is_few = wanted.failed or wanted.label is not None
    return SQL["list_few" if is_few else "list_conversations"].format(
        instances="".join(f" AND {condition}" for condition, is_needed in instances.items() if is_needed),
        conversations="".join(f" AND {condition}" for condition in conversations),
    )


def _conditions(wanted: ConversationFilter) -> Iterator[str]:
    """The conditions on conversations."""
    choices: Sequence[tuple[Mapping[Any, str], object]] = (
        (_WAITING, wanted.waiting),
        (_HANDLERS, wanted.handler),
        (_CLOSED, wanted.is_closed),
        (_STATES, wanted.state),
        ({True: _WANTS_PERSON}, wanted.wants_person),
    )
    yield from (conditions[choice] for conditions, choice in choices if choice in conditions)
    if wanted.session_id is not None:
        yield "session_key = %(session)s"
    if wanted.label is not None:
        yield "labels @> ARRAY[%(label)s]"
    if wanted.assignees is not None:
        yield _assigned(wanted.assignees)


def _assigned(assignees: Sequence[str]) -> str:
    """Of one assignee the latest are found by an index; of several all are read."""
    if tuple(assignees) == ("",):
        return "assignee IS NULL"
    return "assignee = %(assignee)s" if len(assignees) == 1 else "assignee = ANY(%(assignees)s)"


def _failed(owner: str | None) -> str:
    """The condition of conversations in which a message or an answer was given up."""
    visible = "" if owner is None else f" AND instance_id = {_VISIBLE_IDS}"
    return (
        "(instance_id, session_key) IN ("
        f"SELECT instance_id, session_key FROM inbox WHERE status = 2 AND event <> '{{}}'{visible}"
        " UNION SELECT instance_id, session_key FROM outbox"
        f" WHERE status = 2 AND (inbox_id IS NOT NULL OR send_id IS NOT NULL){visible})"
    )


def counts_sql(owner: str | None) -> str:
    """The statement for the numbers of all views."""
    visible = "" if owner is None else f" AND {_VISIBLE}"
    return SQL["count_conversations"].format(instances=visible, failed=_failed(owner))


class _Position(NamedTuple):
    """A place in the list."""

    touched_at: datetime
    instance_id: int
    session_key: str


class _Row(NamedTuple):
    instance_id: int
    channel_id: str
    channel_name: str
    session_key: str
    touched_at: datetime
    waiting: bool
    held_until: datetime | None
    held_by: str | None
    event: str | None
    answer: str | None
    received_at: datetime | None
    finished_at: datetime | None
    session_id: str | None
    content: str | None
    created_at: datetime | None
    messages: int
    pending_confirmation: bool
    assignee: str | None
    labels: list[str] | None
    is_closed: bool
    snoozed_until: datetime | None
    is_wanted: bool

    @property
    def is_listed(self) -> bool:
        """The row of a conversation whose texts were erased stays for a while, as it tells of loops."""
        return self.is_wanted and self.messages > 0

    @property
    def position(self) -> _Position:
        return _Position(self.touched_at, self.instance_id, self.session_key)


class PostgresConversationStore:
    """`ports.conversations.ConversationStore`. `inbound` wakes the workers of the inbound queue; `delete` removes
    those of some blobs that nothing uses; `chat_changed` tells the readers of a conversation of the web chat."""

    def __init__(
        self,
        database: Database,
        inbound: Callable[[], None],
        delete: Callable[[Sequence[str]], Awaitable[object]],
        chat_changed: Callable[[ChatPlace], None],
    ) -> None:
        self._database = database
        self._inbound = inbound
        self._delete = delete
        self._chat_changed = chat_changed

    async def list(
        self, owner: str | None, wanted: ConversationFilter, limit: int, cursor: str | None
    ) -> Page[ConversationView, str]:
        last: _Position | None = None
        if position := read_cursor(cursor, int, int, str):
            at, instance_id, key = position
            last = _Position(from_us(int(at) % LATEST_US), int(instance_id), storable(str(key)))
        ends, views = time.monotonic() + SEARCH_SECONDS, list[ConversationView]()
        while True:
            count = SEARCHED if wanted.query else max(limit, SEARCHED)
            rows = await self._rows(owner, wanted, count + 1, last)
            for row in rows[:count]:
                if row.is_listed and len(views) == limit:
                    return Page(views, _cursor(last))
                last = row.position
                views += [_view(row)] if row.is_listed else []
            if len(rows) <= count:
                return Page(views, None)
            if time.monotonic() > ends:
                return Page(views, _cursor(last))

    async def _rows(
        self, owner: str | None, wanted: ConversationFilter, count: int, last: _Position | None
    ) -> Sequence[_Row]:
        escaped = wanted.query.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_")
        parameters = {
            "owner": owner,
            "instances": list(wanted.instance_ids),
            "session": None if wanted.session_id is None else key_of(wanted.session_id),
            "assignee": wanted.assignees[0] if wanted.assignees else None,
            "assignees": list(wanted.assignees or ()),
            "channel": wanted.channel_id,
            "label": wanted.label,
            "pattern": f"%{escaped}%" if wanted.query else None,
            "at": last.touched_at if last else None,
            "instance": last.instance_id if last else None,
            "key": last.session_key if last else None,
            "count": count,
        }
        statement = list_sql(owner, wanted, first=last is None)
        return [_Row(*row) for row in await self._database.fetch(statement, parameters)]

    async def hold(self, instance_id: int, session_id: str, user_id: str, minutes: int) -> bool:
        parameters = {
            "minutes": minutes,
            "user": user_id,
            "assignee": assignee_of(user_id),
            "instance": instance_id,
            "session": key_of(session_id),
        }
        return await self._database.execute(QUEUE_SQL["hold_conversation"], parameters) > 0

    async def change(
        self, instance_id: int, session_id: str, user_id: str, change: ConversationUpdate
    ) -> bool:
        parameters = {
            "instance": instance_id,
            "session": key_of(session_id),
            "user": user_id,
            "assignee": change.assignee,
            "state": change.state,
            "until": change.snoozed_until,
            "labels": None if change.labels is None else list(change.labels),
        }
        return bool(await self._database.fetch(QUEUE_SQL["change_conversation"], parameters))

    async def add_note(self, instance_id: int, session_id: str, note: NewNote) -> Message | None:
        parameters = {
            "instance": instance_id,
            "session": key_of(session_id),
            "user": storable(note.user_id),
            "text": note.text,
            "mentions": list(note.mentions),
        }
        row = await self._database.fetch_one(QUEUE_SQL["add_note"], parameters)
        if row is None:
            return None
        return note_message(row[0], session_id, note, row[1])

    async def counts(self, owner: str | None, user_id: str, teams: Sequence[str]) -> ConversationCounts:
        parameters = {"owner": owner, "me": f"user:{user_id}", "teams": list(teams)}
        [row] = await self._database.fetch(counts_sql(owner), parameters)
        return ConversationCounts(*row)

    async def hand_back(self, instance_id: int, session_id: str) -> bool:
        parameters = {"instance": instance_id, "session": key_of(session_id)}
        is_known = await self._database.execute(QUEUE_SQL["hand_back_conversation"], parameters) > 0
        self._inbound()
        return is_known

    async def erase(self, instance_id: int, session_id: str) -> bool:
        return await self.erase_by_key(instance_id, key_of(session_id), session_id)

    async def erase_by_key(self, instance_id: int, session_key: str, session_id: str) -> bool:
        """A blob that is not removed here, as this process dies, is removed with those that nobody uses."""
        blobs = await erase(self._database, instance_id, session_key)
        if blobs:
            await self._delete(blobs)
        self._chat_changed(ChatPlace(instance_id, session_id))
        return blobs is not None


def _cursor(last: _Position | None) -> str | None:
    return cursor_of(to_us(last.touched_at), last.instance_id, last.session_key) if last else None


def _view(row: _Row) -> ConversationView:
    event = stored_event(row.event) if row.event is not None else None
    text, at = _latest(row, event.text if event else "")
    return ConversationView(
        instance_id=row.instance_id,
        channel_id=row.channel_id,
        channel_name=row.channel_name,
        session_id=event.session_id if event else row.session_id or row.session_key,
        sender=ConversationSender(
            event.sender.external_id,
            event.sender.display_name,
            None,
            event.sender.identities,
            event.sender.proof,
        )
        if event
        else ConversationSender(),
        last_text=text[:LAST_TEXT],
        last_at=at,
        messages=min(row.messages, MOST_COUNTED),
        waiting=row.waiting,
        held_until=row.held_until,
        held_by=row.held_by if row.held_until else None,
        pending_confirmation=row.pending_confirmation,
        assignee=row.assignee,
        labels=tuple(row.labels or ()),
        is_closed=row.is_closed,
        snoozed_until=row.snoozed_until,
    )


def _latest(row: _Row, text: str) -> tuple[str, datetime]:
    """The text and the time of the latest message."""
    times: list[tuple[Any, datetime | None]] = [
        (text, row.received_at),
        (row.answer and orjson.loads(row.answer)["text"], row.finished_at if row.answer else None),
        (row.content and orjson.loads(row.content)["text"], row.created_at),
    ]
    last = max(((at, place) for place, (_, at) in enumerate(times) if at is not None), default=None)
    return (str(times[last[1]][0]), last[0]) if last else ("", row.touched_at)
