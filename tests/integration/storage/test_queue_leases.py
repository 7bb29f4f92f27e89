"""Queues are leased by one process at a time, with their first rows and in order."""

import asyncio
from collections.abc import Sequence

import pytest

from adapters.outbound.storage.health import PostgresHealth
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.conversations import PostgresConversations, Wakeups
from adapters.outbound.storage.queue.inbox import PostgresInbox
from adapters.outbound.storage.queue.leases import INBOUND, LeaseStore
from adapters.outbound.storage.queue.outbox import PostgresOutbox
from adapters.outbound.storage.queue.statements import ROWS_PER_LEASE
from adapters.outbound.storage.usage import PostgresUsage
from domain.channels.answers import OutboundMessage
from domain.channels.messages import Event, Sender
from ports.outbox import QueuedMessages
from ports.queue import Capacity, Conversation, EventOutcome, QueueKey

ROOM = Capacity(100, 100, 100)


class Process:
    """The storage of one process: `rung` says whom it would have woken."""

    def __init__(self, database: Database, owner: int) -> None:
        self.rung: list[str] = []
        self.leases = LeaseStore(database, owner, PostgresHealth(database))
        wakes = Wakeups(lambda: self.rung.append("in"), lambda: self.rung.append("out"), lambda _: None)
        self.inbox = PostgresInbox(database, lambda: self.rung.append("in"))
        self.conversations = PostgresConversations(database, self.leases, wakes, PostgresUsage(database))
        self.outbox = PostgresOutbox(database, self.leases, lambda: self.rung.append("out"))

    async def leased(self) -> Sequence[Conversation]:
        return (await self.conversations.lease(ROOM)).leased

    async def replies(self) -> Sequence[QueuedMessages]:
        return (await self.outbox.lease(ROOM)).leased

    async def done(
        self, conversation: Conversation, parts: int = 1, error: str | None = None, prompt: bool = False
    ) -> None:
        """The first event is answered, and the conversation given back."""
        first = conversation.queued[0]
        made = [OutboundMessage({"text": f"{first.event.text} {number}"}) for number in range(parts)]
        await self.conversations.record(
            EventOutcome(
                conversation.key,
                first.id,
                {"to": "x"},
                made,
                error,
                last=True,
                request_id="r",
                prompt=prompt,
            )
        )


@pytest.fixture
def one(database: Database) -> Process:
    return Process(database, 1)


@pytest.fixture
def other(database: Database) -> Process:
    return Process(database, 2)


def event(text: str, session: str = "s") -> Event:
    return Event(f"key {text}", session, Sender("x"), text, {}, request_id="r")


async def test_an_idle_conversation_is_leased_once(one: Process, other: Process, instance: int) -> None:
    await one.inbox.add(instance, [event("hello")])
    assert one.rung == ["in"]

    [conversation] = await one.leased()

    assert conversation.key == QueueKey(instance, "s")
    assert conversation.key.user_id == "ann"
    assert [each.event for each in conversation.queued] == [event("hello")]
    assert not conversation.has_open_approval
    assert await other.leased() == []


async def test_what_a_dead_process_leased_is_taken_up(one: Process, other: Process, instance: int) -> None:
    await one.inbox.add(instance, [event("hello")])
    assert await one.leased()

    assert await other.leases.abandoned() == {1}
    await other.leases.free([1])

    [leased] = await other.leased()
    assert [(each.event.text, each.attempts) for each in leased.queued] == [("hello", 1)]


async def test_a_lease_runs_out(database: Database, one: Process, other: Process, instance: int) -> None:
    await one.inbox.add(instance, [event("hello")])
    assert await one.leased()
    row = await database.fetch_one("SELECT due_at - now() > interval '2 seconds' FROM queue")
    assert row == (True,)

    await database.execute("UPDATE queue SET due_at = due_at - interval '31 seconds'")

    assert len(await other.leased()) == 1


async def test_a_conversation_at_work_takes_its_next_message_later(
    one: Process, other: Process, instance: int
) -> None:
    await one.inbox.add(instance, [event("first")])
    [conversation] = await one.leased()
    one.rung.clear()
    await other.inbox.add(instance, [event("second")])
    await one.inbox.add(instance, [event("third")])

    assert await other.leased() == []
    assert other.rung == one.rung == []

    await one.done(conversation, parts=0)

    assert one.rung == ["in"]
    [leased] = await other.leased()
    assert [each.event.text for each in leased.queued] == ["second", "third"]


