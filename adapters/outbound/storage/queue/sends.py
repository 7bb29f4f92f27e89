"""Messages that answer none, and answers that no waiting call took, in PostgreSQL."""

import logging
import uuid
from collections.abc import Callable, Sequence
from typing import Any

import orjson

from adapters import trace_context
from adapters.outbound.storage.arrays import Texts
from adapters.outbound.storage.codec import content_of, dump, dump_bytes, key_of, stored_event
from adapters.outbound.storage.failures import by_halves, is_of_rows, retried
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.conversations import message_key
from adapters.outbound.storage.queue.statements import SQL
from domain.access.service import SERVICE_USER
from domain.channels.messages import CallOutcome
from domain.conversations.model import MessageId, MessageKind
from domain.refusals import INTERNAL
from ports.outbox import HeldBy, KnownSession, NewSend, StoredSend


class PostgresSends:
    """`ports.outbox.SendStore`. `enqueued` is called after a commit that brought messages that nobody holds."""

    def __init__(self, database: Database, enqueued: Callable[[], None]) -> None:
        self._database = database
        self._enqueued = enqueued

    async def session(self, instance_id: int, session_id: str) -> KnownSession:
        """The target of the newest event, else of the newest message."""
        parameters = {"instance_id": instance_id, "session_key": key_of(session_id)}
        rows = await self._database.fetch(SQL["newest_of_session"], parameters)
        events = [(stored_event(event), received) for event, received, *_ in rows if event]
        target, (_, _, now, content, held_by) = events[0][0].target if events else None, rows[0]
        if not target and content:
            target = orjson.loads(content).get("target")
        written = [min(event.written_at or received, received) for event, received in events]
        return KnownSession(
            target or None,
            now - max(written) if written else None,
            events[0][0].sender.display_name if events else "",
            held_by,
        )

    async def repeated(self, instance_id: int, idempotency_key: str) -> StoredSend | None:
        row = await self._database.fetch_one(SQL["find_idempotency_key"], (instance_id, idempotency_key))
        if row is None:
            return None
        id, session_id, content = row
        return StoredSend(id, session_id, orjson.loads(content).get("digest", ""))

    async def next_id(self) -> int:
        id: int = await self._database.fetch_value(SQL["next_send_id"])
        return id

    async def add(self, send: NewSend) -> StoredSend | HeldBy | None:
        key = send.idempotency_key or None
        if key:
            await self._database.execute(SQL["free_idempotency_key"], (send.instance_id, key))
        id, is_open, held_by, held_until = await self._store(
            {**_columns(send), "idempotency_key": key}, claims=send.taken_by is not None
        )
        if held_by is not None:
            return HeldBy(held_by, held_until)
        if id is None:
            return await self.repeated(send.instance_id, key) if key else None
        if is_open:
            self._enqueued()
        return StoredSend(id, send.session_id, send.digest)

    @retried
    async def _store(self, columns: dict[str, Any], *, claims: bool) -> tuple[Any, ...]:
        if not claims:
            [row] = await self._database.fetch(SQL["send"], columns)
            return row
        async with self._database.transaction() as connection:
            await connection.execute(SQL["lock_claim"], columns)
            [row] = await (await connection.execute(SQL["send"], columns)).fetchall()
        return row


def _columns(send: NewSend) -> dict[str, Any]:
    """The parameters of `SQL["send"]`. The content is what was sent, and what is needed to send again to the same
    conversation."""
    answer, template, numbers = send.answer, send.answer.template, range(len(send.messages))
    content = {**content_of(answer), "request": answer.request_id, "target": send.target}
    if send.digest:
        content["digest"] = send.digest
    if template:
        content["template"] = [template.name, template.language, list(template.parameters)]
    return {
        "id": send.id,
        "instance_id": send.instance_id,
        "session_key": key_of(send.session_id),
        "session_id": send.session_id,
        "content": dump(content),
        "author": answer.author,
        "user": send.user_id,
        "taken_by": send.taken_by,
        "assignee": assignee_of(send.taken_by),
        "forced": send.forced,
        "trace": trace_context.current() or None,
        "offered": str(MessageId(MessageKind.SENT_FIRST, send.id)) if send.numbered else None,
        "target": dump(send.target),
        "messages": Texts(dump_bytes(message.payload) for message in send.messages),
        "keys": Texts(message_key(answer.request_id, send.id, number) for number in numbers),
    }


def assignee_of(user_id: str | None) -> str | None:
    """Who is responsible for what a user takes over: nobody where a service acts for nobody."""
    return None if user_id in (None, SERVICE_USER) else f"user:{user_id}"


log = logging.getLogger(__name__)


class UntakenAnswers:
    def __init__(self, database: Database, enqueued: Callable[[], None]) -> None:
        self._database = database
        self._enqueued = enqueued

    async def send(self) -> int:
        """How many were sent."""
        untaken = [id for (id,) in await self._database.fetch(SQL["untaken_answers"])]
        count = 0

        async def send(ids: Sequence[int]) -> None:
            nonlocal count
            count += await self._take(ids)

        refused = await by_halves(untaken, send) if untaken else []
        if count:
            self._enqueued()
        if refused:
            raise refused[0][1]
        return count

    @retried
    async def _take(self, ids: Sequence[int]) -> int:
        async with self._database.transaction() as connection:
            rows = await (await connection.execute(SQL["take_untaken_answers"], (ids,))).fetchall()
            for inbox_id, instance_id, session_key, result in rows:
                try:  # an answer that cannot be sent does not hold up the others
                    async with connection.transaction():
                        stored = orjson.loads(result)
                        answer = {
                            "inbox_id": inbox_id,
                            "instance_id": instance_id,
                            "session_key": session_key,
                            "target": dump(stored["target"]),
                            "messages": Texts(dump_bytes(message) for message in stored["parts"]),
                            "keys": Texts(str(uuid.uuid4()) for _ in stored["parts"]),
                            "apology": stored["outcome"] == CallOutcome.FAILED,
                        }
                        await connection.execute(SQL["send_untaken_answer"], answer)
                except Exception as error:
                    if not is_of_rows(error, lost=connection.closed):
                        raise
                    log.exception("an untaken answer is given up", extra={"instance": instance_id})
                    reason = f"the answer that no call took could not be sent: {INTERNAL}"
                    await connection.execute(SQL["give_up_untaken_answer"], (reason, inbox_id))
        return len(rows)
