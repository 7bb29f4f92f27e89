"""Requests for exports and erasures of people, and the erasure itself, in PostgreSQL."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from adapters.outbound.storage.arrays import Bigints, Texts
from adapters.outbound.storage.codec import dump, key_of
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.pool import Connection, Database
from adapters.outbound.storage.queue.statements import read_statements
from domain.paging import Page, cursor_of, read_cursor
from domain.people.model import PrivacyRequest, RequestKind, RequestState
from ports.files import StoredBlob
from ports.persons import LeaseLost

LEASE = 30
LONGEST = 600
"""Seconds: no request is leased, or postponed after a failure, for longer."""
MOST_FAILURES = 8
PAGE = 500
SQL = read_statements(
    Path(__file__).with_suffix(".sql"), lease=LEASE, longest=LONGEST, most_failures=MOST_FAILURES, page=PAGE
)
FIRST = 2**63 - 1


class PostgresPrivacyRequests:
    """`ports.persons.PrivacyRequestStore`. `life`: how long the file of an export is kept."""

    def __init__(self, database: Database, life: timedelta) -> None:
        self._database = database
        self._life = life

    @retried
    async def add(self, person_id: int, kind: RequestKind, user_id: str) -> PrivacyRequest | None:
        parameters = {"person": person_id, "kind": kind, "user": user_id}
        async with self._database.transaction() as connection:
            is_there = await _row(connection, "lock_person", parameters)
            if is_there is None and not await self._is_given_up(connection, parameters):
                return None
            row = await _row(connection, "open_request", parameters)
            if row is None:
                row = await _row(connection, "add_request", parameters)
                if kind is RequestKind.ERASE:
                    await connection.execute(SQL["begin_erasure"], parameters)
        return _request(row) if row else None

    async def _is_given_up(self, connection: Connection, parameters: dict[str, Any]) -> bool:
        """Return True for the erasure of a person whose earlier one was given up."""
        row = await _row(connection, "latest_erasure", parameters)
        is_failed = row is not None and _request(row).state is RequestState.FAILED
        return is_failed and parameters["kind"] is RequestKind.ERASE

    async def find(self, request_id: int) -> PrivacyRequest | None:
        row = await self._database.fetch_one(SQL["find_request"], {"id": request_id})
        return _request(row) if row else None

    async def latest_erasure(self, person_id: int) -> PrivacyRequest | None:
        row = await self._database.fetch_one(SQL["latest_erasure"], {"person": person_id})
        return _request(row) if row else None

    async def list(self, owner: str | None, limit: int, cursor: str | None) -> Page[PrivacyRequest, str]:
        position = read_cursor(cursor, int)
        parameters = {"before": position[0] if position else FIRST, "owner": owner, "count": limit + 1}
        condition = " AND (owner = %(owner)s OR requested_by = %(owner)s)" if owner is not None else ""
        rows = await self._database.fetch(SQL["list_requests"].format(condition=condition), parameters)
        requests = [_request(row) for row in rows[:limit]]
        return Page(requests, cursor_of(requests[-1].id) if len(rows) > limit else None)

    async def take(self) -> PrivacyRequest | None:
        row = await self._database.fetch_one(SQL["take_request"])
        return _request(row) if row else None

    async def renew(self, request: PrivacyRequest, done: int | None = None) -> None:
        await self._change("renew_request", request, done=done)

    async def attach(self, request: PrivacyRequest, blob: StoredBlob) -> None:
        await self._change("attach_blob", request, blob=blob.key, size=blob.size)

    async def finish(self, request: PrivacyRequest) -> None:
        await self._change("finish_request", request, life=self._life)

    async def retry(self, request: PrivacyRequest, error: str) -> None:
        parameters = {"id": request.id, "run": request.run, "error": error}
        await self._database.execute(SQL["retry_request"], parameters)

    async def _change(self, name: str, request: PrivacyRequest, **values: object) -> None:
        parameters = {"id": request.id, "run": request.run, **values}
        if not await self._database.execute(SQL[name], parameters):
            raise LeaseLost


class StoredPersonSender(NamedTuple):
    """A sender of a person. `is_shared`: others have written in the conversation too."""

    instance_id: int
    session_key: str
    sender_key: str
    channel_id: str
    channel_name: str
    session_id: str
    sender: str
    name: str
    language: str | None
    identities: str
    user_id: str | None
    first_at: datetime
    seen_at: datetime
    is_shared: bool

    @property
    def document(self) -> str:
        """The sender's id as stored events have it."""
        return dump(self.sender)


async def senders_after(
    database: Database, person_id: int, last: StoredPersonSender | None
) -> Sequence[StoredPersonSender]:
    """The next senders of a person, in the order of their conversations; a page that is not full is the last."""
    after = (last.instance_id, last.session_key, last.sender_key) if last else (0, "", "")
    parameters = dict(zip(("instance", "session", "sender"), after, strict=True))
    rows = await database.fetch(SQL["senders_of_person"], {"person": person_id, **parameters})
    return [StoredPersonSender(*row) for row in rows]


class PostgresPersonEraser:
    """`ports.persons.PersonEraser`. `erase_conversation` takes instance, key and id of a session."""

    def __init__(
        self, database: Database, erase_conversation: Callable[[int, str, str], Awaitable[object]]
    ) -> None:
        self._database = database
        self.erase_conversation = erase_conversation

    async def erase(self, person_id: int, report: Callable[[], Awaitable[None]]) -> None:
        while senders := await senders_after(self._database, person_id, None):
            await self._erase_traces(senders)
            sessions = {(sender.instance_id, sender.session_key): sender.session_id for sender in senders}
            for (instance_id, session_key), session_id in sessions.items():
                await self.erase_conversation(instance_id, session_key, session_id)
                await report()
        await self._database.execute(SQL["delete_person"], {"person": person_id})

    @retried
    async def _erase_traces(self, senders: Sequence[StoredPersonSender]) -> None:
        """Erases what is on record of these senders beside their conversations."""
        places = {key_of(f"{sender.instance_id}:{sender.session_id}") for sender in senders}
        async with self._database.transaction() as connection:
            of_senders = {
                "instances": Bigints(sender.instance_id for sender in senders),
                "senders": Texts(sender.sender_key for sender in senders),
                "documents": Texts(sender.document for sender in senders),
            }
            for name in ("erase_votes", "erase_refused"):
                await connection.execute(SQL[name], of_senders)
            subscriptions = [
                id for (id,) in await (await connection.execute(SQL["subscriptions"])).fetchall()
            ]
            of_pushes = {"subscriptions": Bigints(subscriptions), "places": Texts(places)}
            for name in ("erase_pushes", "erase_push_queues", "erase_push_cursors"):
                await connection.execute(SQL[name], of_pushes)


async def _row(connection: Connection, name: str, parameters: dict[str, Any]) -> tuple[Any, ...] | None:
    return await (await connection.execute(SQL[name], parameters)).fetchone()


def _request(row: tuple[Any, ...]) -> PrivacyRequest:
    id, owner, person_id, kind, state, *others = row
    return PrivacyRequest(id, owner, person_id, RequestKind(kind), RequestState(state), *others)
