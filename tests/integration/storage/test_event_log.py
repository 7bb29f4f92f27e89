"""The log of events: ids in the order of what happened, nothing missed, nobody else's events."""

import asyncio

import pytest

from adapters.outbound.storage.events import LISTENED, LOCK, PAGE_BYTES, SQL, WINDOW, PostgresEventLog
from adapters.outbound.storage.pool import Connection, Database
from adapters.outbound.storage.queue.inbox import PostgresInbox
from domain.channels.messages import Attachment, Event, Sender
from domain.events import RESET, EventFilter, EventKind
from tests.support.database import an_instance
from tests.support.event_log import events_of, listening

RECEIVED = EventKind.MESSAGE_RECEIVED
ADD = f"""
INSERT INTO event_log (kind, instance_id, session_key, ref)
SELECT '{RECEIVED}', %s, %s, %s WHERE {LISTENED}
"""


async def add(where: Database | Connection, instance: int, session: str, ref: int) -> None:
    await where.execute(ADD, (instance, session, ref))


async def refs(log: PostgresEventLog, cursor: int = 0) -> list[object]:
    return [event.data["messageId"] for event in await events_of(log, cursor)]


async def test_what_becomes_visible_later_gets_a_higher_id(database: Database, instance: int) -> None:
    log = await listening(database)
    cursor = await log.position()
    async with database.transaction() as late:
        await add(late, instance, "a", 1)
        await add(database, instance, "b", 2)
        assert await refs(log, cursor) == ["in-2"]
        cursor = await log.position()
        await add(database, instance, "b", 3)
        assert await refs(log, cursor) == ["in-3"]
        cursor = await log.position()
    assert await refs(log, cursor) == ["in-1"]


async def test_conversations_whose_transactions_overlap_miss_nothing_and_keep_their_order(
    database: Database, instance: int
) -> None:
    """Each conversation records its next event once the one before is committed; transactions of others are held open
    meanwhile, and the log is published and read all the time."""
    log = await listening(database)
    conversations, each = 8, 12
    done = asyncio.Event()

    async def converse(session: int) -> None:
        for number in range(each):
            async with database.transaction() as connection:
                await add(connection, instance, f"s{session}", number)
                for _ in range((session * 7 + number * 3) % 5):
                    await connection.execute("SELECT pg_sleep(0.001)")

    async def read() -> list[tuple[str | None, object]]:
        seen: list[tuple[str | None, object]] = []
        cursor = await log.position()
        last = False
        while not last:
            last = done.is_set()
            await log.publish()
            page = await log.after(EventFilter(), cursor, 7)
            while page.more:
                seen += [(event.session_id, event.data["messageId"]) for event in page.events]
                page = await log.after(EventFilter(), page.cursor, 7)
            seen += [(event.session_id, event.data["messageId"]) for event in page.events]
            cursor = page.cursor
        return seen

    readers = [asyncio.create_task(read()) for _ in range(3)]
    await asyncio.sleep(0)
    await asyncio.gather(*(converse(session) for session in range(conversations)))
    done.set()
    for seen in await asyncio.gather(*readers):
        for session in range(conversations):
            expected = [f"in-{number}" for number in range(each)]
            assert [message for of, message in seen if of == f"s{session}"] == expected
        assert len(seen) == conversations * each


async def test_one_process_publishes_at_a_time(database: Database, instance: int) -> None:
    log = await listening(database)
    await add(database, instance, "s", 1)
    async with database.transaction() as other:
        await other.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        assert await log.publish() == 0
    assert await log.publish() == 1


async def test_readers_wait_for_events_that_are_just_being_published(
    database: Database, instance: int
) -> None:
    """Neither a reader that begins meanwhile nor one whose earlier events are all gone goes past them."""
    log = await listening(database)
    cursor = await log.position()
    await database.execute("DELETE FROM event_log")
    await add(database, instance, "s", 1)
    async with database.transaction() as publishing:
        await publishing.execute(SQL["publish"])
        assert await log.position() == cursor
        page = await log.after(EventFilter(), cursor, 10)
        assert (list(page.events), page.cursor) == ([], cursor)
    page = await log.after(EventFilter(), cursor, 10)
    assert [(event.kind, event.data["messageId"]) for event in page.events] == [(RECEIVED, "in-1")]


async def test_nothing_is_recorded_while_nobody_listens(database: Database, instance: int) -> None:
    await add(database, instance, "s", 1)
    assert await database.fetch_value("SELECT count(*) FROM event_log") == 0
    log = await listening(database)
    await add(database, instance, "s", 2)
    assert await refs(log) == ["in-2"]
    await database.execute("UPDATE event_listener SET until = now()")
    await add(database, instance, "s", 3)
    assert await refs(log) == ["in-2"]


