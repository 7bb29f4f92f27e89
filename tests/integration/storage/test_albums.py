"""The rows of one album: found however many and wherever they stand, and finished in one statement."""

import pytest

from adapters.outbound.storage.health import PostgresHealth
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.conversations import PostgresConversations, Wakeups
from adapters.outbound.storage.queue.inbox import PostgresInbox
from adapters.outbound.storage.queue.leases import LeaseStore
from adapters.outbound.storage.queue.statements import ROWS_PER_LEASE
from adapters.outbound.storage.usage import PostgresUsage
from domain.channels.answers import OutboundMessage
from domain.channels.messages import Event, Merge, Sender
from domain.routing.bursts import merged
from ports.queue import Capacity, Conversation, EventOutcome, QueuedEvent

ROOM = Capacity(100, 100, 100)
OWNER = 1
ALBUM = Merge('an "album" %s ü', 1)
MOST = ROWS_PER_LEASE + 3


@pytest.fixture
def conversations(database: Database) -> PostgresConversations:
    nobody = Wakeups(lambda: None, lambda: None, lambda _: None)
    return PostgresConversations(
        database, LeaseStore(database, OWNER, PostgresHealth(database)), nobody, PostgresUsage(database)
    )


def event(text: str, merge: Merge | None = None) -> Event:
    return Event(f"key {text}", "s", Sender("x"), text, {}, request_id="r", merge=merge)


async def leased(conversations: PostgresConversations) -> Conversation:
    [found] = (await conversations.lease(ROOM)).leased
    return found


@pytest.fixture
async def conversation(
    database: Database, conversations: PostgresConversations, instance: int
) -> Conversation:
    """Leased: an album, among whose pictures there are other messages, one of which speaks of it."""
    inbox = PostgresInbox(database, lambda: None)
    for number in range(MOST):
        await inbox.add(instance, [event(f"{number}", Merge(ALBUM.key, number))])
    await inbox.add(instance, [event('"merge":["an \\"album\\" %s ü",1]'), event("x", Merge("other", 1))])
    return await leased(conversations)


async def whole(conversations: PostgresConversations, conversation: Conversation) -> QueuedEvent:
    return merged(conversation.queued[0], (await conversations.album(conversation.key, ALBUM)).rows)


def outcome(conversation: Conversation, waiting: QueuedEvent, error: str | None = None) -> EventOutcome:
    part = OutboundMessage({"text": waiting.event.text})
    return EventOutcome(conversation.key, waiting.id, {}, [part], error, last=True, merged=waiting.merged)


async def statuses(database: Database) -> list[int]:
    return [status for (status,) in await database.fetch("SELECT status FROM inbox ORDER BY id")]


async def test_all_rows_are_found_and_no_others(
    conversations: PostgresConversations, conversation: Conversation
) -> None:
    album = await conversations.album(conversation.key, ALBUM)
    assert [row.event.text for row in album.rows] == [f"{number}" for number in range(MOST)]
    assert 0 <= album.quiet <= album.age


async def test_one_outcome_finishes_them_all(
    database: Database, conversations: PostgresConversations, conversation: Conversation
) -> None:
    waiting = await whole(conversations, conversation)
    assert await conversations.record(outcome(conversation, waiting))
    assert await statuses(database) == [1] * MOST + [0, 0]
    assert await database.fetch("SELECT pending, owner FROM queue WHERE kind = 0") == [(2, None)]
    assert await database.fetch("SELECT inbox_id FROM outbox") == [(waiting.id,)]
    assert not await conversations.record(outcome(conversation, waiting)), "it is on record once"
    again = await leased(conversations)
    assert len(again.queued) == 2


async def test_a_failure_is_that_of_all(
    database: Database, conversations: PostgresConversations, conversation: Conversation
) -> None:
    waiting = await whole(conversations, conversation)
    assert await conversations.record(outcome(conversation, waiting, "it failed"))
    assert await statuses(database) == [2] * MOST + [0, 0]


async def test_an_outcome_that_comes_too_late_finishes_none(
    database: Database, conversations: PostgresConversations, conversation: Conversation
) -> None:
    """An event before it has no outcome: a database that died has forgotten that one's."""
    first, second = conversation.queued[:2]
    late = merged(second, (await conversations.album(conversation.key, ALBUM)).rows)
    assert first.id in late.merged
    assert not await conversations.record(outcome(conversation, late))
    assert await statuses(database) == [0] * (MOST + 2)
