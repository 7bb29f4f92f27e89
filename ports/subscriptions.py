"""Subscriptions and the event log."""

from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Protocol

from domain.channels.messages import Sent
from domain.events import EventFilter, EventPage, LoggedEvent
from domain.paging import Page
from domain.subscriptions.model import Push, Subscription, SubscriptionFields
from domain.subscriptions.planning import PushPlan, PushState


class SubscriptionStore(Protocol):
    """Stored subscriptions, their secrets encrypted; their pushes on their way, in the outbox; and how far the log
    was read for them."""

    async def find(self, subscription_id: int) -> Subscription | None: ...

    async def of_user(self, user_id: str | None, after: int, limit: int) -> Sequence[Subscription]:
        """Of all users (None), with ids over `after`, in their order."""

    async def active(self) -> Sequence[Subscription]:
        """Those that are pushed to now, whoever changed them; decrypted anew only where something changed."""

    async def add(
        self, user_id: str, fields: SubscriptionFields, since: int, most: int, *, all_users: bool
    ) -> Subscription | None:
        """None if the user has `most` already."""

    async def change(self, subscription_id: int, fields: SubscriptionFields, since: int) -> None:
        """Changes what is not None, and switches it on: an event with an id over `since` is pushed, where it was
        off."""

    async def switch_off(self, subscription_id: int, reason: str) -> None:
        """Nothing is pushed any more; an event says so."""

    async def remove(self, subscription_id: int) -> None: ...

    async def position(self) -> int:
        """The id of the last event that was considered for pushes; 0 before the first."""

    async def behind(self) -> PushState:
        """The cursors, with the pushes that wait of their subscriptions."""

    async def plan(self, decide: Callable[[PushState], PushPlan | None]) -> bool:
        """Stores what `decide` makes of the present state, while nobody else plans. False, and nothing is stored,
        where that is None, or another process has moved the position meanwhile."""

    def session_key(self, event: LoggedEvent) -> str:
        """The key of the conversation in whose order an event is pushed."""

    async def pushes(
        self, subscription_id: int, status: str | None, before: int, limit: int
    ) -> Page[Push, int]:
        """The newest first, with ids below `before` (0: all)."""

    async def failing(self) -> Sequence[int]:
        """Subscriptions to which nothing could be pushed for five days, though something was to be."""


class PushSender(Protocol):
    """Sends trial pushes."""

    async def test(self, subscription_id: int) -> Sent: ...


class AddressCheck(Protocol):
    """Says whether events may be pushed to an address."""

    async def fault(self, url: str) -> str | None:
        """Returns the fault of the address, or None."""


class EventLog(Protocol):
    """Events that have their ids. Ids grow in the order in which events become visible, so that who goes on from a
    cursor misses nothing, and events of one conversation stand in the order in which they happened."""

    async def after(self, wanted: EventFilter, cursor: int, limit: int) -> EventPage:
        """Up to `limit` events behind a cursor, in order. Looks at a bounded number of rows: a page may be empty
        and have `more`.

        An event of kind `RESET` stands where events between the cursor and it are gone.
        """

    async def position(self) -> int:
        """The cursor that stands behind all events so far."""

    async def publish(self) -> int:
        """Gives the events of finished transactions their ids; how many. 0 while another process does that."""

    async def listen(self, listener: str) -> None:
        """Somebody listens: events are recorded from now on, until EVENT_DAYS after the last call for any
        listener. `listener` names who: "watchers", or whoever reads the log by itself."""


class EventFeed(Protocol):
    """The events of the log as they come, for the readers of this process."""

    def follow(self, wanted: EventFilter, cursor: int | None) -> AsyncGenerator[EventPage, None]:
        """Pages behind the cursor, None: from now on. An empty page comes first, once events are recorded, and
        whenever nothing happened for a while: a sign of life, with the cursor so far."""
