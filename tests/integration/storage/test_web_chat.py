"""What visitors see is kept in the order of its changes, and whoever looks at it misses nothing."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest

from adapters.outbound.storage.conversations.erasure import LONGEST_CHAT, ConversationExpiry
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.web_chat import PostgresChatFeed, PostgresChatLog
from domain.web_chat.model import LATEST, ChatMessage, ChatPage, ChatPlace

NEVER = 3600.0
WITHIN = 60.0


class Chat:
    def __init__(self, database: Database, instance: int, *, sweep: float = NEVER) -> None:
        self.feed = PostgresChatFeed(database, NEVER, sweep)
        self.log = PostgresChatLog(database, self.feed.changed)
        self.place = ChatPlace(instance, "v-ann")

    async def write(self, id: str, text: str = "", *, draft: bool = False) -> None:
        await self.log.write(self.place, message(id, text, draft=draft))

    async def first(self, after: int = 0) -> ChatPage:
        async with aclosing(self.feed.follow(self.place, after)) as pages:
            return await soon(pages)


def message(id: str, text: str = "", *, draft: bool = False) -> ChatMessage:
    return ChatMessage(id, {"from": "agent", "content": [text or id]}, draft)


async def soon(pages: AsyncGenerator[ChatPage, None]) -> ChatPage:
    async with asyncio.timeout(WITHIN):
        return await anext(pages)


def shown(page: ChatPage) -> list[tuple[str, Any, bool]]:
    return [(each.id, each.body and each.body["content"], each.draft) for each in page.messages]


@pytest.fixture
async def chat(database: Database, instance: int) -> AsyncIterator[Chat]:
    chat = Chat(database, instance)
    yield chat
    await chat.feed.close()


async def test_a_message_is_replaced_in_its_place(chat: Chat) -> None:
    await chat.write("a", "one")
    await chat.write("b", "unfin", draft=True)
    await chat.write("a", "two")
    page = await chat.first()
    assert shown(page) == [("a", ["two"], False), ("b", ["unfin"], True)]
    await chat.write("b", "finished")
    assert shown(await chat.first(page.cursor)) == [("b", ["finished"], False)]


async def test_a_late_draft_changes_nothing(chat: Chat) -> None:
    await chat.write("a", "finished")
    assert await chat.log.change(chat.place, message("a", "unfin", draft=True))
    assert shown(await chat.first()) == [("a", ["finished"], False)]


async def test_a_visitors_message_cannot_replace_another(chat: Chat) -> None:
    await chat.write("a", "the offer is 100")
    await chat.log.receive(chat.place, message("a", "the offer is 1"))
    assert shown(await chat.first()) == [("a", ["the offer is 100"], False)]


async def test_what_was_removed_stays_removed(chat: Chat) -> None:
    await chat.write("a")
    before = await chat.first()
    await chat.log.remove(chat.place, "a")
    await chat.write("a", "again")
    assert shown(await chat.first(before.cursor)) == [("a", None, False)]
    assert shown(await chat.first()) == []


async def test_nothing_is_changed_in_a_conversation_that_is_not_there(chat: Chat) -> None:
    assert not await chat.log.change(chat.place, message("a", draft=True))
    await chat.log.typing(chat.place, 5)
    await chat.log.remove(chat.place, "a")
    page = await chat.first()
    assert (shown(page), page.cursor, page.cleared) == ([], 0, False)


async def test_nothing_is_kept_for_an_instance_that_is_gone(chat: Chat, database: Database) -> None:
    await chat.write("a")
    await database.execute("DELETE FROM channel_instance")
    await chat.write("b")
    assert await database.fetch_value("SELECT count(*) FROM web_chat_message") == 0


async def test_who_looks_is_told_at_once_and_of_nobody_elses(chat: Chat) -> None:
    other = ChatPlace(chat.place.instance_id, "v-bob")
    async with (
        aclosing(chat.feed.follow(chat.place, 0)) as ann,
        aclosing(chat.feed.follow(other, 0)) as bob,
    ):
        assert [shown(await soon(pages)) for pages in (ann, bob)] == [[], []]
        await chat.write("a")
        await chat.log.write(other, message("b"))
        assert [shown(await soon(pages)) for pages in (ann, bob)] == [
            [("a", ["a"], False)],
            [("b", ["b"], False)],
        ]


async def test_typing_is_told_until_a_message_comes(chat: Chat) -> None:
    await chat.write("a")
    await chat.log.typing(chat.place, 30)
    page = await chat.first()
    assert 20 < page.typing_seconds <= 30
    await chat.log.receive(chat.place, message("b"))
    assert (await chat.first()).typing_seconds > 0
    await chat.write("c")
    assert (await chat.first()).typing_seconds == 0


async def test_a_lost_notice_costs_a_moment_alone(chat: Chat, database: Database) -> None:
    deaf = Chat(database, chat.place.instance_id, sweep=0.01)
    async with aclosing(deaf.feed.follow(chat.place, 0)) as pages:
        await soon(pages)
        await chat.write("a")
        assert shown(await soon(pages)) == [("a", ["a"], False)]
    await deaf.feed.close()


async def test_an_erasure_is_told_whenever_one_comes_back(chat: Chat, database: Database) -> None:
    await chat.write("a")
    page = await chat.first()
    await database.execute("DELETE FROM web_chat")
    gone = await chat.first(page.cursor)
    assert (gone.cleared, shown(gone), gone.cursor) == (True, [], 0)
    await chat.write("b")
    again = await chat.first(page.cursor)
    assert (again.cleared, shown(again)) == (True, [("b", ["b"], False)])
    assert not (await chat.first(again.cursor)).cleared


async def test_the_latest_messages_come_first_and_all_changes_after_a_cursor(chat: Chat) -> None:
    await chat.write("first")
    start = (await chat.first()).cursor
    for number in range(LATEST + 5):
        await chat.write(f"m{number}")
    page = await chat.first()
    assert [each.id for each in page.messages] == [f"m{number}" for number in range(5, LATEST + 5)]
    found: list[str] = []
    async with aclosing(chat.feed.follow(chat.place, start)) as pages:
        while len(found) < LATEST + 5:
            found += [each.id for each in (await soon(pages)).messages]
    assert found == [f"m{number}" for number in range(LATEST + 5)]


async def test_a_stream_does_not_begin_with_more_text_than_fits(chat: Chat) -> None:
    for number in range(5):
        await chat.write(f"m{number}", "x" * 100_000)
    assert [each.id for each in (await chat.first()).messages] == ["m2", "m3", "m4"]


async def test_many_who_write_at_once_are_missed_by_nobody(chat: Chat) -> None:
    """Readers come and go while others write: each version is seen once, in order, up to the last."""
    names = [f"m{number}" for number in range(120)]

    await chat.write("begin")
    cursor = (await chat.first()).cursor
    readers = [asyncio.create_task(read_from(chat, cursor, len(names), stops)) for stops in (1, 3, 1000)]
    await asyncio.gather(*(chat.write(name) for name in names))
    for found in await asyncio.gather(*readers):
        assert sorted(found) == sorted(names)


async def read_from(chat: Chat, cursor: int, count: int, stops: int) -> list[str]:
    """The ids of so many messages, by streams that end after some pages each."""
    found: list[str] = []
    while len(found) < count:
        async with aclosing(chat.feed.follow(chat.place, cursor)) as pages:
            for _ in range(stops):
                page = await soon(pages)
                found += [each.id for each in page.messages]
                cursor = page.cursor
                if len(found) >= count:
                    break
    return found


async def test_texts_that_no_database_holds_are_kept_as_far_as_they_can_be(chat: Chat) -> None:
    await chat.write("a", "before\0after \ud83d")
    assert shown(await chat.first()) == [("a", ["before\0after \N{REPLACEMENT CHARACTER}"], False)]


async def test_one_query_reads_for_all(
    chat: Chat, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries: list[object] = []
    fetch = Database.fetch

    async def counted(self: Database, *arguments: Any) -> Any:
        queries.append(arguments[0])
        return await fetch(self, *arguments)

    monkeypatch.setattr(Database, "fetch", counted)
    places = [ChatPlace(chat.place.instance_id, f"v-{number}") for number in range(50)]
    streams = [chat.feed.follow(place, 0) for place in places]
    await asyncio.gather(*map(soon, streams))
    assert len(queries) < 10
    for stream in streams:
        await stream.aclose()


async def test_a_long_conversation_keeps_its_end(chat: Chat, database: Database) -> None:
    await chat.write("old")
    await database.execute(
        "INSERT INTO web_chat_message (web_chat_id, message_key, place, version, at, draft, body)"
        " SELECT c.id, 'm' || n, c.version + n, c.version + n, now(), false, '{}'"
        f" FROM web_chat c, generate_series(1, {LONGEST_CHAT}) n"
    )
    await ConversationExpiry(database, 30).clean()
    assert (
        await database.fetch_value("SELECT min(place) FROM web_chat_message WHERE message_key = 'old'")
        is None
    )
    assert await database.fetch_value("SELECT count(*) FROM web_chat_message") == LONGEST_CHAT
