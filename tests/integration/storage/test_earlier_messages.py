"""Stored messages are found by the platform's ids, each instance's alone; threads without us are not stored."""

from dataclasses import replace

import orjson
import pytest

from adapters.outbound.storage.conversations.earlier import PostgresEarlierMessages
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.inbox import PostgresInbox
from domain.channels.messages import Attachment, Event, Quoted, Sender
from tests.support.database import an_instance

PICTURE = Attachment("engine.png", "image/png", {"id": "f1"}, 12)
QUESTION = Event("k1", "s", Sender("7", "Ada"), "Is it hot?", {}, (PICTURE,), request_id="r")


class Stored:
    """A question and its answer, which the platform got in two messages."""

    def __init__(self, database: Database, instance: int) -> None:
        self.database, self.instance = database, instance
        self.inbox = PostgresInbox(database, lambda: None)
        self.earlier = PostgresEarlierMessages(database)

    async def ask(self, event: Event = QUESTION) -> int:
        [accepted] = await self.inbox.add(self.instance, [event])
        return accepted.id

    async def answer(self, inbox_id: int, text: str, *refs: str, session: str = "s") -> None:
        answer = orjson.dumps({"text": text, "files": [], "choices": [], "author": "resource"}).decode()
        await self.database.execute(
            "UPDATE inbox SET answer = %s, status = 1 WHERE id = %s", (answer, inbox_id)
        )
        for ref in refs:
            await self.database.execute(
                "INSERT INTO outbox (instance_id, session_key, inbox_id, message, target, key, status, ref)"
                " VALUES (%s, %s, %s, '{}', '{}', %s, 1, %s)",
                (self.instance, session, inbox_id, f"key-{ref}", ref),
            )
        await self.database.execute(
            "INSERT INTO queue (kind, instance_id, session_key, pending) VALUES (1, %s, %s, 0)",
            (self.instance, session),
        )


@pytest.fixture
def stored(database: Database, instance: int) -> Stored:
    return Stored(database, instance)


async def test_an_answer_is_found_whole_by_the_id_of_each_of_its_messages(stored: Stored) -> None:
    await stored.answer(await stored.ask(), "It is hot.", "p1", "p2")
    for ref in ("p1", "p2"):
        assert await stored.earlier.find_quoted(stored.instance, Quoted(ref=ref)) == Quoted(
            "It is hot.", "resource"
        )


async def test_a_message_sent_first_is_found(stored: Stored) -> None:
    send_id = await stored.database.fetch_value(
        "INSERT INTO send (instance_id, session_key, session_id, content, author)"
        " VALUES (%s, 's', 's', %s, 'person') RETURNING id",
        (stored.instance, orjson.dumps({"text": "Hello", "files": []}).decode()),
    )
    await stored.database.execute(
        "INSERT INTO outbox (instance_id, session_key, send_id, message, target, key, status, ref)"
        " VALUES (%s, 's', %s, '{}', '{}', 'k', 1, 'p1')",
        (stored.instance, send_id),
    )
    assert await stored.earlier.find_quoted(stored.instance, Quoted(ref="p1")) == Quoted("Hello", "person")


async def test_a_message_of_a_person_is_found_by_its_key_with_its_files(stored: Stored) -> None:
    await stored.ask()
    found = await stored.earlier.find_quoted(stored.instance, Quoted(ref="p9", key="k1"))
    assert found == Quoted("Is it hot?", "Ada", (PICTURE,))


async def test_ids_of_a_session_are_looked_for_in_it_alone(stored: Stored) -> None:
    await stored.answer(await stored.ask(), "It is hot.", "p1")
    assert await stored.earlier.find_quoted(stored.instance, Quoted(ref="p1", session="another")) is None
    assert await stored.earlier.find_quoted(stored.instance, Quoted(ref="p1", session="s")) is not None


async def test_what_is_not_stored_is_not_found(stored: Stored, database: Database) -> None:
    await stored.answer(await stored.ask(), "It is hot.", "p1")
    another = await an_instance(database, name="another")
    for quoted in (
        Quoted(ref="p2"),
        Quoted(key="k2"),
        Quoted(),
        Quoted(ref="\0" * 10_000, key="\0" * 10_000),
    ):
        assert await stored.earlier.find_quoted(stored.instance, quoted) is None
    assert await stored.earlier.find_quoted(another, Quoted(ref="p1", key="k1")) is None


async def test_the_first_event_of_a_session(stored: Stored) -> None:
    first = await stored.ask()
    second = await stored.ask(replace(QUESTION, key="k2"))
    assert await stored.earlier.is_first(stored.instance, "s", first)
    assert not await stored.earlier.is_first(stored.instance, "s", second)


FOLLOWED = replace(QUESTION, key="k3", only_followed=True)


async def test_an_event_of_a_thread_is_stored_where_we_answered_or_are_about_to(stored: Stored) -> None:
    assert await stored.ask(FOLLOWED) == 0
    asked = await stored.ask()
    assert await stored.ask(FOLLOWED) > 0
    await stored.answer(asked, "It is hot.", "p1")
    assert await stored.ask(replace(FOLLOWED, key="k4")) > 0


async def test_an_event_of_a_thread_without_us_leaves_nothing_behind(stored: Stored) -> None:
    [accepted] = await stored.inbox.add(stored.instance, [replace(FOLLOWED, session_id="t")])
    assert (accepted.id, accepted.fresh, accepted.dropped) == (0, False, True)
    assert await stored.database.fetch_value("SELECT count(*) FROM inbox") == 0
    assert await stored.database.fetch_value("SELECT count(*) FROM queue") == 0


async def test_an_event_of_a_thread_below_our_message_is_stored(stored: Stored) -> None:
    await stored.answer(await stored.ask(), "It is hot.", "p1")
    below = replace(FOLLOWED, session_id="t", quoted=Quoted(ref="p1", session="s"))
    assert await stored.ask(replace(below, key="k5", quoted=Quoted(ref="p1", session="another"))) == 0
    assert await stored.ask(replace(below, key="k6", quoted=Quoted(ref="p2", session="s"))) == 0
    assert await stored.ask(below) > 0
