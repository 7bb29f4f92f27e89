"""How often we and a machine answered each other within a minute, counted on the lane."""

from __future__ import annotations

import pytest

from adapters.outbound.storage.health import PostgresHealth
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.rounds import PostgresRounds
from domain.channels.messages import Event, OutboundMessage, Sender
from domain.instances.model import Activity
from domain.routing.rounds import MOST_ROUNDS, WINDOW
from ports.inbox import EventOutcome
from tests.integration.storage.test_echoes import ROOM, Storage


class Talk:
    """A conversation with a machine, whose past can be moved back in time."""

    def __init__(self, database: Database, instance: int) -> None:
        self.storage = Storage(database, instance)
        self.rounds = PostgresRounds(database)
        self.number = 0
        self.correspondent = ""

    async def arrive(self, count: int = 1) -> None:
        """Events that come together, as of one poll; those of a correspondent are each a conversation."""
        for _ in range(count):
            self.number += 1
            session = f"thread {self.number}" if self.correspondent else "s"
            event = Event(
                f"key {self.number}",
                session,
                Sender("x"),
                "words",
                {},
                automated=True,
                correspondent=self.correspondent,
            )
            await self.storage.inbox.add(self.storage.instance, [event])
        await self.storage.database.execute(
            "UPDATE inbox SET received_at = (SELECT max(received_at) FROM inbox) WHERE status = 0"
        )

    async def work(self, *, replies: bool = True, by_person: bool = False) -> list[int]:
        """Works off what waits; the counts."""
        counts = []
        while keys := (await self.storage.conversations.lease(ROOM)).leased:
            for leased in keys:
                for waiting in leased.queued:
                    if not by_person:
                        counts.append(await self.count(leased.key, waiting))
                    if replies and self.correspondent:
                        await self.rounds.replied(leased.key, self.correspondent)
                    done = EventOutcome(
                        leased.key,
                        waiting.id,
                        {},
                        [OutboundMessage({"text": "answer"})] if replies else [],
                        last=waiting is leased.queued[-1],
                        by_person=by_person,
                    )
                    assert await self.storage.conversations.record(done)
        return counts

    async def count(self, key: object, waiting: object) -> int:
        found = await self.rounds.count(key, waiting, MOST_ROUNDS, WINDOW)  # type: ignore[arg-type]
        assert not found.echo
        return found.count

    async def alternate(self, times: int, *, replies: bool = True) -> list[int]:
        counts = []
        for _ in range(times):
            await self.arrive()
            counts += await self.work(replies=replies)
        return counts

    async def pass_seconds(self, seconds: float) -> None:
        """All that happened is so much longer ago."""
        span = "make_interval(secs => %s)"
        await self.storage.database.execute(
            f"UPDATE inbox SET received_at = received_at - {span}", (seconds,)
        )
        await self.storage.database.execute(
            f"UPDATE queue SET replied_at = replied_at - {span},"
            f" rounds = ARRAY(SELECT r - {span} FROM unnest(rounds) r)",
            (seconds, seconds),
        )


@pytest.fixture
def talk(database: Database, instance: int) -> Talk:
    return Talk(database, instance)


async def test_each_event_after_a_reply_is_a_round(talk: Talk) -> None:
    assert await talk.alternate(MOST_ROUNDS + 2) == [*range(MOST_ROUNDS + 1), MOST_ROUNDS + 1]


async def test_events_that_come_together_are_one_round(talk: Talk) -> None:
    await talk.arrive(50)
    assert await talk.work() == [0] * 50
    await talk.arrive(50)
    assert await talk.work() == [1] * 50


async def test_events_without_a_reply_are_no_rounds(talk: Talk) -> None:
    assert await talk.alternate(20, replies=False) == [0] * 20


async def test_a_person_begins_the_count_anew(talk: Talk) -> None:
    assert await talk.alternate(6) == [0, 1, 2, 3, 4, 5]
    await talk.arrive()
    await talk.work(by_person=True)
    assert await talk.alternate(2) == [0, 1]


async def test_rounds_of_more_than_a_minute_ago_do_not_count(talk: Talk) -> None:
    await talk.alternate(MOST_ROUNDS)
    await talk.pass_seconds(WINDOW)
    assert await talk.alternate(2) == [1, 2]


async def test_a_stopped_conversation_stays_so_until_a_minute_without_events(talk: Talk) -> None:
    await talk.alternate(MOST_ROUNDS + 2)
    for _ in range(3):
        await talk.pass_seconds(WINDOW / 2)
        assert await talk.alternate(1, replies=False) == [MOST_ROUNDS + 1]
    await talk.pass_seconds(WINDOW)
    assert await talk.alternate(2) == [0, 1]


async def test_rounds_with_a_correspondent_count_over_all_conversations(talk: Talk) -> None:
    talk.correspondent = "away@shop.example"
    assert await talk.alternate(MOST_ROUNDS + 2) == [*range(MOST_ROUNDS + 1), MOST_ROUNDS + 1]
    talk.correspondent = "ann@shop.example"
    assert await talk.alternate(2) == [0, 1]
    talk.correspondent = "away@shop.example"
    assert await talk.alternate(1, replies=False) == [MOST_ROUNDS + 1]
    await talk.pass_seconds(WINDOW)
    assert await talk.alternate(2) == [0, 1]


async def test_many_mails_of_a_correspondent_that_come_together_are_one_round(talk: Talk) -> None:
    talk.correspondent = "archive@shop.example"
    await talk.arrive(40)
    assert await talk.work() == [0] * 40
    await talk.arrive(40)
    assert await talk.work() == [1] * 40


async def test_an_event_that_is_taken_up_again_counts_once(talk: Talk) -> None:
    await talk.alternate(1)
    await talk.arrive()
    [key] = (await talk.storage.conversations.lease(ROOM)).leased
    assert [await talk.count(key.key, key.queued[0]) for _ in range(3)] == [1, 1, 1]


@pytest.mark.parametrize("correspondent", ["", "robot@host.example"])
async def test_health_tells_of_a_loop_as_long_as_it_is_stopped(talk: Talk, correspondent: str) -> None:
    talk.correspondent = correspondent
    health = PostgresHealth(talk.storage.database)
    await talk.alternate(MOST_ROUNDS + 1)
    assert not (await health.find(talk.storage.instance)).looping
    await talk.alternate(1)
    await health.succeeded(talk.storage.instance, Activity.PROCESSING)
    assert (await health.find(talk.storage.instance)).looping, "whatever other conversations do"
    await talk.storage.database.execute(
        "UPDATE queue SET rounds = array(SELECT r - interval '2 minutes' FROM unnest(rounds) r)"
    )
    assert not (await health.find(talk.storage.instance)).looping
