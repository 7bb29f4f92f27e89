"""Events are put on their way to the subscriptions that want them."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from domain.events.model import RESET, EventFilter, EventPage, LoggedEvent
from domain.subscriptions.model import Subscription
from domain.subscriptions.service import LISTENER
from ports.events import EventFeed, EventLog
from ports.subscriptions import PlannedPush, PushQueue, SubscriptionStore

log = logging.getLogger(__name__)

FAILED_LONG = "nothing could be pushed for five days"
MOST_BEHIND = 1000
"""Events that may be considered once more after a crash, where no subscription wants them."""


@dataclass(eq=False)
class PushService:
    """Reads the log of events, and stores a push for each event and subscription that wants it.

    Several workers may do that at once: one of them moves the position, the others go on from there.
    """

    store: SubscriptionStore
    queue: PushQueue
    log: EventLog
    feed: EventFeed

    async def follow(self) -> None:
        """Runs until another worker has moved on, or nobody subscribes any more."""
        subscriptions = await self.store.active()
        if not subscriptions:
            return
        await self.log.listen(LISTENER)
        stored = position = max(await self.queue.position(), 0)
        async for page in self.feed.follow(EventFilter(), position):
            subscriptions = await self.store.active()
            if not subscriptions:
                return
            pushes = _planned(page, subscriptions)
            if not pushes and page.cursor - stored < MOST_BEHIND:
                continue
            if page.cursor > stored:
                if not await self.queue.enqueue(stored, page.cursor, pushes):
                    return
                stored = page.cursor

    async def listen(self) -> None:
        """Keeps events recorded while somebody subscribes."""
        if await self.store.active():
            await self.log.listen(LISTENER)

    async def switch_off_failing(self) -> None:
        for subscription_id in await self.queue.failing():
            log.warning("the subscription %d is switched off: %s", subscription_id, FAILED_LONG)
            await self.store.switch_off(subscription_id, FAILED_LONG)


def _planned(page: EventPage, subscriptions: Sequence[Subscription]) -> Sequence[PlannedPush]:
    filters = [(subscription, subscription.wanted) for subscription in subscriptions]
    return [
        PlannedPush(subscription.id, _session(event), event.id)
        for event in page.events
        if event.kind != RESET
        for subscription, wanted in filters
        if event.id > subscription.since and wanted.takes(event)
    ]


def _session(event: LoggedEvent) -> str:
    """Events of one conversation, and those of one instance beside them, are pushed in order."""
    return f"{event.instance_id or ''}:{event.session_id or ''}"