async def test_one_of_two_processes_gets_it(
    database: Database, one: Process, other: Process, instance: int
) -> None:
    for number in range(20):
        await asyncio.gather(
            one.inbox.add(instance, [event(f"one {number}", f"s{number}")]),
            other.inbox.add(instance, [event(f"other {number}", f"s{number}")]),
        )
    leased = await asyncio.gather(one.leased(), other.leased())

    keys = [each.key for conversations in leased for each in conversations]
    keys += [each.key for each in await one.leased()]  # those whose rows the other one had locked
    assert len(keys) == len(set(keys)) == 20
    rows = await database.fetch("SELECT pending, owner IS NULL FROM queue")
    assert rows == [(2, False)] * 20


async def test_a_long_backlog_is_leased_in_pieces(one: Process, instance: int) -> None:
    many = [event(str(number)) for number in range(ROWS_PER_LEASE + 3)]
    await asyncio.gather(*(one.inbox.add(instance, [each]) for each in many))

    [leased] = await one.leased()
    assert [each.event.text for each in leased.queued] == [str(number) for number in range(ROWS_PER_LEASE)]


async def test_a_message_makes_a_queue_due_at_once(database: Database, one: Process, instance: int) -> None:
    await database.execute(
        "INSERT INTO queue (kind, instance_id, session_key, pending, due_at)"
        " VALUES (0, %s, 's', 0, now() + interval '1 minute')",
        (instance,),
    )

    await one.inbox.add(instance, [event("hello")])

    assert one.rung == ["in"]
    assert [each.key.session_key for each in await one.leased()] == ["s"]


async def test_a_question_that_is_open_comes_with_the_conversation(
    database: Database, one: Process, instance: int
) -> None:
    await database.execute(
        "INSERT INTO tool_approval (instance_id, session_key, tool_key, tool, heard_at)"
        " VALUES (%s, 's', 't', '\"t\"', now())",
        (instance,),
    )

    await one.inbox.add(instance, [event("yes"), event("also yes", "elsewhere")])

    assert {each.key.session_key: each.has_open_approval for each in await one.leased()} == {
        "s": True,
        "elsewhere": False,
    }


async def test_a_redelivery_wakes_nobody(one: Process, instance: int) -> None:
    first = await one.inbox.add(instance, [event("hello")])
    [conversation] = await one.leased()
    await one.done(conversation, parts=0)
    one.rung.clear()

    again = await one.inbox.add(instance, [event("hello")])

    assert [each.fresh for each in (*first, *again)] == [True, False]
    assert one.rung == []
    assert await one.leased() == []


async def test_a_reply_is_leased_with_all_of_its_messages(
    one: Process, other: Process, instance: int
) -> None:
    await one.inbox.add(instance, [event("hello")])
    await one.done(*await one.leased(), parts=3)
    assert one.rung == ["in", "out"]

    [reply] = await one.replies()
    assert [each.message.payload["text"] for each in reply.messages] == ["hello 0", "hello 1", "hello 2"]
    assert len({each.key for each in reply.messages}) == 3
    assert await other.replies() == []

    for number, each in enumerate(reply.messages, start=1):
        await one.outbox.sent(reply.key, each, "", last=number == 3)
    assert await other.replies() == []


async def test_a_reply_behind_another_is_sent_after_it(one: Process, other: Process, instance: int) -> None:
    await one.inbox.add(instance, [event("first")])
    await one.done(*await one.leased())
    [reply] = await one.replies()
    await one.inbox.add(instance, [event("second")])
    one.rung.clear()
    await one.done(*await one.leased())
    assert one.rung == []

    await one.outbox.sent(reply.key, reply.messages[0], "", last=True)

    assert one.rung == ["out"]
    [later] = await other.replies()
    assert [each.message.payload["text"] for each in later.messages] == ["second 0"]


async def test_many_parts_are_leased_in_pieces(one: Process, instance: int) -> None:
    await one.inbox.add(instance, [event("hello")])
    await one.done(*await one.leased(), parts=ROWS_PER_LEASE + 1)

    [reply] = await one.replies()
    assert len(reply.messages) == ROWS_PER_LEASE
    one.rung.clear()
    for number, each in enumerate(reply.messages, start=1):
        await one.outbox.sent(reply.key, each, "", last=number == ROWS_PER_LEASE)
    assert one.rung == ["out"]
    [rest] = await one.replies()
    assert [each.message.payload["text"] for each in rest.messages] == [f"hello {ROWS_PER_LEASE}"]


async def test_a_part_that_is_made_again_has_the_same_key(
    database: Database, one: Process, instance: int
) -> None:
    """As when the database forgot the outcome that it had not yet written to disk."""
    await one.inbox.add(instance, [event("hello")])
    [conversation] = await one.leased()
    await one.done(conversation, parts=2)
    await database.execute("UPDATE inbox SET status = 0")
    await one.done(conversation, parts=2)

    rows = await database.fetch("SELECT key, count(*) FROM outbox GROUP BY 1")
    assert [count for _, count in rows] == [2, 2]


