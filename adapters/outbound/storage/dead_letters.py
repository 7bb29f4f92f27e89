"""`ports.monitoring.DeadLetterStore` in PostgreSQL."""

from collections.abc import Sequence

from adapters.outbound.storage.conversations.messages import MessageListing
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.states import EventStatus, MessageStatus
from domain.conversations.model import Direction, Message, MessageId, MessageKind
from domain.monitoring.model import DeadPart

LONGEST_PAYLOAD = 100_000
MOST_PARTS = 20

_PARTS = f"""
SELECT id, attempts, last_error, left(message, {LONGEST_PAYLOAD}) FROM outbox
WHERE {{column}} = %s AND instance_id = %s AND status = {MessageStatus.DEAD} ORDER BY id LIMIT {MOST_PARTS}
"""
_DROP = f"DELETE FROM outbox WHERE {{column}} = %s AND instance_id = %s AND status = {MessageStatus.DEAD}"
COLUMNS = {MessageKind.ANSWER: "inbox_id", MessageKind.SENT_FIRST: "send_id"}
PARTS = {kind: _PARTS.format(column=column) for kind, column in COLUMNS.items()}
DROPS = {
    MessageKind.INBOUND: (
        f"UPDATE inbox SET status = {EventStatus.DONE}"
        f" WHERE id = %s AND instance_id = %s AND status = {EventStatus.FAILED} AND event <> '{{}}'"
    ),
    **{kind: _DROP.format(column=column) for kind, column in COLUMNS.items()},
}
"""An inbound message stays on record with the reason, and is dealt with. Primary key of `inbox`, and indexes
`outbox_by_event` and `outbox_by_send`."""


class PostgresDeadLetters:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._messages = MessageListing(database)

    async def page(
        self, instance_ids: Sequence[int], direction: Direction | None, limit: int, cursor: str | None
    ) -> tuple[Sequence[tuple[int, Message]], str | None]:
        return await self._messages.failed(instance_ids, direction, limit, cursor)

    async def parts(self, instance_id: int, message: MessageId) -> Sequence[DeadPart]:
        statement = PARTS.get(message.kind)
        rows = await self._database.fetch(statement, (message.row, instance_id)) if statement else []
        return [DeadPart(*row) for row in rows]

    async def drop(self, instance_id: int, message: MessageId) -> bool:
        return bool(await self._database.execute(DROPS[message.kind], (message.row, instance_id)))
