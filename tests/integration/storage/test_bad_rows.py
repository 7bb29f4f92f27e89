"""A row that cannot be read or stored costs no other row anything."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from psycopg.errors import CheckViolation, RaiseException

from adapters.outbound.storage.health import PostgresHealth
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.conversations import PostgresConversations, Wakeups
from adapters.outbound.storage.queue.inbox import PostgresInbox
from adapters.outbound.storage.queue.leases import INBOUND, LeaseStore
from adapters.outbound.storage.queue.outbox import PostgresOutbox
from adapters.outbound.storage.queue.sends import UntakenAnswers
from adapters.outbound.storage.usage import PostgresUsage
from domain.channels.answers import Answer, OutboundMessage
from domain.channels.messages import CallOutcome, Event, Sender
from domain.instances.model import Activity
from domain.refusals import INTERNAL
from ports.instances import Due
from ports.queue import CallResult, Capacity, EventOutcome, QueueKey
from tests.support.database import an_instance, schedules_of

ROOM = Capacity(100, 100, 100)
NOW = datetime(2026, 11, 20, tzinfo=UTC)


def event(name: str, **changes: object) -> Event:
    return Event(name, name, Sender("x"), name, {"to": name}, **changes)  # type: ignore[arg-type]


class Store:
    def __init__(self, database: Database) -> None:
        self.database = database
        self.health = PostgresHealth(database)
        self.leases = leases = LeaseStore(database, 1, self.health)
        self.untaken = UntakenAnswers(database, lambda: None)
        self.inbox = PostgresInbox(database, lambda: None)
        wakes = Wakeups(lambda: None, lambda: None, lambda _: None)
        self.conversations = PostgresConversations(database, leases, wakes, PostgresUsage(database))
        self.outbox = PostgresOutbox(database, leases, lambda: None)

    async def reasons(self, instance_id: int) -> dict[Activity, str | None]:
        activities = (await self.health.find(instance_id)).activities
        return {activity: noted.last_error for activity, noted in activities.items()}

    async def refuse(self, condition: str, table: str = "inbox") -> None:
        """The database takes no row of the table for which the condition holds."""
        await self.database.execute(f"ALTER TABLE {table} ADD CHECK (NOT ({condition})) NOT VALID")


@pytest.fixture
def store(database: Database) -> Store:
    return Store(database)


@pytest.mark.parametrize(
    "stored", ["{no JSON", "[]", '"text"', "{}", '{"session": "s", "sender": null}', "null"]
)
async def test_a_message_that_cannot_be_read_is_leased_beside_the_others(
    store: Store, instance: int, stored: str
) -> None:
    await store.inbox.add(instance, [event("bad"), event("good")])
    await store.database.execute("UPDATE inbox SET event = %s WHERE event_key = 'bad'", (stored,))

    leased = (await store.conversations.lease(ROOM)).leased

    found = {each.key.session_key: each.queued[0].event for each in leased}
    assert found["good"].text == "good"
    assert found["bad"].unreadable.startswith("the stored message cannot be read")


async def test_a_part_that_cannot_be_read_is_leased_beside_the_others(store: Store, instance: int) -> None:
    await store.inbox.add(instance, [event("bad"), event("good")])
    for each in (await store.conversations.lease(ROOM)).leased:
        parts = (OutboundMessage({"text": each.key.session_key}),)
        await store.conversations.record(EventOutcome(each.key, each.queued[0].id, {}, parts, last=True))
    await store.database.execute("UPDATE outbox SET message = '{no JSON' WHERE session_key = 'bad'")

    leased = (await store.outbox.lease(ROOM)).leased

    found = {each.key.session_key: each.messages[0] for each in leased}
    assert (found["good"].message.payload, found["good"].unreadable) == ({"text": "good"}, "")
    assert found["bad"].unreadable.startswith("the stored message cannot be read")


async def test_a_failure_is_counted_and_the_conversation_waits(store: Store, instance: int) -> None:
    await store.inbox.add(instance, [event("s")])
    [leased] = (await store.conversations.lease(ROOM)).leased
    assert leased.queued[0].failures == 0
    await store.conversations.retry(leased.key, leased.queued[0].id, "no\0 way", 0.0)

    [again] = (await store.conversations.lease(ROOM)).leased
    assert (again.queued[0].failures, again.queued[0].attempts) == (1, 0)
    await store.conversations.retry(again.key, again.queued[0].id, "no way", 3600.0)
    assert (await store.conversations.lease(ROOM)).leased == []
    assert await store.database.fetch("SELECT failures, error FROM inbox") == [(2, "no way")]


async def test_a_message_of_several_that_cannot_be_stored_keeps_none_out(store: Store, instance: int) -> None:
    await store.refuse("event_key = 'bad'")

    with pytest.raises(CheckViolation):
        await store.inbox.add(instance, [event("first"), event("bad"), event("last")])

    assert await store.database.fetch("SELECT event_key FROM inbox ORDER BY id") == [("first",), ("last",)]


async def test_an_outcome_that_cannot_be_stored_costs_those_of_its_batch_nothing(
    store: Store, instance: int
) -> None:
    names = [f"n{number}" for number in range(40)]
    await store.inbox.add(instance, [event(name) for name in names])
    leased = (await store.conversations.lease(ROOM)).leased
    await store.refuse("session_key = 'n7'", "outbox")

    results = await asyncio.gather(
        *(
            store.conversations.record(
                EventOutcome(
                    each.key, each.queued[0].id, {}, (OutboundMessage({}),), last=True, request_id="r"
                )
            )
            for each in leased
        ),
        return_exceptions=True,
    )

    failed = [each.key for each, result in zip(leased, results, strict=True) if result is not True]
    assert failed == [QueueKey(instance, "n7")]
    assert await store.database.fetch_one("SELECT count(*) FROM outbox") == (39,)


async def test_an_answer_nobody_took_that_cannot_go_out_holds_up_no_other(
    store: Store, instance: int
) -> None:
    names = ["no JSON", "refused", "good"]
    await store.inbox.add(instance, [event(name, awaits_reply=True) for name in names], wait=600.0)
    for each in (await store.conversations.lease(ROOM)).leased:
        answer = CallResult(CallOutcome.ANSWERED, Answer("hello"))
        outcome = EventOutcome(
            each.key, each.queued[0].id, {}, (OutboundMessage({}),), result=answer, last=True
        )
        await store.conversations.record(outcome)
    await store.refuse("session_key = 'refused'", "outbox")
    await store.database.execute("UPDATE inbox SET await_until = now() - interval '1 hour'")
    await store.database.execute("UPDATE inbox SET result = '{' WHERE session_key = 'no JSON'")

    assert await store.untaken.send() == 3
    assert await store.untaken.send() == 0, "it is given up"

    assert await store.database.fetch("SELECT session_key FROM outbox") == [("good",)]
    rows = await store.database.fetch("SELECT session_key, status, error IS NULL FROM inbox ORDER BY id")
    assert rows == [("no JSON", 2, False), ("refused", 2, False), ("good", 1, True)]


async def test_a_polled_message_that_cannot_be_stored_keeps_none_out_and_the_cursor_goes_on(
    store: Store, instance: int
) -> None:
    runs = schedules_of(store.database)
    await runs.plan(instance, NOW)
    await runs.lease(1)
    due = await runs.begin(instance)
    assert isinstance(due, Due)
    await store.refuse("starts_with(event_key, 'bad')")
    names = ["a", "bad one", *(f"n{number}" for number in range(50)), "bad two", "z"]

    fresh = await runs.finish(due, [event(name) for name in names], {"at": 5}, NOW)

    assert fresh == [None if name.startswith("bad") else True for name in names]
    await runs.release(due)
    assert await store.database.fetch_one("SELECT cursor, failures FROM schedule") == ('{"at":5}', 0)
    keys = await store.database.fetch("SELECT event_key FROM inbox ORDER BY id")
    assert [key for (key,) in keys] == [name for name in names if not name.startswith("bad")]


async def test_a_conversation_that_cannot_be_leased_keeps_those_of_others_neither_waiting_nor_unprolonged(
    store: Store, instance: int
) -> None:
    others = [await an_instance(store.database, f"n{number}") for number in range(6)]
    for each in (instance, *others):
        await store.inbox.add(each, [event(f"a{each}"), event(f"b{each}")])
    await store.refuse(f"instance_id = {instance} AND owner IS NOT NULL", "queue")

    for _ in range(2):
        leased = (await store.conversations.lease(ROOM)).leased
        assert sorted(each.key.instance_id for each in leased) == sorted([*others, *others])
        await store.leases.renew(
            INBOUND, {*(each.key for each in leased), QueueKey(instance, f"a{instance}")}
        )
        await store.leases.reclaim(INBOUND, [])

    assert await store.reasons(instance) == {
        Activity.PROCESSING: f"its messages cannot be leased, as the database refuses that: {INTERNAL}"
    }
    assert await store.reasons(others[0]) == {}


async def test_leases_are_prolonged_and_given_back_beside_one_that_cannot_be(
    store: Store, instance: int
) -> None:
    await store.inbox.add(instance, [event(name) for name in "abcde"])
    leased = (await store.conversations.lease(ROOM)).leased
    await store.database.execute("UPDATE queue SET due_at = now()")
    await store.refuse("session_key = 'c'", "queue")

    await store.leases.renew(INBOUND, {each.key for each in leased})
    due = await store.database.fetch(
        "SELECT session_key FROM queue WHERE due_at <= now() + interval '1 second'"
    )
    assert due == [("c",)]
    await store.leases.reclaim(INBOUND, [])
    assert await store.database.fetch("SELECT session_key FROM queue WHERE owner IS NOT NULL") == [("c",)]


async def test_a_schedule_that_cannot_be_leased_keeps_no_others_waiting(store: Store, instance: int) -> None:
    runs = schedules_of(store.database)
    others = [await an_instance(store.database, f"n{number}") for number in range(4)]
    for each in (instance, *others):
        await runs.plan(each, NOW)
    await store.refuse(f"instance_id = {instance} AND owner IS NOT NULL", "schedule")

    assert sorted(await runs.lease(100)) == sorted(others)
    assert await runs.lease(100) == []
    reason = f"its polls or firings cannot be begun, as the database refuses that: {INTERNAL}"
    assert await store.reasons(instance) == {Activity.RECEIVING: reason}
    assert await store.reasons(others[0]) == {}


async def test_an_answer_nobody_took_that_cannot_be_taken_up_holds_up_no_other(
    store: Store, instance: int
) -> None:
    await store.inbox.add(
        instance, [event(name, awaits_reply=True) for name in ("refused", "good")], wait=600.0
    )
    for each in (await store.conversations.lease(ROOM)).leased:
        answer = CallResult(CallOutcome.ANSWERED, Answer("hello"))
        outcome = EventOutcome(
            each.key, each.queued[0].id, {}, (OutboundMessage({}),), result=answer, last=True
        )
        await store.conversations.record(outcome)
    await store.database.execute("UPDATE inbox SET await_until = now() - interval '1 hour'")
    await store.refuse("session_key = 'refused' AND taken")

    with pytest.raises(CheckViolation):
        await store.untaken.send()

    assert await store.database.fetch("SELECT session_key FROM outbox") == [("good",)]


@pytest.mark.parametrize("state", ["57014", "40001", "55P03", "XX000"])
async def test_a_refusal_of_one_queue_is_no_outage_whatever_its_state(
    store: Store, instance: int, state: str
) -> None:
    other = await an_instance(store.database, "other")
    for each in (instance, other):
        await store.inbox.add(each, [event(f"e{each}")])
    await store.database.execute(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        f" IF NEW.instance_id = {instance} THEN RAISE EXCEPTION 'no' USING ERRCODE = '{state}'; END IF;"
        " RETURN NEW; END $$"
    )
    await store.database.execute(
        "CREATE TRIGGER refusing BEFORE UPDATE ON queue FOR EACH ROW EXECUTE FUNCTION refuse()"
    )

    [leased] = (await store.conversations.lease(ROOM)).leased
    assert leased.key.instance_id == other


async def test_a_message_that_takes_no_outcome_can_be_removed_with_an_apology(
    store: Store, instance: int
) -> None:
    await store.inbox.add(instance, [event("s"), replace(event("next"), session_id="s"), event("other")])
    await store.database.execute(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$"
    )
    await store.database.execute(
        "CREATE TRIGGER refusing BEFORE UPDATE ON inbox FOR EACH ROW WHEN (OLD.event_key = 's')"
        " EXECUTE FUNCTION refuse()"
    )
    leased = {each.key.session_key: each for each in (await store.conversations.lease(ROOM)).leased}["s"]
    first = leased.queued[0].id
    outcome = EventOutcome(
        leased.key, first, {"to": "s"}, (OutboundMessage({"text": "sorry"}),), "no", last=True
    )
    with pytest.raises(RaiseException):
        await store.conversations.record(outcome)
    with pytest.raises(RaiseException):
        await store.conversations.retry(leased.key, first, "no", 0.0)

    assert await store.conversations.remove(outcome)
    assert not await store.conversations.remove(outcome), "it is gone"

    [reply] = (await store.outbox.lease(ROOM)).leased
    assert [each.message.payload for each in reply.messages] == [{"text": "sorry"}]
    [again] = (await store.conversations.lease(ROOM)).leased
    assert [each.event.key for each in again.queued] == ["next"], "the conversation goes on"
    await store.conversations.record(EventOutcome(again.key, again.queued[0].id, {}, last=True))
    pending = await store.database.fetch("SELECT session_key, pending FROM queue WHERE kind = 0 ORDER BY 1")
    assert pending == [("other", 1), ("s", 0)]
