"""Rows of lists of messages."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from enum import IntEnum
from typing import NamedTuple

from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.messages import answered, received, sent_first
from domain.channels.answers import Artifact
from domain.conversations.model import Message, MessageId, MessageKind
from domain.file_names import file_name

FILES = """
SELECT DISTINCT ON (inbox_id, blob_key) inbox_id, name, mime_type, size, blob_key FROM message_file
WHERE inbox_id = ANY(%s) AND inbound ORDER BY inbox_id, blob_key, id
"""
"""Index `message_file_by_event`."""

STORED = "SELECT DISTINCT blob_key FROM message_file WHERE blob_key = ANY(%s)"
"""Index `message_file_by_blob`."""

NOTHING = '{"text":"","files":[],"choices":[]}'
"""The content of a message whose texts are not kept any more."""


class Stream(IntEnum):
    """What a list of messages is put together of: events, the answers beside them, and rows of `send`. What was given
    up of the latter two is one stream, the outbox."""

    INBOUND = 0
    ANSWER = 1
    SENT_FIRST = 2


class Stored(NamedTuple):
    """A row of a list of messages. `position` is that of its stream, `id` the row of `inbox` or `send`; `content` and
    `author` are those of an answer or of what was sent first, `status` and `error` those of the event. `dead` and
    the three behind it are those of `delivery_sql`; lists over several instances have the instance."""

    stream: Stream
    kind: MessageKind
    position: int
    id: int
    session: str
    at: datetime
    event: str | None
    content: str | None
    author: str | None
    status: int
    error: str | None
    dead: bool
    pending: bool
    reached: int
    reason: str | None
    instance_id: int = 0


class MessageRows:
    """Makes messages of rows; the files of all of them are found by one statement."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def shown(self, rows: Sequence[Stored]) -> list[Message]:
        messages = [(row, _message(row)) for row in rows]
        with_files = [
            row.id for row, message in messages if row.kind is MessageKind.INBOUND and message.files
        ]
        stored = await self._files(with_files) if with_files else {}
        kept = await self._kept([file.blob for _, message in messages for file in message.files if file.blob])
        return [
            replace(message, files=_fetched(stored[row.id], message.files))
            if row.kind is MessageKind.INBOUND and row.id in stored
            else replace(
                message, files=[file if file.blob in kept else _gone(file) for file in message.files]
            )
            for row, message in messages
        ]

    async def with_files(self, inbox_id: int, message: Message) -> Message:
        """An event's message with the files that were fetched."""
        stored = await self._files([inbox_id]) if message.files else {}
        if inbox_id not in stored:
            return message
        return replace(message, files=_fetched(stored[inbox_id], message.files))

    async def _kept(self, blobs: Sequence[str]) -> set[str]:
        """Those of our copies that are still there."""
        return {key for (key,) in await self._database.fetch(STORED, (list(blobs),))} if blobs else set()

    async def _files(self, inbox_ids: Sequence[int]) -> Mapping[int, list[Artifact]]:
        files: dict[int, list[Artifact]] = {}
        for inbox_id, name, kind, size, blob in await self._database.fetch(FILES, (list(inbox_ids),)):
            files.setdefault(inbox_id, []).append(Artifact(name, kind, "", blob, size))
        return files


def _message(row: Stored) -> Message:
    id = str(MessageId(row.kind, row.id))
    delivery = row.dead, row.pending, row.reached, row.reason
    if row.kind is MessageKind.INBOUND:
        return received(id, row.event or "{}", row.status, row.error, row.at)
    if row.kind is MessageKind.ANSWER and row.event and row.content:
        return answered(id, row.event, row.content, row.at, *delivery)
    return sent_first(id, row.session, row.content or NOTHING, row.author or "resource", row.at, *delivery)


def _gone(file: Artifact) -> Artifact:
    return replace(file, blob=None, url="") if file.blob else file


def _fetched(stored: Sequence[Artifact], attachments: Sequence[Artifact]) -> tuple[Artifact, ...]:
    """The files that were fetched, and the others without an address."""
    names = {file.name for file in stored}
    return (*stored, *(file for file in attachments if file_name(file.name or "file") not in names))
