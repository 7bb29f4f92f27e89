"""Questions about tools in the database: decided once and begun once, whoever comes."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from adapters.outbound.storage.confirmations import PostgresConfirmations
from adapters.outbound.storage.pool import Database
from domain.confirmations.model import ApprovedTool, FoundQuestion, Pending, SessionState

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
DAY, WEEK = timedelta(hours=24), timedelta(days=7)
SESSION = "a session \0 with a NUL and " + "x" * 500


def pending(id: str = "c1", *, asked_by: int = 1) -> Pending:
    parameters = {"to": "ada\0", "n": 2}
    return Pending(id, "tool\0", parameters, "nonce", "ada", asked_by, "please", NOW + timedelta(minutes=10))


def decided(asked: Pending, decision: str, event_id: int) -> Pending:
    return replace(asked, decision=decision, decided_by=event_id, decider="Ada\0 A.")


async def test_comes_back_as_it_was_kept(database: Database, instance: int) -> None:
    store = PostgresConfirmations(database)
    assert await store.load(instance, SESSION, NOW, NOW - DAY) == SessionState()
    await store.put(instance, SESSION, pending(), NOW)
    assert await store.load(instance, SESSION, NOW, NOW - DAY) == SessionState(pending())
    assert await store.load(instance, "another", NOW, NOW - DAY) == SessionState()


async def test_is_decided_by_one_of_many(database: Database, instance: int) -> None:
    store = PostgresConfirmations(database)
    await store.put(instance, SESSION, pending(), NOW)
    tries = [store.decide(instance, SESSION, decided(pending(), "approved", 10 + n), NOW) for n in range(20)]
    assert sum(await asyncio.gather(*tries)) == 1


async def test_is_begun_by_one_of_many(database: Database, instance: int) -> None:
    store = PostgresConfirmations(database)
    await store.put(instance, SESSION, pending(), NOW)
    assert sum(await asyncio.gather(*(store.begin(instance, SESSION, "c1") for _ in range(20)))) == 1


async def test_is_not_decided_at_the_tenth_minute_or_once_replaced(database: Database, instance: int) -> None:
    store = PostgresConfirmations(database)
    await store.put(instance, SESSION, pending(), NOW)
    late = NOW + timedelta(minutes=10)
    assert not await store.decide(instance, SESSION, decided(pending(), "approved", 2), late)
    await store.put(instance, SESSION, pending("c2"), NOW)
    assert not await store.decide(instance, SESSION, decided(pending("c1"), "approved", 2), NOW)
    assert await store.decide(instance, SESSION, decided(pending("c2"), "rejected", 2), NOW)


async def test_a_replacement_is_open_again(database: Database, instance: int) -> None:
    store = PostgresConfirmations(database)
    await store.put(instance, SESSION, pending(), NOW)
    await store.decide(instance, SESSION, decided(pending(), "approved", 2), NOW)
    await store.begin(instance, SESSION, "c1")
    await store.put(instance, SESSION, pending("c2", asked_by=2), NOW)
    assert (await store.load(instance, SESSION, NOW, NOW - DAY)).pending == pending("c2", asked_by=2)
    assert await store.begin(instance, SESSION, "c2")


async def test_approvals_last_until_a_day_of_silence(database: Database, instance: int) -> None:
    store = PostgresConfirmations(database)
    await store.put(instance, SESSION, pending(), NOW)
    await store.decide(instance, SESSION, decided(pending(), "approved_for_session", 2), NOW)
    later = NOW + DAY - timedelta(seconds=1)
    assert (await store.load(instance, SESSION, later, later - DAY)).tools == (ApprovedTool("", "tool\0"),)
    again = later + DAY
    assert (await store.load(instance, SESSION, again, again - DAY)).tools == ()


async def test_what_is_over_is_removed_and_nothing_else(database: Database, instance: int) -> None:
    store = PostgresConfirmations(database)
    await store.put(instance, "open", pending(), NOW)
    await store.put(instance, "decided", pending("c2"), NOW)
    await store.decide(instance, "decided", decided(pending("c2"), "approved_for_session", 2), NOW)
    assert await store.expire(NOW, NOW - DAY, NOW - WEEK) == 0
    soon = NOW + timedelta(minutes=10)
    assert await store.expire(soon, soon - DAY, soon - WEEK) == 1
    assert (await store.load(instance, "decided", soon, soon - DAY)).tools == (ApprovedTool("", "tool\0"),)
    much_later = soon + DAY
    assert await store.expire(much_later, much_later - DAY, much_later - WEEK) == 2


async def test_is_found_by_its_nonce_whatever_became_of_it(database: Database, instance: int) -> None:
    store = PostgresConfirmations(database)
    await store.put(instance, SESSION, pending(), NOW)
    assert await store.find(instance, SESSION, "nonce") == FoundQuestion(pending(), True, True, False)
    assert await store.find(instance, "another", "nonce") == FoundQuestion(pending(), True, False, False)
    assert await store.find(instance + 1, SESSION, "nonce") == FoundQuestion(pending(), False, False, False)
    assert await store.find(instance, SESSION, "another" + "x" * 10_000 + "\0") is None
    assert await store.decide(instance, SESSION, decided(pending(), "approved", 2), NOW)
    await store.close(instance, "c1", NOW)
    known = replace(decided(pending(), "approved", 2), decider="Ada A.")
    assert await store.find(instance, SESSION, "nonce") == FoundQuestion(known, True, True, True)
    assert (await store.load(instance, SESSION, NOW, NOW - DAY)).pending is None


async def test_what_is_over_is_kept_for_a_week(database: Database, instance: int) -> None:
    store = PostgresConfirmations(database)
    await store.put(instance, SESSION, pending(), NOW)
    await store.close(instance, "c1", NOW)
    for later, known in ((NOW + WEEK - timedelta(seconds=1), True), (NOW + WEEK, False)):
        await store.expire(later, later - DAY, later - WEEK)
        assert (await store.find(instance, SESSION, "nonce") is not None) is known


async def test_who_replaces_an_open_question_is_told_of_it(database: Database, instance: int) -> None:
    store = PostgresConfirmations(database)
    assert await store.put(instance, SESSION, pending(), NOW) is None
    assert await store.put(instance, SESSION, pending("c2"), NOW) == pending()
    await store.decide(instance, SESSION, decided(pending("c2"), "rejected", 2), NOW)
    assert await store.put(instance, SESSION, pending("c3"), NOW) is None
