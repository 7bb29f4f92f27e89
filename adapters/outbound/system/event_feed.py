"""The events of the log for the readers of this process: one loop reads them for all."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from operator import attrgetter

from adapters.tasks import cancelled, end
from domain.events import EventFilter, EventPage, LoggedEvent
from domain.refusals import Unavailable
from ports.subscriptions import EventLog

log = logging.getLogger(__name__)

LOOK_SECONDS = 0.2
"""How often the log is looked at while anybody reads: the longest that an event waits, and half of it the mean."""
FAILED_SECONDS = 2.0
"""The same after a failure."""
QUIET_SECONDS = 15.0
"""After so long without an event a reader gets an empty page."""
RENEW_SECONDS = 60.0
"""How often it is noted that somebody listens."""
PAGE = 100
PAGE_CHARACTERS = 256 * 1024
"""Events that a reader gets at once, and the characters of texts after which there are no more: a reader that stalls
holds a page."""
LOOKED_AT = 500
"""Events that are read of the log at once."""
MOST_RECENT = 1000
MOST_CHARACTERS = 4_000_000
"""Events that are kept for readers that are a little behind, and the characters of their texts. Readers that are
further behind read the log."""
LISTENER = "watchers"

_ALL = EventFilter()


@dataclass(eq=False, slots=True)
class _Reader:
    """All that is kept for a reader: how far it is. `waits` while it has everything that is recent."""

    event_filter: EventFilter
    cursor: int
    waits: bool = False
    woken: asyncio.Event = field(default_factory=asyncio.Event)

    async def wait(self, seconds: float) -> None:
        self.waits = True
        try:
            async with asyncio.timeout(seconds):
                await self.woken.wait()
        except TimeoutError:
            return
        finally:
            self.waits = False
            self.woken.clear()

    def wake(self) -> None:
        self.waits = False
        self.woken.set()


class _Recent:
    """The latest events of the log, all of those between two cursors."""

    def __init__(self, cursor: int) -> None:
        self.since = cursor
        self.until = cursor
        self._events: deque[LoggedEvent] = deque()
        self._characters = 0

    def add(self, page: EventPage) -> None:
        self.until = page.cursor
        for event in page.events:
            self._events.append(event)
            self._characters += _characters(event)
        while len(self._events) > MOST_RECENT or self._characters > MOST_CHARACTERS:
            dropped = self._events.popleft()
            self.since = dropped.id
            self._characters -= _characters(dropped)

    def after(self, wanted: EventFilter, cursor: int) -> EventPage:
        """For a cursor that is not before `since`."""
        events: list[LoggedEvent] = []
        characters = 0
        for event in self._events:
            if event.id <= cursor or not wanted.takes(event):
                continue
            if len(events) >= PAGE or characters >= PAGE_CHARACTERS:
                return EventPage(events, events[-1].id, more=True)
            events.append(event)
            characters += _characters(event)
        return EventPage(events, max(cursor, self.until))


def _characters(event: LoggedEvent) -> int:
    return sum(len(value) for value in event.data.values() if isinstance(value, str))


class LogFeed:
    """`ports.subscriptions.EventFeed`. A reader that takes its pages slowly holds none of them here: it has a
    cursor."""

    def __init__(
        self, log: EventLog, now: Callable[[], float] = time.monotonic, quiet: float = QUIET_SECONDS
    ) -> None:
        self._log = log
        self._now = now
        self._quiet = quiet
        self._readers: set[_Reader] = set()
        self._recent: _Recent | None = None
        self._renewed: float | None = None
        self._task: asyncio.Task[None] | None = None
        self._closed = False

    async def follow(self, wanted: EventFilter, cursor: int | None) -> AsyncGenerator[EventPage, None]:
        await self._renew()
        start = await self._log.position()
        reader = _Reader(wanted, start if cursor is None else cursor)
        yield EventPage((), reader.cursor)
        if self._task is None or self._task.done():
            self._recent = _Recent(start)
            self._task = asyncio.create_task(self._run(self._recent))
        self._readers.add(reader)
        checked = cursor is None
        try:
            while not self._closed:
                page = await self._next(reader, checked=checked)
                checked, reader.cursor = True, page.cursor
                yield page
        finally:
            self._readers.discard(reader)

    async def _next(self, reader: _Reader, *, checked: bool) -> EventPage:
        """The next events for a reader, or an empty page after a while. A cursor from outside is held against the
        log: events behind it may be gone."""
        if not checked:
            return await self._log.after(reader.event_filter, reader.cursor, PAGE)
        waited = False
        while True:
            recent = self._recent
            if recent is None or reader.cursor < recent.since:
                page = await self._log.after(reader.event_filter, reader.cursor, PAGE)
            else:
                page = recent.after(reader.event_filter, reader.cursor)
            reader.cursor = page.cursor
            if page.events or page.more or waited or self._closed:
                return page
            await reader.wait(self._quiet)
            waited = True

    async def _run(self, recent: _Recent) -> None:
        """Until nobody reads any more."""
        while True:
            pause = LOOK_SECONDS
            try:
                await self._renew()
                await self._log.publish()
                more = True
                while more:
                    page = await self._log.after(_ALL, recent.until, LOOKED_AT)
                    recent.add(page)
                    for reader in filter(attrgetter("waits"), self._readers):
                        if any(map(reader.event_filter.takes, page.events)):
                            reader.wake()
                        else:
                            reader.cursor = max(reader.cursor, recent.until)
                    more = page.more
            except Unavailable:
                pause = FAILED_SECONDS
            except Exception:
                log.exception("the log of events cannot be read")
                pause = FAILED_SECONDS
            if cancelled() or not self._readers:
                return
            await asyncio.sleep(pause)

    async def _renew(self) -> None:
        if self._renewed is None or self._now() - self._renewed >= RENEW_SECONDS:
            await self._log.listen(LISTENER)
            self._renewed = self._now()

    async def close(self) -> None:
        self._closed = True
        for reader in self._readers:
            reader.wake()
        await end([self._task] if self._task else [], "the feed of events")
