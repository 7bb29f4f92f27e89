"""What the statements of a message take alone: the floor under one busy conversation, and under dispatch.

python -m bench.message_floor [--rounds 7]

The statements are the service's own, prepared, from one psycopg connection without a pool, tasks or rules. One
conversation is worked off message by message: its outcome, its call and its mark one after the other. Dispatch shares
statements: a batch has one lease, one outcome and one mark. Beside them stand the two bare calls of a message.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import count

import uvloop

from adapters.outbound.storage import arrays
from adapters.outbound.storage.arrays import Bigints, Bools, Texts
from adapters.outbound.storage.pool import PromptConnection
from adapters.outbound.storage.queue.conversations import columns_of
from adapters.outbound.storage.queue.inbox import InboxRow
from adapters.outbound.storage.queue.inbox import columns_of as columns_of_events
from adapters.outbound.storage.queue.leases import INBOUND, OUTBOUND
from adapters.outbound.storage.queue.statements import SQL, MessageStatus
from bench.database import Database, running_database
from bench.engine import events, plain
from bench.rounds import Figure, Sample, interleaved, middle_of
from domain.channels.answers import Answer, OutboundMessage
from ports.queue import EventOutcome, QueueKey

OWNER = 7
WARM = 100
"""Messages or batches until each statement is prepared and planned for good."""
ALONE, SHARED, CALLS = "one conversation", "batches", "two bare calls"
MESSAGES, BATCHES, BATCH = 1000, 60, 32
TARGET = {"url": "http://127.0.0.1/answers"}
INSTANCE = """
INSERT INTO channel_instance (user_id, channel_id, channel_name, config, resource_id)
VALUES ('bench', 'http-webhook', 'bench', '{}', 'agent::bench') RETURNING id
"""
EVERYTHING: Mapping[str, object] = {
    "count": BATCH,
    "per_instance": BATCH,
    "per_user": BATCH,
    "full": [],
    "full_users": [],
    "instances": [],
    "instance_capacity": [],
    "users": [],
    "user_capacity": [],
    "owner": OWNER,
}
"""What a lease may bring."""


class Bare:
    """The statements of messages of `conversations`, so many at a time."""

    def __init__(self, connection: PromptConnection, instance_id: int, conversations: int) -> None:
        self._connection = connection
        self._instance_id = instance_id
        self._conversations = conversations
        self._numbers = count()

    async def store(self, number: int) -> None:
        """Each conversation gets as many messages."""
        made = events(number, self._conversations, TARGET)
        for at in range(0, number, 128):
            rows = [InboxRow.of(self._instance_id, event) for event in made[at : at + 128]]
            await self._connection.execute(SQL["enqueue_events"], {**columns_of_events(rows)})

    async def lease(self) -> list[tuple[QueueKey, int]]:
        """The next messages of conversations, at most one of each."""
        rows = await (await self._connection.execute(INBOUND.lease, EVERYTHING)).fetchall()
        first = {row[2]: row for row in reversed(rows)}
        return [(QueueKey(row[1], row[2], row[3]), row[4]) for row in first.values()]

    async def complete(self, leased: Sequence[tuple[QueueKey, int]], *, last: bool) -> None:
        """The outcome of each, and the mark on its reply."""
        outcomes = [self._outcome(key, id, last=last) for key, id in leased]
        await self._connection.execute(SQL["complete_events"], {**columns_of(outcomes), "owner": OWNER})
        replies = await (await self._connection.execute(OUTBOUND.lease, EVERYTHING)).fetchall()
        sent = [row[4] for row in replies]
        assert len(sent) == len(leased)
        await self._connection.execute(SQL["finish_messages"], marks(sent, [row[7] for row in replies]))

    def _outcome(self, key: QueueKey, id: int, *, last: bool) -> EventOutcome:
        answer = Answer("hello", request_id=f"r{next(self._numbers)}", session_id="s0")
        message = OutboundMessage({"status": "success", "requestId": answer.request_id, "response": "hello"})
        return EventOutcome(
            key, id, TARGET, (message,), answer=answer, last=last, request_id=answer.request_id
        )


def marks(ids: Sequence[int], keys: Sequence[str]) -> dict[str, object]:
    return {
        "ids": Bigints(ids),
        "keys": Texts(keys),
        "statuses": Bigints(MessageStatus.SENT for _ in ids),
        "refs": Texts(None for _ in ids),
        "errors": Texts(None for _ in ids),
        "lasts": Bools(True for _ in ids),
        "owner": OWNER,
    }


async def _bare(dsn: str, conversations: int) -> Bare:
    connection = await PromptConnection.connect(dsn, autocommit=True)
    arrays.register(connection.adapters)
    row = await (await connection.execute(INSTANCE)).fetchone()
    assert row is not None
    return Bare(connection, row[0], conversations)


async def _alone(database: Database) -> Sample:
    """Message by message; the lease is left out, as it brings eight."""
    bare = await _bare(database.fresh("floor"), 1)
    await bare.store(WARM + MESSAGES)
    [(key, first)] = await bare.lease()
    ids = iter(range(first, first + WARM + MESSAGES))
    for _ in range(WARM):
        await bare.complete([(key, next(ids))], last=False)
    with Timed(database, MESSAGES) as timed:
        for id in ids:
            await bare.complete([(key, id)], last=False)
    return timed.sample


async def _shared(database: Database) -> Sample:
    """Batches of conversations with one message each, leases included."""
    bare = await _bare(database.fresh("floor"), (WARM + BATCHES) * BATCH)
    await bare.store((WARM + BATCHES) * BATCH)
    for _ in range(WARM):
        await bare.complete(await bare.lease(), last=True)
    with Timed(database, BATCHES * BATCH) as timed:
        for _ in range(BATCHES):
            await bare.complete(await bare.lease(), last=True)
    return timed.sample


async def _calls() -> Sample:
    made = await plain(4000)
    return Sample(made.per_second, made.cpu_us)


class Timed:
    """CPU of this process and of the database for each message."""

    def __init__(self, database: Database, messages: int) -> None:
        self._database = database
        self._messages = messages

    def __enter__(self) -> Timed:
        self._began = self._now()
        return self

    def __exit__(self, *_: object) -> None:
        took, own, stored = (
            (now - before) / self._messages for now, before in zip(self._now(), self._began, strict=True)
        )
        self.sample = Sample(1 / took, own * 1e6, stored * 1e6)

    def _now(self) -> tuple[float, float, float]:
        return time.perf_counter(), time.process_time(), self._database.cpu()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    with running_database() as database:
        cases = {
            ALONE: lambda: uvloop.run(_alone(database)),
            SHARED: lambda: uvloop.run(_shared(database)),
            CALLS: lambda: uvloop.run(_calls()),
        }
        samples = interleaved(cases, options.rounds)
    for line in _told(samples):
        print(line)


def _told(samples: Mapping[str, Sequence[Sample]]) -> Iterator[str]:
    for name in samples:
        rate, own, stored = (
            middle_of(dict(samples), name, value) for value in ("rate", "service_us", "database_us")
        )
        yield f"{name}: {rate:,.0f}/s, {own:.0f} + {stored:.0f} µs a message"
    pairs = zip(samples[CALLS], samples[SHARED], strict=True)
    shares = [calls.service_us / (calls.service_us + shared.service_us) for calls, shared in pairs]
    yield f"{CALLS} against the same with the statements of {SHARED}, without PostgreSQL: {Figure.of(shares)}"


if __name__ == "__main__":
    main()
