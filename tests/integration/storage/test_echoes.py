"""What an instance sent comes back to it as an event: the platform's id tells, also where it is told late."""

import pytest

from adapters.outbound.storage.health import PostgresHealth
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.conversations import PostgresConversations, Wakeups
from adapters.outbound.storage.queue.inbox import PostgresInbox
from adapters.outbound.storage.queue.leases import LeaseStore
from adapters.outbound.storage.queue.outbox import PostgresOutbox
from adapters.outbound.storage.usage import PostgresUsage
from domain.channels.answers import OutboundMessage
from domain.channels.messages import Event, Sender
from ports.outbox import QueuedMessages
from ports.queue import Capacity, Conversation, EventOutcome
from tests.support.database import an_instance, schedules_of

ROOM = Capacity(100, 100, 100)
OWNER = 1


def event(key: str, *ids: str, session: str = "s", local: bool = False) -> Event:
    return Event(key, session, Sender("x"), "words", {}, request_id=key, ids=ids, ids_of_session=local)


class Storage:
    def __init__(self, database: Database, instance: int) -> None:
        nobody = Wakeups(lambda: None, lambda: None, lambda _: None)
        leases = LeaseStore(database, OWNER, PostgresHealth(database))
        self.database, self.instance = database, instance
        self.inbox = PostgresInbox(database, lambda: None)
        self.conversations = PostgresConversations(database, leases, nobody, PostgresUsage(database))
        self.outbox = PostgresOutbox(database, leases, lambda: None)

    async def accepted(self, event: Event) -> bool:
        [accepted] = await self.inbox.add(self.instance, [event])
        assert accepted.fresh != accepted.dropped
        return accepted.fresh

    async def taken_up(self) -> Conversation:
        [conversation] = (await self.conversations.lease(ROOM)).leased
        return conversation

    async def answer(self, conversation: Conversation) -> None:
        [waiting] = conversation.queued
        parts = [OutboundMessage({"text": "answer"})]
        await self.conversations.record(
            EventOutcome(conversation.key, waiting.id, {}, parts, last=True, event=waiting.event)
        )

    async def sending(self) -> QueuedMessages:
        [key] = (await self.outbox.lease(ROOM)).leased
        return key

    async def sent(self, key: QueuedMessages, ref: str) -> None:
        await self.outbox.sent(key.key, key.messages[0], ref, last=True)

    async def answered(self, ref: str) -> None:
        """A message of a person is answered, and the platform calls the answer so."""
        assert await self.accepted(event("first"))
        await self.answer(await self.taken_up())
        await self.sent(await self.sending(), ref)


@pytest.fixture
def storage(database: Database, instance: int) -> Storage:
    return Storage(database, instance)


@pytest.mark.parametrize("ref", ["901", "r" * 10_000, "ref with \N{EURO SIGN} and '"])
async def test_an_event_about_what_was_sent_is_dropped(storage: Storage, ref: str) -> None:
    await storage.answered(ref)
    assert not await storage.accepted(event("echo", "other", ref, session="t"))
    assert await storage.accepted(event("another", "other", session="t"))


async def test_the_same_id_in_another_instance_is_no_echo(database: Database, storage: Storage) -> None:
    await storage.answered("901")
    storage.instance = await an_instance(database, name="another")
    assert await storage.accepted(event("echo", "901"))


async def test_ids_of_a_session_are_compared_within_it(storage: Storage) -> None:
    await storage.answered("17.0001")
    assert await storage.accepted(event("theirs", "17.0001", session="t", local=True))
    assert not await storage.accepted(event("ours", "17.0001", local=True))


async def test_an_event_without_ids_is_no_echo(storage: Storage) -> None:
    await storage.answered("")
    assert await storage.accepted(event("next", ""))


async def test_an_echo_before_its_id_is_on_record_is_not_answered(storage: Storage) -> None:
    await storage.accepted(event("first"))
    await storage.answer(await storage.taken_up())
    sending = await storage.sending()
    assert await storage.accepted(event("echo", "901"))
    echo = await storage.taken_up()
    await storage.sent(sending, "901")
    await storage.answer(echo)
    assert (await storage.outbox.lease(ROOM)).leased == []
    assert await storage.database.fetch("SELECT status FROM inbox ORDER BY id") == [(1,), (1,)]


async def test_a_poll_drops_echoes_too(storage: Storage) -> None:
    await storage.answered("file2")
    runs = schedules_of(storage.database, OWNER)
    await storage.database.execute(
        "INSERT INTO schedule (instance_id, next_run_at) VALUES (%s, now())", (storage.instance,)
    )
    await runs.lease(10)
    due = await runs.begin(storage.instance)
    assert due is not None
    events = [event("theirs", "file1"), event("ours", "file2")]
    assert await runs.finish(due, events, {}, None) == [True, False]
