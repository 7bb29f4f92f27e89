"""The log of events: recorded with what they tell, read in the order of their ids."""

from collections.abc import AsyncGenerator
from typing import Protocol

from domain.events import EventFilter, EventPage


class EventLog(Protocol):
    """Events that have their ids. Ids grow in the order in which events become visible, so that who goes on from a
    cursor misses nothing, and events of one conversation stand in the order in which they happened."""

    async def after(self, wanted: EventFilter, cursor: int, limit: int) -> EventPage:
        """Up to `limit` events behind a cursor, in order. Looks at a bounded number of rows: a page may be empty
        and have `more`.

        An event of kind `RESET` stands where events between the cursor and it are gone.
        """
        ...

    async def position(self) -> int:
        """The cursor that stands behind all events so far."""
        ...

    async def publish(self) -> int:
        """Gives the events of finished transactions their ids; how many. 0 while another process does that."""
        ...

    async def listen(self, listener: str) -> None:
        """Somebody listens: events are recorded from now on, until EVENT_DAYS after the last call for any
        listener. `listener` names who: "watchers", or whoever reads the log by itself."""
        ...


class EventFeed(Protocol):
    """The events of the log as they come, for the readers of this process."""

    def follow(self, wanted: EventFilter, cursor: int | None) -> AsyncGenerator[EventPage, None]:
        """Pages behind the cursor, None: from now on. An empty page comes first, once events are recorded, and
        whenever nothing happened for a while: a sign of life, with the cursor so far."""
        ...
