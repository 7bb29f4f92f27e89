"""The feed of events: one reader of the log for all, cursors for each, nothing buffered for who is slow."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import UTC, datetime

from adapters.outbound.system import event_feed
from adapters.outbound.system.event_feed import LogFeed
from domain.events import EventFilter, EventPage, LoggedEvent
from domain.refusals import StorageAway

NOW = datetime(2026, 11, 20, tzinfo=UTC)
QUIET = 0.05


class Log:
    """A log in memory. `reads` are the cursors from which it was read; while `away` it is not to be had."""

    def __init__(self) -> None:
        self.events: list[LoggedEvent] = []
        self.reads: list[int] = []
        self.listeners: list[str] = []
        self.away = False

    def add(self, count: int, owner: str = "ann", text: str = "") -> None:
        for _ in range(count):
            number = len(self.events) + 1
            event = LoggedEvent(number, "message.received", NOW, 1, "s", {"text": text}, owner)
            self.events.append(event)

    async def after(self, wanted: EventFilter, cursor: int, limit: int) -> EventPage:
        if self.away:
            raise StorageAway("away")
        self.reads.append(cursor)
        later = [event for event in self.events[cursor:] if wanted.takes(event)]
        if len(later) > limit:
            return EventPage(later[:limit], later[limit - 1].id, more=True)
        return EventPage(later, max(cursor, len(self.events)))

    async def position(self) -> int:
        return len(self.events)

    async def publish(self) -> int:
        return 0

    async def listen(self, listener: str) -> None:
        self.listeners.append(listener)


async def take(pages: AsyncGenerator[EventPage, None], count: int) -> list[int]:
    ids: list[int] = []
    async with asyncio.timeout(30):
        while len(ids) < count:
            ids += [event.id for event in (await anext(pages)).events]
    return ids


async def test_a_reader_gets_what_comes_after_it_and_signs_of_life() -> None:
    log = Log()
    log.add(3)
    feed = LogFeed(log, quiet=QUIET)
    async with aclosing(feed.follow(EventFilter(), None)) as pages:
        first = await anext(pages)
        assert (list(first.events), first.cursor) == ([], 3)
        assert log.listeners == ["watchers"]
        assert list((await anext(pages)).events) == []
        log.add(2)
        assert await take(pages, 2) == [4, 5]
    await feed.close()


async def test_a_reader_that_comes_back_goes_on_from_its_cursor() -> None:
    log = Log()
    log.add(event_feed.PAGE * 2 + 5)
    feed = LogFeed(log, quiet=QUIET)
    async with aclosing(feed.follow(EventFilter(), 2)) as pages:
        count = len(log.events)
        assert await take(pages, count - 2) == list(range(3, count + 1))
    await feed.close()


async def test_a_cursor_moves_on_past_the_events_of_others() -> None:
    log = Log()
    feed = LogFeed(log, quiet=QUIET)
    async with aclosing(feed.follow(EventFilter("bob"), None)) as pages:
        await anext(pages)
        log.add(50)
        async with asyncio.timeout(30):
            while (page := await anext(pages)).cursor < 50:
                assert list(page.events) == []
        log.add(1, "bob")
        assert await take(pages, 1) == [51]
    await feed.close()


async def test_many_readers_read_the_log_once() -> None:
    log = Log()
    feed = LogFeed(log, quiet=30.0)
    readers = [feed.follow(EventFilter(), None) for _ in range(50)]
    for pages in readers:
        await anext(pages)
    waiting = [asyncio.create_task(take(pages, 20)) for pages in readers]
    await asyncio.sleep(0)
    log.add(20)
    for got in await asyncio.gather(*waiting):
        assert got == list(range(1, 21))
    assert log.reads.count(0) < len(readers)
    for pages in readers:
        await pages.aclose()
    await feed.close()


async def test_who_is_far_behind_reads_the_log_and_misses_nothing() -> None:
    log = Log()
    feed = LogFeed(log, quiet=QUIET)
    slow, quick = feed.follow(EventFilter(), None), feed.follow(EventFilter(), None)
    for pages in (slow, quick):
        await anext(pages)
    count = event_feed.MOST_RECENT + 300
    log.add(count, text="x" * 10)
    assert await take(quick, count) == list(range(1, count + 1))
    log.reads.clear()
    assert await take(slow, count) == list(range(1, count + 1))
    assert 0 in log.reads
    for pages in (slow, quick):
        await pages.aclose()
    await feed.close()


async def test_an_outage_ends_no_stream_that_waits() -> None:
    log = Log()
    feed = LogFeed(log, quiet=QUIET)
    async with aclosing(feed.follow(EventFilter(), None)) as pages:
        await anext(pages)
        await anext(pages)
        log.away = True
        for _ in range(3):
            assert list((await anext(pages)).events) == []
        log.away = False
        log.add(1)
        assert await take(pages, 1) == [1]
    await feed.close()


async def test_closing_ends_the_streams_at_once() -> None:
    log = Log()
    feed = LogFeed(log, quiet=3600.0)
    pages = feed.follow(EventFilter(), None)
    await anext(pages)
    rest = asyncio.create_task(anext(pages, None))
    await asyncio.sleep(0)
    async with asyncio.timeout(30):
        await feed.close()
        while await rest is not None:
            rest = asyncio.create_task(anext(pages, None))
