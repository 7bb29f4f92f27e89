"""`ports.persons.PeopleStore` in PostgreSQL."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import orjson
from psycopg import Rollback

from adapters.outbound.storage.arrays import Bigints, Texts
from adapters.outbound.storage.codec import key_of
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.people.recording import SQL, identity_key, join
from adapters.outbound.storage.pool import Database
from adapters.rpc.messages import from_us, to_us
from domain.channels.messages import Identity
from domain.paging import Page, cursor_of, read_cursor
from domain.people.model import PeopleFilter, PeopleScope, Person, PersonChange, PersonConversation, Split

LISTED = 10
"""Conversations that a list shows of each person."""
READ_OF_LISTED = 100
"""Senders of each person of whom a list shows the identities."""
SHOWN = 1000
"""Conversations that are shown of one person, and senders whose identities are."""
LATEST_US = 10**17
"""Microseconds after 1970 that no cursor reaches: it is the year 5138."""


class _Row(NamedTuple):
    id: int
    owner: str
    name: str
    language: str | None
    labels: Sequence[str] | None
    first_at: datetime
    seen_at: datetime
    given_name: str | None
    given_language: str | None


class _Sender(NamedTuple):
    person_id: int
    instance_id: int
    channel_id: str
    channel_name: str
    session_id: str
    sender: str
    name: str
    first_at: datetime
    seen_at: datetime
    identities: str
    user_id: str | None
    language: str | None
    of_all: int


class PostgresPeople:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def list(
        self, scope: PeopleScope, wanted: PeopleFilter, limit: int, cursor: str | None
    ) -> Page[Person, str]:
        position = read_cursor(cursor, int, int)
        escaped = wanted.query.lower().replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_")
        parameters = {
            "owner": scope.owner,
            "shared": list(scope.shared),
            "pattern": f"%{escaped}%",
            "label": wanted.label,
            "at": from_us(int(position[0]) % LATEST_US) if position else None,
            "id": position[1] if position else None,
            "count": limit + 1,
        }
        statement = list_sql(scope, wanted, first=position is None)
        rows = [_Row(*row) for row in await self._database.fetch(statement, parameters)]
        page = rows[:limit]
        partial = [row.owner != scope.owner for row in page] if scope.owner is not None else []
        people = await self._people(page, READ_OF_LISTED, LISTED, partial, scope.shared)
        following = cursor_of(to_us(page[-1].seen_at), page[-1].id) if len(rows) > limit else None
        return Page(people, following)

    async def find(self, person_id: int, instances: Sequence[int] | None = None) -> Person | None:
        rows = await self._database.fetch(SQL["find_person"], {"id": person_id})
        partial = [] if instances is None else [True] * len(rows)
        people = await self._people([_Row(*row) for row in rows], SHOWN, SHOWN, partial, instances or ())
        return people[0] if people else None

    async def instance_ids(self, person_id: int) -> Sequence[int]:
        return await self._database.fetch_column(SQL["instances_of_person"], {"id": person_id})

    @retried
    async def change(self, person_id: int, change: PersonChange) -> bool:
        parameters = {
            "id": person_id,
            "name": change.name,
            "language": change.language,
            "labels": None if change.labels is None else list(change.labels),
        }
        async with self._database.transaction() as connection:
            changed = (await connection.execute(SQL["change_person"], parameters)).rowcount
            await connection.execute(SQL["refresh"], {"people": [person_id]})
        return changed > 0

    @retried
    async def merge(self, person_id: int, others: Sequence[int]) -> bool:
        people = [person_id, *others]
        async with self._database.transaction() as connection:
            await connection.execute(SQL["lock_people"])
            cursor = await connection.execute(SQL["known_people"], {"people": people})
            if await cursor.fetchone() != (len(people),):
                return False
            await join(connection, person_id, others)
        return True

    @retried
    async def split(self, person_id: int, split: Split) -> int | None:
        parameters = {
            "id": person_id,
            "identities": [identity_key(identity) for identity in split.identities],
            "instances": Bigints(name.instance_id for name in split.conversations),
            "sessions": Texts(key_of(name.session_id) for name in split.conversations),
        }
        new: int | None = None
        async with self._database.transaction() as connection:
            await connection.execute(SQL["lock_people"])
            rows = await (await connection.execute(SQL["split_off"], parameters)).fetchall()
            rest = await (await connection.execute(SQL["mark_split"], parameters)).fetchone()
            if not rows or rest != (True,):
                raise Rollback
            new = int(rows[0][0])
            await connection.execute(SQL["end_exports"], parameters)
            await connection.execute(SQL["refresh"], {"people": [person_id, new]})
        return new

    async def _people(
        self, rows: Sequence[_Row], most: int, shown: int, partial: Sequence[bool], instances: Sequence[int]
    ) -> Sequence[Person]:
        """`partial`: which of them are shown as what they have in these instances, none of them where it is empty."""
        flags = partial or [False] * len(rows)
        parameters = {
            "people": [row.id for row in rows],
            "partial": flags,
            "instances": list(instances),
            "most": most,
        }
        senders: dict[int, list[_Sender]] = {row.id: [] for row in rows}
        for columns in await self._database.fetch(SQL["senders_of_people"], parameters) if rows else ():
            sender = _Sender(*columns)
            senders[sender.person_id].append(sender)
        return [
            _partial_person(row, senders[row.id], shown) if flag else _person(row, senders[row.id], shown)
            for row, flag in zip(rows, flags, strict=True)
        ]


SHOWN_BY_SENDER = " AND lower(concat_ws(E'\\n', given_name, s.name, s.sender, s.identities)) LIKE %(pattern)s"
"""A search finds a person by what is shared, and by a name that was set by hand."""


def list_sql(scope: PeopleScope, wanted: PeopleFilter, *, first: bool) -> str:
    """The statement for a page, the `first` one or another, with only the conditions that it needs."""
    conditions = {
        "search LIKE %(pattern)s": bool(wanted.query),
        "labels @> ARRAY[%(label)s]": wanted.label is not None,
        "seen_at <= %(at)s AND (seen_at, id) < (%(at)s, %(id)s)": not first,
    }
    needed = "".join(f" AND {condition}" for condition, is_needed in conditions.items() if is_needed)
    if scope.owner is not None and scope.shared:
        shown = SHOWN_BY_SENDER if wanted.query else ""
        return SQL["list_shared_people"].format(own=needed, shared=f"{shown}){needed}")
    owned = "" if scope.owner is None else " AND owner = %(owner)s"
    return SQL["list_people"].format(conditions=owned + needed)


def _person(row: _Row, senders: Sequence[_Sender], shown: int) -> Person:
    identities = (Identity(*pair) for sender in senders for pair in orjson.loads(sender.identities))
    return Person(
        id=row.id,
        owner=row.owner,
        name=row.name,
        language=row.language,
        labels=tuple(row.labels or ()),
        identities=tuple(dict.fromkeys(identities)),
        user_ids=tuple(dict.fromkeys(sender.user_id for sender in senders if sender.user_id)),
        conversations=[_conversation(sender) for sender in senders[:shown]],
        conversation_count=senders[0].of_all if senders else 0,
        first_at=row.first_at,
        last_at=row.seen_at,
    )


def _partial_person(row: _Row, senders: Sequence[_Sender], shown: int) -> Person:
    """The person as these senders show them; names and languages of others stay unknown."""
    own = [sender.name for sender in senders if sender.name not in ("", sender.sender)]
    names = own or [sender.sender for sender in senders]
    languages = [sender.language for sender in senders if sender.language]
    seen = row._replace(
        name=row.given_name or next(iter(names), ""),
        language=row.given_language or next(iter(languages), None),
        first_at=min((sender.first_at for sender in senders), default=row.first_at),
        seen_at=max((sender.seen_at for sender in senders), default=row.seen_at),
    )
    return _person(seen, senders, shown)


def _conversation(sender: _Sender) -> PersonConversation:
    return PersonConversation(*sender[1:9])
