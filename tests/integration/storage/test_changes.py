"""A message changes that nobody has answered: its sender edits or deletes it, or the platform sends it once more."""

from dataclasses import replace

import pytest

from adapters.outbound.storage.codec import ERASED
from adapters.outbound.storage.health import PostgresHealth
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.conversations import PostgresConversations, Wakeups
from adapters.outbound.storage.queue.inbox import PostgresInbox
from adapters.outbound.storage.queue.leases import LeaseStore
from adapters.outbound.storage.usage import PostgresUsage
from domain.channels.answers import OutboundMessage
from domain.channels.messages import Attachment, Change, Event, Merge, Quoted, Sender
from ports.queue import Capacity, Conversation, EventOutcome

ROOM = Capacity(100, 100, 100)


class Store:
    def __init__(self, database: Database) -> None:
        leases = LeaseStore(database, 1, PostgresHealth(database))
        wakeups = Wakeups(lambda: None, lambda: None, lambda _: None)
        self.withdrawn: list[int] = []
        self.enqueued = 0
        self.inbox = PostgresInbox(database, lambda: None, self.withdrawn.append, self._count)
        self.conversations = PostgresConversations(database, leases, wakeups, PostgresUsage(database))

    def _count(self) -> None:
        self.enqueued += 1

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


PICTURE = Attachment("a.png", "image/png", {"id": "F1"})
PARTIAL = replace(said("look"), merge=Merge("1"), canned_reply="Hello!")
WHOLE = replace(said("look"), attachments=(PICTURE,), quoted=Quoted("It is hot.", "Bob"))


def content(conversation: Conversation) -> list[tuple[str, tuple[Attachment, ...], Quoted | None, bool]]:
    events = [queued.event for queued in conversation.queued]
    return [(event.text, event.attachments, event.quoted, event.is_partial) for event in events]


@pytest.mark.parametrize(
    "events", [(PARTIAL, WHOLE), (WHOLE, PARTIAL), (said("look"), WHOLE, WHOLE, PARTIAL)]
)
async def test_a_message_that_comes_twice_is_one_with_the_files_and_the_quoted_message_of_either(
    store: Store, instance: int, events: tuple[Event, ...]
) -> None:
    for event in events:
        await store.inbox.add(instance, [event])
    conversation = await store.leased()
    assert content(conversation) == [("look", WHOLE.attachments, WHOLE.quoted, False)]
    assert conversation.queued[0].event.canned_reply is None


async def test_a_message_waits_no_longer_once_it_came_whole_without_more_content(
    store: Store, instance: int
) -> None:
    await store.inbox.add(instance, [replace(PARTIAL, canned_reply=None)])
    first = await store.leased()
    await store.conversations.release(first.key, 60.0)
    await store.inbox.add(instance, [said("look")])
    again = await store.leased()
    assert content(again) == [("look", (), None, False)]
    assert again.queued[0].id == first.queued[0].id
    assert (store.enqueued, store.withdrawn) == (1, [])


IN_THREAD = replace(
    said("look", session="thread"),
    target={"to": "ada", "thread": "7"},
    thread_post="m1",
    quoted=Quoted(ref="7", key="7"),
)


@pytest.mark.parametrize("events", [(PARTIAL, IN_THREAD), (IN_THREAD, PARTIAL)])
async def test_a_message_belongs_to_the_thread_that_the_whole_one_names(
    store: Store, instance: int, events: tuple[Event, ...]
) -> None:
    for event in events:
        await store.inbox.add(instance, [event])
    conversation = await store.leased()
    event = conversation.queued[0].event
    assert conversation.key.session_key == "thread"
    assert (event.session_id, event.target, event.thread_post) == ("thread", IN_THREAD.target, "m1")
    assert (event.quoted, event.is_partial) == (IN_THREAD.quoted, False)


async def test_an_answered_message_is_not_answered_again_in_its_thread(store: Store, instance: int) -> None:
    await store.inbox.add(instance, [replace(PARTIAL, canned_reply=None)])
    assert await store.finish(await store.leased())
    await store.inbox.add(instance, [IN_THREAD])
    assert (await store.conversations.lease(ROOM)).leased == []


