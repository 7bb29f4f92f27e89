"""Which events are put on their way to which subscriptions. Pure.

A subscription has a bounded number of pushes on their way. What does not fit stays in the log of events, and a cursor
says where the subscription goes on reading it: one for a conversation whose pushes are not taken, so that those of
others go on, or one for all of the subscription.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from domain.events import RESET, LoggedEvent
from domain.subscriptions.model import Subscription

MOST_WAITING = 32
"""Pushes of a subscription that wait at once."""
MOST_OF_A_CONVERSATION = 8
ALL = ""
"""In the place of a conversation: all of the subscription."""

Place = tuple[int, str]
"""A subscription and one of its conversations, or `ALL`."""
KeyedEvent = tuple[str, LoggedEvent]
"""An event and the key of its conversation."""


@dataclass(frozen=True, slots=True)
class PlannedPush:
    """`session_key`: pushes of one are sent in order."""

    subscription_id: int
    session_key: str
    event_id: int


@dataclass(frozen=True, slots=True)
class PushState:
    """`position`: the id of the last event that was considered for subscriptions without a cursor of their own.
    `cursors`: events of these places with greater ids were not considered yet. `waiting`: how many pushes wait."""

    position: int
    cursors: Mapping[Place, int]
    waiting: Mapping[Place, int]


@dataclass(slots=True)
class PushPlan:
    """The changes to store: pushes in order, the new position, and all remaining cursors. `waiting` counts the
    waiting pushes, in total and per subscription."""

    position: int
    cursors: dict[Place, int]
    waiting: Counter[Place]
    pushes: list[PlannedPush] = field(default_factory=list)

    @classmethod
    def of(cls, state: PushState) -> "PushPlan":
        waiting = Counter(state.waiting)
        for (subscription_id, _), count in state.waiting.items():
            waiting[subscription_id, ALL] += count
        return cls(state.position, dict(state.cursors), waiting)

    def add(self, subscription: Subscription, session_key: str, event: LoggedEvent) -> None:
        """Puts an event on its way, or begins a cursor before it."""
        all_key, place = (subscription.id, ALL), (subscription.id, session_key)
        if not _is_for(subscription, event) or all_key in self.cursors or place in self.cursors:
            return
        if self.waiting[all_key] >= MOST_WAITING:
            self.cursors[all_key] = event.id - 1
        else:
            self._push(subscription, session_key, event)

    def go_on(
        self, subscription: Subscription, session_key: str, events: Sequence[KeyedEvent], until: int
    ) -> None:
        """Goes on from a cursor, with the events behind it up to the id `until`. A conversation goes on until where
        the whole subscription is."""
        all_key, place = (subscription.id, ALL), (subscription.id, session_key)
        end = self.cursors.get(all_key, self.position) if session_key else self.position
        del self.cursors[place]
        for key, event in events:
            if event.id > end or place in self.cursors:
                break
            if not session_key:
                self.add(subscription, key, event)
            elif key == session_key and _is_for(subscription, event):
                if self.waiting[all_key] < MOST_WAITING:
                    self._push(subscription, key, event)
                else:
                    self.cursors[place] = event.id - 1
        if until < end:
            self.cursors.setdefault(place, until)

    def _push(self, subscription: Subscription, session_key: str, event: LoggedEvent) -> None:
        """Plans a push. Begins a cursor before the event instead if too many pushes of the conversation wait."""
        place = (subscription.id, session_key)
        if self.waiting[place] >= MOST_OF_A_CONVERSATION:
            self.cursors[place] = event.id - 1
            return
        self.pushes.append(PlannedPush(subscription.id, session_key, event.id))
        self.waiting[subscription.id, ALL] += 1
        self.waiting[place] += 1


def _is_for(subscription: Subscription, event: LoggedEvent) -> bool:
    return event.kind != RESET and event.id > subscription.since and subscription.wanted.takes(event)


def has_room(place: Place, waiting: Mapping[Place, int]) -> bool:
    """Return True if half of the pushes that may wait were taken: the log is not read for each single one.
    `waiting` as in `PushPlan`."""
    subscription_id, session_key = place
    in_conversation = waiting.get(place, 0) if session_key else 0
    in_all = waiting.get((subscription_id, ALL), 0)
    return in_all <= MOST_WAITING // 2 and in_conversation <= MOST_OF_A_CONVERSATION // 2


def planned(
    state: PushState, subscriptions: Sequence[Subscription], events: Sequence[KeyedEvent], until: int
) -> PushPlan:
    """The plan for the next events of the log and their conversations, up to the id `until`."""
    plan = PushPlan.of(state)
    for session_key, event in events:
        for subscription in subscriptions:
            plan.add(subscription, session_key, event)
    plan.position = until
    return plan
