"""The chat history in a real PostgreSQL."""

from datetime import timedelta

import pytest

from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.retention import CHAT_TURNS, Retention, Times
from adapters.outbound.storage.unanswered import MAX_TURNS, PostgresChatHistory
from domain.refusals import Unavailable
from ports.resources import ChatHistory, Role, Turn
from tests.support.database import an_instance


@pytest.fixture
def history(database: Database) -> ChatHistory:
    return PostgresChatHistory(database)


def turns(*texts: str) -> list[Turn]:
    return [Turn(Role.ASSISTANT if at % 2 else Role.USER, text) for at, text in enumerate(texts)]


async def test_turns_come_back_in_order(history: ChatHistory, instance: int) -> None:
    said = [
        Turn(Role.USER, "Grüße 🙂"),
        Turn(Role.TOOL_CALL, '{"id": "1"}'),
        Turn(Role.TOOL_RESULT, "{}"),
        Turn(Role.ASSISTANT, ""),
    ]
    await history.append(instance, "s", "r1", said)
    await history.append(instance, "s", "r2", turns("next", "answer"))

    assert await history.load(instance, "s", "r3") == [*said, *turns("next", "answer")]


async def test_sessions_and_instances_are_apart(
    history: ChatHistory, database: Database, instance: int
) -> None:
    other = await an_instance(database, "second")
    await history.append(instance, "s", "r1", turns("a"))
    await history.append(instance, "t", "r2", turns("b"))
    await history.append(other, "s", "r3", turns("c"))

    assert await history.load(instance, "s", "r9") == turns("a")
    assert await history.load(other, "t", "r9") == []


async def test_a_request_does_not_see_its_own_turns(history: ChatHistory, instance: int) -> None:
    await history.append(instance, "s", "r1", turns("a"))
    await history.append(instance, "s", "r2", turns("b"))

    assert await history.load(instance, "s", "r2") == turns("a")


async def test_a_request_that_is_repeated_replaces_its_turns(history: ChatHistory, instance: int) -> None:
    await history.append(instance, "s", "r1", turns("question", "first answer"))
    await history.append(instance, "s", "r1", turns("question", "second answer"))

    assert await history.load(instance, "s", "r2") == turns("question", "second answer")


async def test_a_session_is_bounded(history: ChatHistory, database: Database, instance: int) -> None:
    await history.append(instance, "other", "r", turns("kept"))
    for number in range(0, MAX_TURNS + 50, 10):
        await history.append(instance, "s", f"r{number}", [Turn(Role.USER, str(number))] * 10)

    loaded = await history.load(instance, "s", "next")

    assert len(loaded) == MAX_TURNS
    assert (loaded[0].text, loaded[-1].text) == ("50", "240")
    assert await database.fetch_one("SELECT count(*) FROM chat_history WHERE session_key = 's'") == (
        MAX_TURNS,
    )
    assert await history.load(instance, "other", "next") == turns("kept")


@pytest.mark.parametrize("session", ["x" * 5000, "a\0b", "\ud800", "", "a\nb"])
async def test_any_session_id_will_do(history: ChatHistory, instance: int, session: str) -> None:
    await history.append(instance, session, "r1", turns("a"))

    assert await history.load(instance, session, "r2") == turns("a")
    assert await history.load(instance, "another", "r2") == []


async def test_text_that_the_database_cannot_hold_is_mended(history: ChatHistory, instance: int) -> None:
    await history.append(instance, "s", "r1", turns("a\0b", "c\ud800d", "🙂"))

    assert await history.load(instance, "s", "r2") == turns("ab", "c\ufffdd", "🙂")


async def test_what_an_instance_said_goes_with_it(
    history: ChatHistory, database: Database, instance: int
) -> None:
    await history.append(instance, "s", "r1", turns("a"))
    await database.execute("DELETE FROM channel_instance WHERE id = %s", (instance,))

    await history.append(instance, "s", "r2", turns("b"))

    assert await database.fetch_one("SELECT count(*) FROM chat_history") == (0,)


async def test_what_was_said_long_ago_is_forgotten(database: Database, instance: int) -> None:
    history = PostgresChatHistory(database)
    await history.append(instance, "s", "r1", turns("old"))
    await database.execute(
        "UPDATE chat_history SET created_at = now() - make_interval(days => %s)", (CHAT_TURNS.days + 1,)
    )
    await history.append(instance, "s", "r2", turns("new"))

    await Retention(database, Times(timedelta(days=7))).clean()

    assert await history.load(instance, "s", "r3") == turns("new")


async def test_a_database_that_is_away_is_a_refusal(database: Database, history: ChatHistory) -> None:
    await database.close()

    with pytest.raises(Unavailable):
        await history.load(1, "s", "r")
