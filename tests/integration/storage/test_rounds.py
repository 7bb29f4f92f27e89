"""How often we and a machine answered each other within a minute, counted on the lane."""

import pytest

from adapters.outbound.storage.health import PostgresHealth
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.conversations import PostgresRounds
from domain.channels.answers import OutboundMessage
from domain.channels.messages import Event, Sender
from domain.instances.model import Activity
from domain.routing.model import MOST_ROUNDS, WINDOW
from ports.queue import EventOutcome
from tests.integration.storage.test_echoes import ROOM, Storage


class Exchange:
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
def exchange(database: Database, instance: int) -> Exchange:
    return Exchange(database, instance)


async def test_each_event_after_a_reply_is_a_round(exchange: Exchange) -> None:
    assert await exchange.alternate(MOST_ROUNDS + 2) == [*range(MOST_ROUNDS + 1), MOST_ROUNDS + 1]


async def test_events_that_come_together_are_one_round(exchange: Exchange) -> None:
    await exchange.arrive(50)
    assert await exchange.work() == [0] * 50
    await exchange.arrive(50)
    assert await exchange.work() == [1] * 50


async def test_events_without_a_reply_are_no_rounds(exchange: Exchange) -> None:
    assert await exchange.alternate(20, replies=False) == [0] * 20


async def test_a_person_begins_the_count_anew(exchange: Exchange) -> None:
    assert await exchange.alternate(6) == [0, 1, 2, 3, 4, 5]
    await exchange.arrive()
    await exchange.work(by_person=True)
    assert await exchange.alternate(2) == [0, 1]


async def test_rounds_of_more_than_a_minute_ago_do_not_count(exchange: Exchange) -> None:
    await exchange.alternate(MOST_ROUNDS)
    await exchange.pass_seconds(WINDOW)
    assert await exchange.alternate(2) == [1, 2]


async def test_a_stopped_conversation_stays_so_until_a_minute_without_events(exchange: Exchange) -> None:
    await exchange.alternate(MOST_ROUNDS + 2)
    for _ in range(3):
        await exchange.pass_seconds(WINDOW / 2)
        assert await exchange.alternate(1, replies=False) == [MOST_ROUNDS + 1]
    await exchange.pass_seconds(WINDOW)
    assert await exchange.alternate(2) == [0, 1]


async def test_rounds_with_a_correspondent_count_over_all_conversations(exchange: Exchange) -> None:
    exchange.correspondent = "away@shop.example"
    assert await exchange.alternate(MOST_ROUNDS + 2) == [*range(MOST_ROUNDS + 1), MOST_ROUNDS + 1]
    exchange.correspondent = "ann@shop.example"
    assert await exchange.alternate(2) == [0, 1]
    exchange.correspondent = "away@shop.example"
    assert await exchange.alternate(1, replies=False) == [MOST_ROUNDS + 1]
    await exchange.pass_seconds(WINDOW)
    assert await exchange.alternate(2) == [0, 1]


async def test_many_mails_of_a_correspondent_that_come_together_are_one_round(exchange: Exchange) -> None:
    exchange.correspondent = "archive@shop.example"
    await exchange.arrive(40)
    assert await exchange.work() == [0] * 40
    await exchange.arrive(40)
    assert await exchange.work() == [1] * 40


async def test_an_event_that_is_taken_up_again_counts_once(exchange: Exchange) -> None:
    await exchange.alternate(1)
    await exchange.arrive()
    [key] = (await exchange.storage.conversations.lease(ROOM)).leased
    assert [await exchange.count(key.key, key.queued[0]) for _ in range(3)] == [1, 1, 1]


@pytest.mark.parametrize("correspondent", ["", "robot@host.example"])
async def test_health_tells_of_a_loop_as_long_as_it_is_stopped(
    exchange: Exchange, correspondent: str
) -> None:
    exchange.correspondent = correspondent
    health = PostgresHealth(exchange.storage.database)
    await exchange.alternate(MOST_ROUNDS + 1)
    assert not (await health.find(exchange.storage.instance)).looping
    await exchange.alternate(1)
    await health.succeeded(exchange.storage.instance, Activity.PROCESSING)
    assert (await health.find(exchange.storage.instance)).looping, "whatever other conversations do"
    await exchange.storage.database.execute(
        "UPDATE queue SET rounds = array(SELECT r - interval '2 minutes' FROM unnest(rounds) r)"
    )
    assert not (await health.find(exchange.storage.instance)).looping
