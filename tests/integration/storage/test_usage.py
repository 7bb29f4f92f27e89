"""Usage is added with the outcome, once, whatever becomes of the outcome."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from adapters.outbound.storage.health import PostgresHealth
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.conversations import PostgresConversations, Wakeups
from adapters.outbound.storage.queue.inbox import PostgresInbox
from adapters.outbound.storage.queue.leases import LeaseStore
from adapters.outbound.storage.usage import PostgresUsage
from domain.channels.messages import Event, Sender
from domain.channels.provenance import Usage
from domain.paging import LARGEST_LIMIT
from domain.refusals import Invalid, StorageAway
from domain.usage.model import Dimension, RunUsage, UsageFilter, UsageSum
from ports.queue import Capacity, Conversation, EventOutcome

RUN = RunUsage("agent::a", "ann", Usage(9, 4), 0.5, 0.25, "EUR")


class Scene:
    def __init__(self, database: Database, instance: int) -> None:
        nobody = Wakeups(lambda: None, lambda: None, lambda _: None)
        self.usage = PostgresUsage(database)
        leases = LeaseStore(database, 1, PostgresHealth(database))
        self.conversations = PostgresConversations(database, leases, nobody, self.usage)
        self.inbox, self.instance = PostgresInbox(database, lambda: None), instance

    async def leased(self, *sessions: str) -> Sequence[Conversation]:
        for session in sessions:
            event = Event(f"key {session}", session, Sender("x"), "hello", {}, request_id="r")
            await self.inbox.add(self.instance, [event])
        return (await self.conversations.lease(Capacity(100, 100, 100))).leased

    async def record(self, conversation: Conversation, *runs: RunUsage) -> bool:
        queued = conversation.queued[0]
        return await self.conversations.record(
            EventOutcome(conversation.key, queued.id, {}, last=True, usage=runs)
        )

    async def sums(self, *by: Dimension) -> Sequence[UsageSum]:
        await self.usage.flush()
        today = datetime.now(UTC).date()
        days = (today - timedelta(days=1), today + timedelta(days=1))
        return (await self.usage.list(UsageFilter(by, *days), LARGEST_LIMIT, None)).items


@pytest.fixture
def scene(database: Database, instance: int) -> Scene:
    return Scene(database, instance)


async def test_many_outcomes_at_once_add_up(scene: Scene) -> None:
    leased = await scene.leased(*(f"s{number}" for number in range(20)))
    other = RunUsage("agent::b", "bob", Usage(1, 1), 0.25)
    assert all(await asyncio.gather(*(scene.record(conversation, RUN, other) for conversation in leased)))
    b, a = await scene.sums(Dimension.AGENT, Dimension.USER, Dimension.INSTANCE)
    if a.resource_id != "agent::a":
        a, b = b, a
    assert (a.runs, a.input_tokens, a.output_tokens, a.seconds, a.cost) == (20, 180, 80, 10, 5)
    assert (b.runs, b.input_tokens, b.user_id, b.currency) == (20, 20, "bob", None)
    assert a.instance_id == scene.instance


async def test_an_outcome_that_is_stored_again_adds_nothing(scene: Scene) -> None:
    [conversation] = await scene.leased("s")
    assert await scene.record(conversation, RUN)
    assert not await scene.record(conversation)
    [total] = await scene.sums(Dimension.AGENT)
    assert total.runs == 1


async def test_what_an_outcome_took_that_is_not_stored_counts_all_the_same(scene: Scene) -> None:
    [conversation] = await scene.leased("s")
    assert await scene.record(conversation, RUN)
    assert not await scene.record(conversation, RUN)  # another process was quicker
    [total] = await scene.sums(Dimension.AGENT)
    assert (total.runs, total.input_tokens) == (2, 18)


async def test_what_cannot_be_added_yet_is_kept(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    async def away(*_: object) -> None:
        raise StorageAway("away")

    scene.usage.keep(7, [RUN])
    with monkeypatch.context() as patch:
        patch.setattr(Database, "execute", away)
        with pytest.raises(StorageAway):
            await scene.usage.flush()
    scene.usage.keep(7, [RUN])
    [total] = await scene.sums(Dimension.AGENT)
    assert total.runs == 2


async def test_a_run_counts_for_the_day_on_which_it_was_put_on_record(
    scene: Scene, database: Database
) -> None:
    scene.usage.keep(7, [RUN])
    await scene.usage.flush()
    await database.execute("UPDATE usage_run SET at = at - interval '1 day'")
    scene.usage.keep(7, [RUN, RUN])
    yesterday, today = await scene.sums(Dimension.DAY)
    assert (yesterday.runs, today.runs) == (1, 2)
    assert yesterday.day is not None
    assert today.day is not None
    assert yesterday.day < today.day
    assert await database.fetch("SELECT FROM usage_run") == []


@pytest.mark.parametrize("cursor", ["x", "WzFd", "WyJ4IiwgMSwgIiIsICIiLCAiIl0"])
async def test_a_cursor_that_nobody_gave_is_refused(scene: Scene, cursor: str) -> None:
    today = datetime.now(UTC).date()
    with pytest.raises(Invalid):
        await scene.usage.list(UsageFilter([Dimension.DAY], today, today), 5, cursor)
