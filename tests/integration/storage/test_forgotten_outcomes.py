"""A database that died may have forgotten an outcome: what the worker still holds of the conversation must wait."""

import pytest

from adapters.outbound.storage.health import PostgresHealth
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.conversations import PostgresConversations, Wakeups
from adapters.outbound.storage.queue.inbox import PostgresInbox
from adapters.outbound.storage.queue.leases import LeaseStore
from adapters.outbound.storage.usage import PostgresUsage
from domain.channels.answers import OutboundMessage
from domain.channels.messages import Event, Sender
from ports.queue import Capacity, Conversation, EventOutcome, QueuedEvent

ROOM = Capacity(100, 100, 100)
OWNER = 1


def event(text: str, session: str = "s") -> Event:
    return Event(f"key {text}", session, Sender("x"), text, {}, request_id="r")


def outcome(conversation: Conversation, waiting: QueuedEvent, *, last: bool = False) -> EventOutcome:
    return EventOutcome(
        conversation.key, waiting.id, {}, [OutboundMessage({"text": waiting.event.text})], last=last
    )


@pytest.fixture
def conversations(database: Database) -> PostgresConversations:
    nobody = Wakeups(lambda: None, lambda: None, lambda _: None)
    return PostgresConversations(
        database, LeaseStore(database, OWNER, PostgresHealth(database)), nobody, PostgresUsage(database)
    )


async def leased(conversations: PostgresConversations) -> list[Conversation]:
    return list((await conversations.lease(ROOM)).leased)


@pytest.fixture
async def conversation(
    database: Database, conversations: PostgresConversations, instance: int
) -> Conversation:
    """Leased, with two events."""
    inbox = PostgresInbox(database, lambda: None)
    for text in ("first", "second"):
        await inbox.add(instance, [event(text)])
    await inbox.add(instance, [event("elsewhere", session="t")])
    found = {each.key.session_key: each for each in await leased(conversations)}
    [other] = found["t"].queued
    await conversations.record(outcome(found["t"], other, last=True))
    return found["s"]


async def outgoing(database: Database) -> list[str]:
    rows = await database.fetch(
        "SELECT message::json->>'text' FROM outbox WHERE session_key = 's' ORDER BY id"
    )
    return [text for (text,) in rows]


async def test_an_outcome_waits_for_those_before_it(
    database: Database, conversations: PostgresConversations, conversation: Conversation
) -> None:
    _, second = conversation.queued

    assert not await conversations.record(outcome(conversation, second, last=True))

    assert await outgoing(database) == []
    await conversations.release(conversation.key)
    [again] = await leased(conversations)
    assert [each.event.text for each in again.queued] == ["first", "second"]
    assert [await conversations.record(outcome(again, each)) for each in again.queued] == [True, True]
    assert await outgoing(database) == ["first", "second"]


async def test_an_outcome_is_on_record_once(
    database: Database, conversations: PostgresConversations, conversation: Conversation
) -> None:
    first, _ = conversation.queued

    assert await conversations.record(outcome(conversation, first))
    assert not await conversations.record(outcome(conversation, first))

    assert await outgoing(database) == ["first"]
