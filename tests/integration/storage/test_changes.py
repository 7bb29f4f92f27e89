"""A sender edits or deletes a message that nobody has answered yet."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adapters.outbound.storage.codec import ERASED
from adapters.outbound.storage.health import PostgresHealth
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.changes import ChangeableInbox
from adapters.outbound.storage.queue.conversations import PostgresConversations, Wakeups
from adapters.outbound.storage.queue.direct_dispatch import DirectDispatch
from adapters.outbound.storage.queue.inbox import PostgresInbox
from adapters.outbound.storage.queue.leases import LeaseStore
from domain.channels.messages import Change, Event, Sender
from ports.inbox import Conversation, EventOutcome
from ports.queue import Capacity

ROOM = Capacity(100, 100, 100)


class Store:
    def __init__(self, database: Database) -> None:
        leases = LeaseStore(database, 1, PostgresHealth(database))
        wakeups = Wakeups(lambda: None, lambda: None, lambda _: None)
        self.withdrawn: list[int] = []
        self.inbox = ChangeableInbox(PostgresInbox(database, lambda: None), database, self.withdrawn.append)
        self.conversations = PostgresConversations(database, leases, wakeups, DirectDispatch())

    async def leased(self) -> Conversation:
        (conversation,) = (await self.conversations.lease(ROOM)).leased
        return conversation

    async def finish(self, conversation: Conversation) -> bool:
        queued = conversation.queued[0]
        return await self.conversations.record(EventOutcome(conversation.key, queued.id, {}, last=True))


@pytest.fixture
def store(database: Database) -> Store:
    return Store(database)


def said(text: str, key: str = "1", session: str = "s") -> Event:
    return Event(key, session, Sender("ada"), text, {"to": "ada"}, message_id="m1")


def edit(text: str, key: str = "1:edit") -> Event:
    return replace(said(text, key), change=Change.EDITED)


DELETION = Event("1:gone", "", Sender(""), "", {}, message_id="m1", change=Change.DELETED)


async def test_an_edit_replaces_a_message_that_waits(store: Store, instance: int) -> None:
    await store.inbox.add(instance, [said("opne?"), edit("open?")])
    conversation = await store.leased()
    assert [queued.event.text for queued in conversation.queued] == ["open?"]
    assert conversation.queued[0].event.change is None


async def test_an_edit_that_comes_twice_counts_once(store: Store, instance: int) -> None:
    await store.inbox.add(instance, [said("opne?"), edit("open?"), edit("open?")])
    assert [queued.event.text for queued in (await store.leased()).queued] == ["open?"]


async def test_an_answered_message_stays_as_it_was(store: Store, instance: int) -> None:
    await store.inbox.add(instance, [said("open?")])
    assert await store.finish(await store.leased())
    await store.inbox.add(instance, [edit("close?"), DELETION])
    assert (await store.conversations.lease(ROOM)).leased == []
    assert store.withdrawn == []


async def test_a_message_under_way_gets_no_outcome_once_it_is_edited(store: Store, instance: int) -> None:
    await store.inbox.add(instance, [said("opne?")])
    under_way = await store.leased()
    await store.inbox.add(instance, [edit("open?")])
    assert store.withdrawn == [under_way.queued[0].id]
    assert not await store.finish(under_way)
    await store.conversations.release(under_way.key)
    assert [queued.event.text for queued in (await store.leased()).queued] == ["open?"]


async def test_the_message_in_which_an_answer_had_begun_to_show_is_used_again(
    store: Store, instance: int
) -> None:
    await store.inbox.add(instance, [said("opne?")])
    under_way = await store.leased()
    await store.conversations.drafted(under_way.queued[0].id, "draft-7")
    await store.inbox.add(instance, [edit("open?")])
    await store.conversations.release(under_way.key)
    assert (await store.leased()).queued[0].draft == "draft-7"


async def test_a_deleted_message_is_not_worked_on_and_its_text_is_gone(
    store: Store, instance: int, database: Database
) -> None:
    await store.inbox.add(instance, [said("a secret"), replace(said("hello", "2"), message_id="m2")])
    await store.inbox.add(instance, [DELETION])
    assert await database.fetch("SELECT event, session_key FROM inbox WHERE status = 1") == [("{}", ERASED)]
    assert [queued.event.text for queued in (await store.leased()).queued] == ["hello"]


async def test_a_deleted_message_is_recognised_when_it_comes_again(store: Store, instance: int) -> None:
    await store.inbox.add(instance, [said("hello"), DELETION, said("hello")])
    assert (await store.conversations.lease(ROOM)).leased == []


async def test_a_message_of_another_instance_is_left_alone(store: Store, instance: int) -> None:
    await store.inbox.add(instance, [said("hello")])
    await store.inbox.add(instance + 1000, [DELETION])
    assert [queued.event.text for queued in (await store.leased()).queued] == ["hello"]
