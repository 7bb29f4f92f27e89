"""What is written of a message while its conversation is being erased is erased with it, or not written."""

import asyncio

import pytest

from adapters.outbound.storage.blobs import PostgresBlobReferences
from adapters.outbound.storage.conversations.erasure import erase
from adapters.outbound.storage.health import PostgresHealth
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.conversations import PostgresConversations, Wakeups
from adapters.outbound.storage.queue.inbox import PostgresInbox
from adapters.outbound.storage.queue.leases import LeaseStore
from adapters.outbound.storage.unanswered import PostgresChatHistory
from adapters.outbound.storage.usage import PostgresUsage
from domain.channels.answers import Answer, OutboundMessage
from domain.channels.messages import Event, Sender
from domain.refusals import NotFound
from ports.files import FilePlace, SharedFile
from ports.queue import Capacity, EventOutcome
from ports.resources import Role, Turn

WORD = "Schnabeltier"
FILE = SharedFile(f"sha256/{WORD}", f"{WORD}.txt", "text/plain")
TABLES = ("inbox", "outbox", "chat_history", "message_file", "send", "queue")


class Work:
    """A leased conversation with one event."""

    def __init__(self, database: Database, instance: int) -> None:
        self.database, self.instance = database, instance
        nobody = Wakeups(lambda: None, lambda: None, lambda _: None)
        leases = LeaseStore(database, 1, PostgresHealth(database))
        self.inbox = PostgresInbox(database, lambda: None)
        self.conversations = PostgresConversations(database, leases, nobody, PostgresUsage(database))

    async def begin(self) -> None:
        await self.inbox.add(self.instance, [Event("k", "s", Sender("x"), WORD, {}, request_id="r")])
        [self.conversation] = (await self.conversations.lease(Capacity(9, 9, 9))).leased
        [self.queued] = self.conversation.queued

    async def answer(self) -> None:
        messages = [OutboundMessage({"text": WORD})]
        await self.conversations.record(
            EventOutcome(self.conversation.key, self.queued.id, {}, messages, answer=Answer(WORD), last=True)
        )

    async def remember(self) -> None:
        turns = [Turn(Role.USER, WORD)]
        await PostgresChatHistory(self.database).append(self.instance, "s", "r", turns, self.queued.id)

    async def keep_file(self) -> None:
        place = FilePlace(self.instance, "s", self.queued.id, inbound=True)
        await PostgresBlobReferences(self.database).add_message_file(place, FILE, 5)

    async def draft(self) -> None:
        await self.conversations.drafted(self.queued.id, WORD)

    async def remains(self) -> list[str]:
        return [
            table
            for table in TABLES
            if await self.database.fetch_value(
                f"SELECT count(*) FROM {table} t WHERE position(%s IN t::text) > 0", (WORD,)
            )
        ]


@pytest.fixture
async def work(database: Database, instance: int) -> Work:
    work = Work(database, instance)
    await work.begin()
    return work


WRITES = [Work.answer, Work.remember, Work.keep_file, Work.draft]


@pytest.mark.parametrize("write", WRITES)
async def test_nothing_is_written_afterwards(database: Database, work: Work, write: object) -> None:
    assert await erase(database, work.instance, "s") is not None
    if write is Work.keep_file:
        with pytest.raises(NotFound):
            await work.keep_file()
    else:
        assert callable(write)
        await write(work)
    assert await work.remains() == []


async def test_whoever_comes_first_nothing_remains(database: Database, work: Work) -> None:
    results = await asyncio.gather(
        work.remember(),
        work.keep_file(),
        work.answer(),
        erase(database, work.instance, "s"),
        work.draft(),
        return_exceptions=True,
    )
    assert [result for result in results if isinstance(result, Exception)] in ([], [results[1]])
    assert await work.remains() == []


async def test_a_redelivery_is_known(database: Database, work: Work) -> None:
    await erase(database, work.instance, "s")
    [again] = await work.inbox.add(work.instance, [Event("k", "s", Sender("x"), "again", {}, request_id="r")])
    assert (again.id, again.fresh) == (work.queued.id, False)


async def test_what_is_shared_with_another_conversation_stays(database: Database, instance: int) -> None:
    records = PostgresBlobReferences(database)
    for session in ("s", "t", "s"):
        await records.add_message_file(FilePlace(instance, session), FILE, 5)
    count = "SELECT reference_count FROM blob"
    assert await erase(database, instance, "s") == [FILE.blob]
    assert await database.fetch_value(count) == 1
    assert await erase(database, instance, "s") is None
    await erase(database, instance, "t")
    assert await database.fetch_value(count) == 0