async def test_who_comes_back_is_told_that_nothing_was_recorded_meanwhile(
    database: Database, instance: int
) -> None:
    log = await listening(database)
    await add(database, instance, "s", 1)
    await log.publish()
    cursor = await log.position()
    await database.execute("UPDATE event_listener SET until = now()")
    await add(database, instance, "s", 2)
    await log.listen("the test")
    await add(database, instance, "s", 3)
    await log.publish()
    page = await log.after(EventFilter(), cursor, 10)
    assert [event.kind for event in page.events] == [RESET, RECEIVED]
    assert page.events[1].data["messageId"] == "in-3"


async def test_a_cursor_whose_events_were_deleted_is_told_so(database: Database, instance: int) -> None:
    log = await listening(database)
    for ref in range(1, 4):
        await add(database, instance, "s", ref)
    await log.publish()
    first = next(event.id for event in await events_of(log))
    await database.execute("DELETE FROM event_log WHERE id <= %s", (first + 1,))
    page = await log.after(EventFilter(), first - 1, 10)
    assert [event.kind for event in page.events] == [RESET, RECEIVED]
    assert page.events[0].id < page.events[1].id
    assert [event.kind for event in (await log.after(EventFilter(), first + 1, 10)).events] == [RECEIVED]


async def test_a_cursor_of_another_database_begins_anew(database: Database) -> None:
    log = await listening(database)
    page = await log.after(EventFilter(), 10_000, 10)
    assert [event.kind for event in page.events] == [RESET]
    assert page.cursor == await log.position()


async def test_a_reader_gets_own_events_of_the_kinds_and_instances_it_asks_for(database: Database) -> None:
    mine, other = await an_instance(database), await an_instance(database, "other")
    theirs = await an_instance(database, "theirs")
    await database.execute("UPDATE channel_instance SET user_id = 'bea' WHERE id = %s", (theirs,))
    log = await listening(database)
    for instance in (mine, other, theirs):
        await add(database, instance, "s", instance)
    await database.execute("INSERT INTO event_log (kind, user_id) VALUES ('identity.verified', 'ann')")
    wanted = {
        EventFilter(): [mine, other, theirs, None],
        EventFilter("ann"): [mine, other, None],
        EventFilter("bea"): [theirs],
        EventFilter("ann", frozenset({"identity.verified"})): [None],
        EventFilter("ann", frozenset(), frozenset({other, theirs})): [other],
    }
    for reader, instances in wanted.items():
        events = await events_of(log, wanted=reader)
        assert [event.instance_id for event in events] == instances
        assert all(map(reader.takes, events))


async def test_a_page_looks_at_a_bounded_number_of_rows(database: Database, instance: int) -> None:
    log = await listening(database)
    await database.execute(
        "INSERT INTO event_log (kind, instance_id, ref) SELECT 'message.received', %s, n"
        " FROM generate_series(1, %s) n",
        (instance, WINDOW + 5),
    )
    await log.publish()
    page = await log.after(EventFilter("nobody"), await log.position() - WINDOW - 5, 10)
    assert (list(page.events), page.more) == ([], True)
    page = await log.after(EventFilter("nobody"), page.cursor, 10)
    assert (list(page.events), page.more) == ([], False)
    assert page.cursor == await log.position()


async def test_a_page_ends_behind_large_texts(database: Database, instance: int) -> None:
    log = await listening(database)
    inbox = PostgresInbox(database, lambda: None)
    texts = ["small", "x" * PAGE_BYTES, "behind it", "y" * PAGE_BYTES, "last"]
    for number, text in enumerate(texts):
        await inbox.add(instance, [Event(f"k{number}", "s", Sender("x"), text, {})])
    await log.publish()
    cursor, pages, more = 0, [], True
    while more:
        page = await log.after(EventFilter(), cursor, 10)
        pages.append([event.data["text"] for event in page.events if event.kind == RECEIVED])
        cursor, more = page.cursor, page.more
    assert pages == [texts[:2], texts[2:4], texts[4:]]


@pytest.mark.parametrize("session", ["plain", "with\nline breaks " + "x" * 300])
async def test_the_session_is_told_as_it_is(database: Database, instance: int, session: str) -> None:
    log = await listening(database)
    inbox = PostgresInbox(database, lambda: None)
    files = (Attachment("a.png", "image/png", {"token": "secret"}, 12),)
    await inbox.add(instance, [Event("k", session, Sender("x", "Xenia"), "hello", {}, files, request_id="r")])
    [event] = await events_of(log)
    assert event.session_id == session
    assert event.data == {
        "messageId": event.data["messageId"],
        "requestId": "r",
        "text": "hello",
        "sender": {"externalId": "x", "displayName": "Xenia"},
        "files": [{"name": "a.png", "mimeType": "image/png", "size": 12}],
    }
