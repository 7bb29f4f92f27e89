"""`ports.conversations.ConversationActions` in PostgreSQL.

Messages that were given up are processed or sent again.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import orjson

from adapters.outbound.storage.codec import dump
from adapters.outbound.storage.conversations.erasure import Erasure
from adapters.outbound.storage.conversations.handlers import PostgresHandlers
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.statements import SQL, EventStatus
from adapters.outbound.system.clock import new_uuid
from domain.conversations.model import MessageId, MessageKind
from domain.web_chat.model import ChatPlace
from ports.conversations import Rerun


class PostgresActions:
    """`inbound` and `outbound` wake the workers of both queues; `delete` removes those of some blobs that nothing
    uses; `chat_changed` tells the readers of a conversation of the web chat."""

    def __init__(
        self,
        database: Database,
        inbound: Callable[[], None],
        outbound: Callable[[], None],
        delete: Callable[[Sequence[str]], Awaitable[object]],
        chat_changed: Callable[[ChatPlace], None],
    ) -> None:
        self._handlers = PostgresHandlers(database)
        self._reruns = Reruns(database, inbound, outbound)
        self._erasure = Erasure(database)
        self._inbound = inbound
        self._delete = delete
        self._chat_changed = chat_changed

    async def hold(self, instance_id: int, session_id: str, user_id: str, minutes: int) -> bool:
        return await self._handlers.hold(instance_id, session_id, user_id, minutes)

    async def hand_back(self, instance_id: int, session_id: str) -> bool:
        is_known = await self._handlers.hand_back(instance_id, session_id)
        self._inbound()
        return is_known

    async def rerun(self, instance_id: int, message: MessageId) -> Rerun:
        return await self._reruns.rerun(instance_id, message)

    async def erase(self, instance_id: int, session_id: str) -> bool:
        """A blob that is not removed here, as this process dies, is removed with those that nobody uses."""
        blobs = await self._erasure.erase(instance_id, session_id)
        if blobs:
            await self._delete(blobs)
        self._chat_changed(ChatPlace(instance_id, session_id))
        return blobs is not None


STORED = "SELECT event, status FROM inbox WHERE id = %s AND instance_id = %s AND event <> '{}' FOR UPDATE"
"""Primary key."""


@dataclass(frozen=True, slots=True)
class _Outbound:
    """The statements on one kind of outbound messages."""

    send: str
    exists: str


ANSWER = _Outbound(
    SQL["send_answer_again"],
    "SELECT 1 FROM inbox WHERE id = %s AND instance_id = %s AND answer IS NOT NULL",
)
SENT_FIRST = _Outbound(SQL["send_sent_first_again"], "SELECT 1 FROM send WHERE id = %s AND instance_id = %s")


class Reruns:
    """`inbound` and `outbound` wake the workers of both queues."""

    def __init__(self, database: Database, inbound: Callable[[], None], outbound: Callable[[], None]) -> None:
        self._database = database
        self._inbound = inbound
        self._outbound = outbound

    async def rerun(self, instance_id: int, message: MessageId) -> Rerun:
        if message.kind is MessageKind.INBOUND:
            result = await self._process(instance_id, message.row)
            self._inbound()
            return result
        outbound = ANSWER if message.kind is MessageKind.ANSWER else SENT_FIRST
        parameters = {"id": message.row, "instance": instance_id}
        if await self._database.execute(outbound.send, parameters):
            self._outbound()
            return Rerun.STARTED
        known = await self._database.fetch(outbound.exists, (message.row, instance_id))
        return Rerun.NOT_FAILED if known else Rerun.UNKNOWN

    @retried
    async def _process(self, instance_id: int, inbox_id: int) -> Rerun:
        """Under another request id: a resource must not take it for a repetition, nor a platform its answer."""
        async with self._database.transaction() as connection:
            row = await (await connection.execute(STORED, (inbox_id, instance_id))).fetchone()
            if row is None:
                return Rerun.UNKNOWN
            event, status = row
            if status != EventStatus.FAILED:
                return Rerun.NOT_FAILED
            again = dump({**orjson.loads(event), "request": new_uuid()})
            await connection.execute(SQL["rerun_event"], {"id": inbox_id, "event": again})
        return Rerun.STARTED
