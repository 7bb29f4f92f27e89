"""A session of a mail thread belongs to whoever began it, also where an earlier version stored its messages."""

import pytest

from adapters.outbound.storage.codec import dump
from adapters.outbound.storage.conversations.earlier import in_own_sessions
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.inbox import PostgresInbox
from domain.channels.messages import Event, Sender

ANN, BOB = "ann@client.example", "bob@client.example"


def mail(key: str, sender: str, thread: str = "<t@x>") -> Event:
    return Event(
        key,
        thread,
        Sender(sender),
        "words",
        {},
        correspondent=sender,
        separate_session_id=f"{thread}:{sender}",
    )


@pytest.fixture
def inbox(database: Database) -> PostgresInbox:
    return PostgresInbox(database, lambda: None)


async def sessions(database: Database, instance: int, *events: Event) -> list[str]:
    async with database.transaction() as connection:
        return [event.session_id for event in await in_own_sessions(connection, instance, events)]


async def test_the_first_of_one_poll_begins_the_session(database: Database, instance: int) -> None:
    found = await sessions(
        database, instance, mail("1", ANN), mail("2", BOB), mail("3", ANN), mail("4", BOB, "<u@x>")
    )
    assert found == ["<t@x>", f"<t@x>:{BOB}", "<t@x>", "<u@x>"]


@pytest.mark.parametrize("correspondent", [ANN, ""])
async def test_a_running_thread_keeps_its_session(
    database: Database, instance: int, inbox: PostgresInbox, correspondent: str
) -> None:
    earlier = Event("0", "<t@x>", Sender(ANN.title()), "words", {}, correspondent=correspondent)
    later = Event("1", "<t@x>", Sender(BOB), "words", {}, correspondent=BOB)
    await inbox.add(instance, [earlier, later])
    assert await sessions(database, instance, mail("2", BOB), mail("3", ANN)) == [f"<t@x>:{BOB}", "<t@x>"]


async def test_a_session_that_was_opened_belongs_to_whom_it_was_opened_with(
    database: Database, instance: int, inbox: PostgresInbox
) -> None:
    content = dump({"text": "Good morning", "target": {"to": ANN.title()}})
    columns = "instance_id, session_key, session_id, content, author, created_at"
    for session, moment in (("<t@x>", "now() - interval '1 day'"), ("<u@x>", "now() + interval '1 day'")):
        statement = f"INSERT INTO send ({columns}) VALUES (%s, %s, %s, %s, 'person', {moment})"
        await database.execute(statement, (instance, session, session, content))
        await inbox.add(instance, [Event(session, session, Sender(BOB), "words", {}, correspondent=BOB)])
    assert await sessions(database, instance, mail("1", BOB), mail("2", ANN)) == [f"<t@x>:{BOB}", "<t@x>"]
    assert await sessions(database, instance, mail("3", BOB, "<u@x>")) == ["<u@x>"]


async def test_messages_of_one_session_for_all_stay_there(database: Database, instance: int) -> None:
    shared = [
        Event(sender, "<t@x>", Sender(sender), "words", {}, correspondent=sender) for sender in (ANN, BOB)
    ]
    assert await sessions(database, instance, *shared) == ["<t@x>", "<t@x>"]
