"""The web chat in PostgreSQL: what visitors see, and its changes for those who look at it.

Each change takes the next version of its conversation while it holds the conversation's row: versions are committed
in their order, and who has read up to one has missed nothing. One query of a process reads for all of them.
"""

import asyncio
import json
import logging
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import orjson

from adapters.outbound.storage.arrays import Bigints, Texts
from adapters.outbound.storage.codec import key_of, storable
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.batching import Batcher
from adapters.outbound.storage.queue.statements import read_statements
from adapters.tasks import cancelled, end
from domain.refusals import Unavailable
from domain.web_chat.model import LATEST, ChatMessage, ChatPage, ChatPlace, StoredMessage


class PostgresChatLog:
    """`ports.conversations.ChatLog`. Calls `changed` with each conversation after its commit."""

    def __init__(self, database: Database, changed: Callable[[str], None]) -> None:
        self._database = database
        self._tell = changed

    def changed(self, place: ChatPlace) -> None:
        """There may be news in a conversation."""
        self._tell(name_of(place))

    async def receive(self, place: ChatPlace, message: ChatMessage) -> None:
        await self._run(SQL["receive_chat"], place, _parameters(message))

    async def write(self, place: ChatPlace, message: ChatMessage) -> None:
        await self._run(SQL["write_chat"], place, _parameters(message))

    async def change(self, place: ChatPlace, message: ChatMessage) -> bool:
        parameters = {**_conversation(place), **_parameters(message)}
        ((count, _),) = await self._database.fetch(SQL["change_chat"], parameters)
        self.changed(place)
        return bool(count)

    async def remove(self, place: ChatPlace, message_id: str) -> None:
        await self._run(SQL["remove_chat"], place, {"key": key_of(message_id)})

    async def typing(self, place: ChatPlace, seconds: float) -> None:
        await self._run(SQL["type_in_chat"], place, {"seconds": seconds})

    async def _run(self, statement: str, place: ChatPlace, parameters: dict[str, Any]) -> None:
        await self._database.execute(statement, {**_conversation(place), **parameters})
        self.changed(place)


def name_of(place: ChatPlace) -> str:
    """The name of a conversation in notices between processes."""
    return f"{place.instance_id}:{key_of(place.session_id)}"


def _conversation(place: ChatPlace) -> dict[str, Any]:
    return {"instance": place.instance_id, "session": key_of(place.session_id)}


def _parameters(message: ChatMessage) -> dict[str, Any]:
    body = storable(json.dumps(message.body, ensure_ascii=False, separators=(",", ":")))
    return {"key": key_of(message.id), "draft": message.draft, "body": body}


log = logging.getLogger(__name__)

QUIET_SECONDS = 15.0
"""After so long without news a reader gets an empty page."""
SWEEP_SECONDS = 5.0
"""How often it is looked for news of which no notice came: one query for all readers."""
PAGE = 20
"""Changes that a reader gets at once: one that stalls holds a page."""
HISTORY_BYTES = 256 * 1024
"""Of the messages with which a stream begins."""
MOST_READ = 64
"""Readers for whom one query reads."""
SQL = read_statements(
    Path(__file__).with_suffix(".sql"), page=PAGE, latest=LATEST, history_bytes=HISTORY_BYTES
)


class _Reader:
    """All that is kept for a reader: how far it is, and whether there may be news."""

    __slots__ = ("cursor", "place", "woken")

    def __init__(self, place: ChatPlace, cursor: int) -> None:
        self.place = place
        self.cursor = cursor
        self.woken = asyncio.Event()

    async def wait(self, seconds: float) -> bool:
        """Return True if it was woken within that time."""
        try:
            async with asyncio.timeout(seconds):
                await self.woken.wait()
        except TimeoutError:
            return False
        return True


class PostgresChatFeed:
    """`ports.conversations.ChatFeed`. `changed` wakes the readers of a conversation; None: all. A reader that takes
    its pages slowly has one of them, and a cursor."""

    def __init__(
        self, database: Database, quiet: float = QUIET_SECONDS, sweep: float = SWEEP_SECONDS
    ) -> None:
        self._database = database
        self._quiet = quiet
        self._sweep = sweep
        self._readers: defaultdict[str, set[_Reader]] = defaultdict(set)
        self._batcher: Batcher[_Reader, ChatPage] = Batcher(self._read, writers=1, max_batch=MOST_READ)
        self._sweeper: asyncio.Task[None] | None = None
        self._closed = False

    def changed(self, conversation: str | None) -> None:
        for name in list(self._readers) if conversation is None else [conversation]:
            for reader in self._readers.get(name, ()):
                reader.woken.set()

    def instance_changed(self, instance_id: int | None) -> None:
        """An instance was changed or removed, or with None any may be."""
        for readers in self._readers.values():
            for reader in readers:
                if instance_id in (None, reader.place.instance_id):
                    reader.woken.set()

    async def follow(self, place: ChatPlace, after: int) -> AsyncGenerator[ChatPage, None]:
        reader, name = _Reader(place, after), name_of(place)
        reader.woken.set()
        self._readers[name].add(reader)
        if self._sweeper is None or self._sweeper.done():
            self._sweeper = asyncio.create_task(self._keep_sweeping())
        try:
            while not self._closed:
                page = ChatPage((), reader.cursor)
                if await reader.wait(self._quiet):
                    reader.woken.clear()
                    page = await self._batcher.submit(reader, reader)
                    reader.cursor = page.cursor
                    if len(page.messages) == PAGE:
                        reader.woken.set()
                yield page
        finally:
            self._readers[name].discard(reader)
            if not self._readers[name]:
                del self._readers[name]

    async def _read(self, readers: Sequence[_Reader]) -> list[ChatPage]:
        parameters = (
            Bigints(reader.place.instance_id for reader in readers),
            Texts(key_of(reader.place.session_id) for reader in readers),
            Bigints(reader.cursor for reader in readers),
        )
        rows = await self._database.fetch(SQL["read_chats"], parameters)
        return [_page(list(page_rows)) for _, page_rows in groupby(rows, key=lambda row: row[0])]

    async def _keep_sweeping(self) -> None:
        """Until nobody reads any more."""
        while self._readers and not cancelled():
            await asyncio.sleep(self._sweep)
            try:
                await self._look()
            except Unavailable:
                continue
            except Exception:
                log.exception("the web chat cannot be read")

    async def _look(self) -> None:
        waiting = [
            (name, reader)
            for name, readers in self._readers.items()
            for reader in readers
            if not reader.woken.is_set()
        ]
        parameters = (
            Texts(name for name, _ in waiting),
            Bigints(reader.place.instance_id for _, reader in waiting),
            Texts(key_of(reader.place.session_id) for _, reader in waiting),
            Bigints(reader.cursor for _, reader in waiting),
        )
        for (name,) in await self._database.fetch(SQL["chats_with_news"], parameters):
            self.changed(name)

    async def close(self) -> None:
        """Ends all streams."""
        self._closed = True
        self.changed(None)
        await end([self._sweeper] if self._sweeper else [], "the feed of the web chat")


def _page(rows: Sequence[Any]) -> ChatPage:
    _, cursor, after, version, typing, *_ = rows[0]
    messages = [
        StoredMessage(key, version, at, draft, None if body is None else orjson.loads(body))
        for *_, key, version, _, at, draft, body in rows
        if key is not None
    ]
    is_full = after > 0 and len(messages) == PAGE
    return ChatPage(
        messages,
        cursor=messages[-1].version if is_full else version,
        cleared=cursor > 0 and after == 0,
        typing_seconds=typing,
    )