async def test_a_message_under_way_is_worked_on_anew_with_the_files_that_come_later(
    store: Store, instance: int
) -> None:
    await store.inbox.add(instance, [said("look")])
    under_way = await store.leased()
    await store.inbox.add(instance, [WHOLE])
    assert store.withdrawn == [under_way.queued[0].id]
    assert not await store.finish(under_way)
    await store.conversations.release(under_way.key)
    assert content(await store.leased()) == [("look", WHOLE.attachments, WHOLE.quoted, False)]


async def test_files_that_come_after_the_answer_are_a_message_of_their_own(
    store: Store, instance: int
) -> None:
    await store.inbox.add(instance, [said("look")])
    assert await store.finish(await store.leased())
    await store.inbox.add(instance, [WHOLE])
    await store.inbox.add(instance, [WHOLE])
    assert content(await store.leased()) == [("look", WHOLE.attachments, WHOLE.quoted, False)]


async def test_an_answered_message_that_comes_again_stays_answered(store: Store, instance: int) -> None:
    await store.inbox.add(instance, [WHOLE])
    assert await store.finish(await store.leased())
    await store.inbox.add(instance, [WHOLE])
    assert (await store.conversations.lease(ROOM)).leased == []


async def test_an_erased_message_that_comes_again_stays_erased(
    store: Store, instance: int, database: Database
) -> None:
    await store.inbox.add(instance, [said("look")])
    assert await store.finish(await store.leased())
    await database.execute("UPDATE inbox SET event = '{}'")
    await store.inbox.add(instance, [WHOLE])
    assert (await store.conversations.lease(ROOM)).leased == []


async def test_a_reaction_counts_where_the_instance_sent_the_message(
    store: Store, instance: int, database: Database
) -> None:
    reaction = replace(said("", "r1"), reaction="\N{THUMBS UP SIGN}", reacts_to="sent-1", message_id="r1")
    [dropped] = await store.inbox.add(instance, [reaction])
    assert dropped.dropped
    await store.inbox.add(instance, [said("hello")])
    leased = await store.leased()
    message = OutboundMessage({"kind": "text", "text": "hi"})
    await store.conversations.record(
        EventOutcome(leased.key, leased.queued[0].id, {}, [message], last=True, request_id="q1")
    )
    await database.execute("UPDATE outbox SET ref = 'sent-1'")
    await store.inbox.add(instance, [reaction])
    assert [queued.event.reaction for queued in (await store.leased()).queued] == [reaction.reaction]


async def closed(database: Database, instance: int) -> None:
    await database.execute(
        "INSERT INTO queue (kind, instance_id, session_key, pending, due_at, closed_at)"
        " VALUES (0, %s, 's', 0, now(), now())",
        (instance,),
    )


async def is_closed(database: Database) -> bool:
    return bool(await database.fetch_value("SELECT closed_at IS NOT NULL FROM queue WHERE session_key = 's'"))


@pytest.mark.parametrize(
    "event",
    [
        replace(edit("open?"), new_if_answered=True),
        replace(said(""), reaction="👍"),
        replace(said("beep"), refused="bot"),
        replace(said("beep"), automated=True),
        said("in another session", session="t"),
    ],
    ids=["edit", "reaction", "bot", "program", "another session"],
)
async def test_a_closed_conversation_stays_closed(
    database: Database, store: Store, instance: int, event: Event
) -> None:
    await closed(database, instance)
    [accepted] = await store.inbox.add(instance, [event])
    assert (accepted.fresh, await is_closed(database)) == (True, True)
    [again] = await store.inbox.add(instance, [event])
    assert (again.fresh, await is_closed(database)) == (False, True)


async def test_a_message_opens_a_closed_conversation_once(
    database: Database, store: Store, instance: int
) -> None:
    await closed(database, instance)
    await store.inbox.add(instance, [said("hello"), replace(said("", "2"), reaction="👍")])
    assert not await is_closed(database)
    await database.execute("UPDATE queue SET closed_at = now()")
    await store.inbox.add(instance, [said("hello")])
    assert await is_closed(database)
