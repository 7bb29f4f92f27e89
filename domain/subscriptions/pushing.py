"""Events are put on their way to the subscriptions that want them."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

from domain.events import EventFilter, EventPage
from domain.subscriptions.model import Subscription
from domain.subscriptions.planning import KeyedEvent, Place, PushPlan, PushState, has_room, planned
from domain.subscriptions.service import LISTENER
from ports.subscriptions import EventFeed, EventLog, SubscriptionStore

log = logging.getLogger(__name__)

FAILED_LONG = "nothing could be pushed for five days"
MOST_BEHIND = 1000
"""Events that may be considered once more after a crash, where no subscription wants them."""
READ_AT_ONCE = 100


@dataclass(eq=False)
class PushService:
    """Reads the log of events, and stores pushes for the subscriptions that want them, as many of each as may wait at
    once; the others are read from the log again when some of these are taken.

    Several workers may do that at once: one of them moves the position, the others go on from there.
    """

    store: SubscriptionStore
    log: EventLog
    feed: EventFeed
    _has_subscriptions: bool = field(default=False, init=False)

    async def follow(self) -> None:
        """Runs until another worker has moved on, or nobody subscribes any more."""
        subscriptions = await self.store.active()
        self._has_subscriptions = bool(subscriptions)
        if not subscriptions:
            return
        await self.log.listen(LISTENER)
        stored = position = max(await self.store.position(), 0)
        async for page in self.feed.follow(EventFilter(), position):
            subscriptions = await self.store.active()
            if not subscriptions:
                return
            if page.cursor <= stored or not (
                page.cursor - stored >= MOST_BEHIND
                or any(
                    subscription.wanted.takes(event)
                    for event in page.events
                    for subscription in subscriptions
                )
            ):
                continue
            if not await self._advance(subscriptions, stored, page):
                return
            stored = page.cursor

    async def _advance(self, subscriptions: Sequence[Subscription], stored: int, page: EventPage) -> bool:
        events = self._keyed(page)

        def plan(state: PushState) -> PushPlan | None:
            if state.position != stored:
                return None
            return planned(state, subscriptions, events, page.cursor)

        return await self.store.plan(plan)

    async def catch_up(self) -> None:
        """Goes on with the subscriptions that have a cursor, where pushes of theirs were taken meanwhile."""
        if not self._has_subscriptions:
            return
        behind = await self.store.behind()
        if not behind.cursors:
            return
        active = {subscription.id: subscription for subscription in await self.store.active()}
        waiting = PushPlan.of(behind).waiting
        for place, position in behind.cursors.items():
            subscription = active.get(place[0])
            if subscription is not None and has_room(place, waiting):
                await self._go_on(subscription, place, position)

    async def _go_on(self, subscription: Subscription, place: Place, position: int) -> None:
        page = await self.log.after(subscription.wanted, position, READ_AT_ONCE)
        events = self._keyed(page)

        def plan(state: PushState) -> PushPlan | None:
            if state.cursors.get(place) != position:
                return None
            further = PushPlan.of(state)
            further.go_on(subscription, place[1], events, page.cursor)
            return further

        await self.store.plan(plan)

    def _keyed(self, page: EventPage) -> Sequence[KeyedEvent]:
        return [(self.store.session_key(event), event) for event in page.events]

    async def listen(self) -> None:
        """Keeps events recorded while somebody subscribes."""
        if await self.store.active():
            await self.log.listen(LISTENER)

    async def switch_off_failing(self) -> None:
        for subscription_id in await self.store.failing():
            log.warning("the subscription %d is switched off: %s", subscription_id, FAILED_LONG)
            await self.store.switch_off(subscription_id, FAILED_LONG)
