"""Conversations that a person has are leased in no way, and wake nobody."""

import pytest

from adapters.outbound.storage.health import PostgresHealth
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.conversations import PostgresConversations, Wakeups
from adapters.outbound.storage.queue.inbox import PostgresInbox
from adapters.outbound.storage.queue.leases import LeaseStore
from adapters.outbound.storage.usage import PostgresUsage
from domain.channels.messages import Event, Sender
from ports.queue import Capacity, Conversation, EventOutcome
from tests.support.database import conversations_of

ROOM = Capacity(100, 100, 100)
OWNER = 1


class Storage:
    def __init__(self, database: Database, instance: int) -> None:
        self.database, self.instance = database, instance
        self.woken = 0
        self.leases = LeaseStore(database, OWNER, PostgresHealth(database))
        self.inbox = PostgresInbox(database, self._wake)
        nobody = Wakeups(self._wake, lambda: None, lambda _: None)
        self.conversations = PostgresConversations(database, self.leases, nobody, PostgresUsage(database))
        self.handlers = conversations_of(database)

    def _wake(self) -> None:
        self.woken += 1

    async def write(self, key: str) -> None:
        event = Event(key, "s", Sender("x"), key, {}, request_id=key)
        await self.inbox.add(self.instance, [event])

    async def leased(self) -> list[Conversation]:
        return list((await self.conversations.lease(ROOM)).leased)

    async def record(self, conversation: Conversation, number: int, *, minutes: int | None = None) -> bool:
        queued = conversation.queued[number]
        last = number == len(conversation.queued) - 1
        return await self.conversations.record(
            EventOutcome(conversation.key, queued.id, {}, last=last, handler_minutes=minutes)
        )

    async def pass_time(self, minutes: int) -> None:
        await self.database.execute(
            "UPDATE queue SET held_until = held_until - make_interval(mins => %s),"
            " due_at = due_at - make_interval(mins => %s)",
            (minutes, minutes),
        )


@pytest.fixture
async def storage(database: Database, instance: int) -> Storage:
    """With a conversation in which nothing waits."""
    storage = Storage(database, instance)
    await storage.write("first")
    [conversation] = await storage.leased()
    assert await storage.record(conversation, 0)
    storage.woken = 0
    return storage


async def test_a_message_is_not_leased(storage: Storage) -> None:
    assert await storage.handlers.hold(storage.instance, "s", "ann", 60)
    await storage.write("second")
    assert (await storage.leased(), storage.woken) == ([], 0)
    await storage.pass_time(60)
    [conversation] = await storage.leased()
    assert [queued.event.text for queued in conversation.queued] == ["second"]


async def test_handing_back_makes_it_due(storage: Storage) -> None:
    await storage.handlers.hold(storage.instance, "s", "ann", 60)
    await storage.write("second")
    assert await storage.handlers.hand_back(storage.instance, "s")
    assert len(await storage.leased()) == 1


async def test_an_idle_conversation_that_is_handed_back_is_due_at_once(storage: Storage) -> None:
    await storage.handlers.hold(storage.instance, "s", "ann", 60)
    await storage.handlers.hand_back(storage.instance, "s")
    await storage.write("second")
    assert len(await storage.leased()) == 1


async def test_the_rest_of_a_lease_is_void(storage: Storage) -> None:
    for key in ("second", "third"):
        await storage.write(key)
    [conversation] = await storage.leased()
    await storage.handlers.hold(storage.instance, "s", "ann", 60)
    storage.woken = 0
    assert not await storage.record(conversation, 0), "the worker must stop here"
    await storage.conversations.release(conversation.key)
    assert (await storage.leased(), storage.woken) == ([], 0)
    await storage.pass_time(60)
    [conversation] = await storage.leased()
    assert [queued.event.text for queued in conversation.queued] == ["third"]


async def test_a_failed_try_and_a_dead_worker_do_not_end_it(storage: Storage) -> None:
    await storage.write("second")
    [conversation] = await storage.leased()
    await storage.handlers.hold(storage.instance, "s", "ann", 60)
    await storage.conversations.retry(conversation.key, conversation.queued[0].id, "it failed", 1)
    assert await storage.leased() == []
    await storage.handlers.hand_back(storage.instance, "s")
    [conversation] = await storage.leased()
    await storage.handlers.hold(storage.instance, "s", "ann", 60)
    await storage.leases.free([OWNER])
    assert await storage.leased() == []


async def test_an_outcome_may_hand_over(storage: Storage) -> None:
    for key in ("second", "third"):
        await storage.write(key)
    [conversation] = await storage.leased()
    assert not await storage.record(conversation, 0, minutes=5)
    assert await storage.leased() == []
    await storage.pass_time(5)
    assert len(await storage.leased()) == 1


async def test_an_unknown_conversation_cannot_be_held(storage: Storage) -> None:
    assert not await storage.handlers.hold(storage.instance, "other", "ann", 60)
    assert not await storage.handlers.hand_back(storage.instance + 1, "s")
