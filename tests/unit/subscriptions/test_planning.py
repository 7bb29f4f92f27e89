"""Which events are put on their way when, for subscriptions whose addresses take them sooner or later."""

from collections import Counter
from datetime import UTC, datetime
from random import Random

import pytest

from domain.events import RESET, EventKind, LoggedEvent
from domain.subscriptions.model import Subscription
from domain.subscriptions.planning import (
    ALL,
    MOST_OF_A_CONVERSATION,
    MOST_WAITING,
    Place,
    PushPlan,
    PushState,
    has_room,
    planned,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def event(id: int, session: str = "s") -> tuple[str, LoggedEvent]:
    return session, LoggedEvent(id, EventKind.MESSAGE_RECEIVED, NOW, 1, session, owner="ann")


def subscription(id: int, since: int = 0) -> Subscription:
    return Subscription(id, "ann", "https://a.example", (), (), NOW, NOW, since=since)


class Log:
    """A log with what waits of it, as the database keeps it. `stuck`: conversations that nobody takes at present."""

    def __init__(self, *subscriptions: Subscription) -> None:
        self.subscriptions = {each.id: each for each in subscriptions}
        self.events: list[tuple[str, LoggedEvent]] = []
        self.position = 0
        self.cursors: dict[Place, int] = {}
        self.waiting: list[tuple[int, str, int]] = []
        self.taken: list[tuple[int, str, int]] = []
        self.stuck: set[tuple[int, str]] = set()

    def happen(self, *sessions: str) -> None:
        start = len(self.events) + 1
        page = [event(start + number, session) for number, session in enumerate(sessions)]
        self.events += page
        state = PushState(self.position, self.cursors, self.counts())
        self.store(planned(state, list(self.subscriptions.values()), page, len(self.events)))

    def counts(self) -> dict[Place, int]:
        return dict(Counter((id, session) for id, session, _ in self.waiting))

    def store(self, plan: PushPlan) -> None:
        self.position, self.cursors = plan.position, plan.cursors
        self.waiting += [(push.subscription_id, push.session_key, push.event_id) for push in plan.pushes]
        counts = self.counts()
        assert all(count <= MOST_OF_A_CONVERSATION for count in counts.values())
        for id in self.subscriptions:
            assert sum(count for place, count in counts.items() if place[0] == id) <= MOST_WAITING

    def take(self) -> None:
        """The addresses take what is not stuck, in order within a conversation."""
        left = [push for push in self.waiting if push[:2] in self.stuck or (push[0], ALL) in self.stuck]
        self.taken += [push for push in self.waiting if push not in left]
        self.waiting = left

    def catch_up(self, page: int = 7) -> None:
        for place, position in list(self.cursors.items()):
            state = PushState(self.position, self.cursors, self.counts())
            if has_room(place, PushPlan.of(state).waiting):
                behind = [each for each in self.events if each[1].id > position][:page]
                plan = PushPlan.of(state)
                plan.go_on(
                    self.subscriptions[place[0]],
                    place[1],
                    behind,
                    behind[-1][1].id if len(behind) == page else len(self.events),
                )
                self.store(plan)

    def settle(self) -> None:
        for _ in range(2000):
            self.take()
            self.catch_up()
            if not (self.waiting or self.cursors):
                return
        raise AssertionError((self.cursors, self.waiting))


def test_an_address_that_takes_nothing_has_a_bounded_number_of_pushes_waiting() -> None:
    log = Log(subscription(1), subscription(2))
    log.stuck = {(1, ALL)}
    for number in range(500):
        log.happen(f"s{number % 20}", f"s{number % 3}")
        log.take()
        log.catch_up()
    assert Counter(id for id, *_ in log.waiting)[1] == MOST_WAITING
    assert Counter(id for id, *_ in log.taken)[2] == 1000
    log.stuck.clear()
    log.settle()
    assert Counter(id for id, *_ in log.taken) == {1: 1000, 2: 1000}


def test_a_conversation_that_is_not_taken_does_not_hold_up_others() -> None:
    log = Log(subscription(1))
    log.stuck = {(1, "bad")}
    for _ in range(200):
        log.happen("bad", "good")
        log.take()
        log.catch_up()
    assert Counter(session for _, session, _ in log.taken) == {"good": 200}
    assert len(log.waiting) == MOST_OF_A_CONVERSATION


@pytest.mark.parametrize("seed", range(30))
def test_every_event_is_pushed_once_and_in_the_order_of_its_conversation(seed: int) -> None:
    random = Random(seed)
    log = Log(*(subscription(id) for id in range(1, 5)))
    sessions = [f"s{number}" for number in range(random.randint(1, 12))]
    for _ in range(150):
        log.happen(*(random.choice(sessions) for _ in range(random.randint(1, 30))))
        if random.random() < 0.3:
            places = [(id, session) for id in log.subscriptions for session in (ALL, *sessions)]
            log.stuck = set(random.sample(places, random.randint(0, 6)))
        log.take()
        for _ in range(random.randint(0, 3)):
            log.catch_up(random.randint(1, 40))
            log.take()
    log.stuck.clear()
    log.settle()
    for id in log.subscriptions:
        for session in sessions:
            told = [event_id for to, key, event_id in log.taken if (to, key) == (id, session)]
            assert told == [event.id for key, event in log.events if key == session]


def test_what_happened_before_it_was_switched_on_is_not_pushed() -> None:
    reset = "", LoggedEvent(3, RESET, NOW)
    plan = planned(PushState(0, {}, {}), [subscription(1, since=2)], [event(1), event(2), reset, event(4)], 4)
    assert [push.event_id for push in plan.pushes] == [4]