async def test_a_mark_never_meets_another_part_of_the_same_id(
    database: Database, one: Process, instance: int
) -> None:
    """A database that died may forget an outcome, and give the ids of its parts anew."""
    await one.inbox.add(instance, [event("hello")])
    await one.done(*await one.leased())
    [reply] = await one.replies()
    await database.execute("UPDATE outbox SET key = 'another', message = '{}'")

    await one.outbox.sent(reply.key, reply.messages[0], "", last=True)
    await one.outbox.retry(reply.key, reply.messages[0], "busy", 5.0)

    assert await database.fetch("SELECT status, attempts FROM outbox") == [(0, 0)]


async def test_a_lease_says_whether_it_left_any(one: Process, instance: int) -> None:
    for number in range(3):
        await one.inbox.add(instance, [event(f"{number}", session=f"s{number}")])
    first = await one.conversations.lease(Capacity(100, 2, 100))
    assert (len(first.leased), first.more) == (2, True)
    assert not (await one.conversations.lease(Capacity(100, 2, 100, {instance: 0}))).more, (
        "nothing is left to it"
    )
    rest = await one.conversations.lease(Capacity(1, 2, 100))
    assert (len(rest.leased), rest.more) == (1, False)


async def test_a_lease_says_that_another_worker_is_about_those_that_wait(
    one: Process, database: Database, instance: int
) -> None:
    await one.inbox.add(instance, [event("a")])
    async with database.transaction() as connection:
        await connection.execute("SELECT FROM queue FOR UPDATE")
        leases = await one.conversations.lease(ROOM)
        assert (leases.leased, leases.more) == ([], True)
    assert len((await one.conversations.lease(ROOM)).leased) == 1


async def test_a_lease_does_not_go_through_all_that_wait_for_each_queue(database: Database) -> None:
    """As the planner sees it as long as it takes the table for empty, which it was when it was last looked at."""
    await database.execute("ALTER TABLE queue SET (autovacuum_enabled = false)")
    await database.execute("ANALYZE queue")
    await database.execute(
        "INSERT INTO queue (kind, instance_id, session_key, pending)"
        " SELECT 0, 1, n, 1 FROM generate_series(1, 2000) n"
    )
    parameters = {
        "count": 128, "full": [], "full_users": [], "instances": [], "instance_capacity": [], "users": [],
        "user_capacity": [], "per_instance": 64, "per_user": 192, "owner": 1,
    }  # fmt: skip
    plan = await database.fetch("EXPLAIN " + INBOUND.lease, parameters)
    assert sum("queue_due" in line for (line,) in plan) == 1
    assert any("queue_pkey" in line for (line,) in plan)


async def test_a_lease_is_one_prepared_statement_whatever_is_full(one: Process, database: Database) -> None:
    """The types of its parameters do not change with what they hold: each combination would be planned anew."""
    some = Capacity(10, 5, 8, {1: 0, 2**40: 3}, {"somebody": 0, "somebody else": 3})
    for capacity in (Capacity(10, 5, 8), some) * 10:
        await one.conversations.lease(capacity)
    prepared = "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%%SKIP LOCKED%%'"
    assert await database.fetch_value(prepared) == 1


@pytest.mark.parametrize("error", [None, "the resource failed"])
async def test_an_apology_is_known_whoever_sends_it(
    one: Process, other: Process, instance: int, error: str | None
) -> None:
    await one.inbox.add(instance, [event("hello")])
    await one.done(*await one.leased(), error=error)
    [reply] = await one.replies()
    await one.outbox.retry(reply.key, reply.messages[0], "refused", 0.0)

    [leased] = await other.replies()

    assert [each.apology for each in (*reply.messages, *leased.messages)] == [error is not None] * 2


@pytest.mark.parametrize("prompt", [False, True])
async def test_a_question_is_found_by_what_it_answers_once_it_was_sent(
    one: Process, instance: int, prompt: bool
) -> None:
    await one.inbox.add(instance, [event("hello")])
    [conversation] = await one.leased()
    await one.done(conversation, parts=2, prompt=prompt)
    [reply] = await one.replies()
    asked_by = conversation.queued[0].id
    assert await one.outbox.asked(instance, asked_by) == []

    for part, ref in zip(reply.messages, ("m1", "m2"), strict=True):
        await one.outbox.sent(reply.key, part, ref, last=ref == "m2")

    found = await one.outbox.asked(instance, asked_by)
    assert [(each.ref, each.message.payload["text"]) for each in found] == (
        [("m2", "hello 1"), ("m1", "hello 0")] if prompt else []
    )
    assert all(each.target == {"to": "x"} for each in found)
    assert await one.outbox.asked(instance + 1, asked_by) == []
