"""Approvals in PostgreSQL: once for each run, one decision, and lists by index."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from adapters.outbound.storage.approvals import PostgresApprovals
from adapters.outbound.storage.pool import Database
from domain.confirmations.requests import ApprovalRequest, ApprovalState
from tests.support.database import an_instance

NOW = datetime(2026, 11, 28, 9, tzinfo=UTC)


@pytest.fixture
async def request_of(database: Database) -> ApprovalRequest:
    return ApprovalRequest(
        instance_id=await an_instance(database),
        session_id="s",
        inbox_id=1,
        request_id="r",
        resource="agent::shop_0",
        tool="refund",
        parameters={"order": 4711},
        approver="team:3",
        sender="Ada",
        original="money back",
        asked_at=NOW,
        expires_at=NOW + timedelta(days=1),
        secret="0815",
        form={"values": {}},
    )


async def test_a_run_asks_once(database: Database, request_of: ApprovalRequest) -> None:
    store = PostgresApprovals(database)
    first = await store.add(request_of)
    again = await store.add(replace(request_of, tool="other", parameters={}))
    assert first is not None
    assert again == first == await store.find(first.id) == replace(request_of, id=first.id)
    assert await database.fetch_value("SELECT count(*) FROM notification_cause") == 1


async def test_of_many_decisions_one_counts(database: Database, request_of: ApprovalRequest) -> None:
    store = PostgresApprovals(database)
    stored = await store.add(request_of)
    assert stored is not None
    users = [f"user {number}" for number in range(8)]
    decided = await asyncio.gather(*(store.decide(stored.id, "approved", user, "", NOW) for user in users))
    [winner] = [request for request in decided if request]
    assert winner == await store.find(stored.id)
    assert winner.decided_by in users


async def test_time_decides_who_may_decide(database: Database, request_of: ApprovalRequest) -> None:
    store = PostgresApprovals(database)
    stored = await store.add(request_of)
    assert stored is not None
    in_time, too_late = stored.expires_at - timedelta(seconds=1), stored.expires_at
    assert await store.expired(in_time) == []
    assert await store.decide(stored.id, "rejected", "", "", in_time) is None
    assert await store.decide(stored.id, "approved", "eve", "", too_late) is None
    assert await store.expired(too_late) == [stored]
    expired = await store.decide(stored.id, "rejected", "", "nobody", too_late)
    assert expired is not None
    assert expired.is_expired


async def test_each_decided_request_is_leased_once_until_it_is_finished(
    database: Database, request_of: ApprovalRequest
) -> None:
    store = PostgresApprovals(database)
    for number in range(3):
        stored = await store.add(replace(request_of, inbox_id=number + 1))
        assert stored is not None
        await store.decide(stored.id, "approved", "eve", "", NOW)
    leases = await asyncio.gather(*(store.lease_decided(20) for _ in range(4)))
    leased = [lease.request.id for batch in leases for lease in batch]
    assert sorted(leased) == sorted(set(leased))
    assert len(leased) == 3
    await store.begin(leased[0])
    await store.finish(leased[1])
    await database.execute("UPDATE approval_request SET due_at = now()")
    assert sorted((lease.request.id, lease.begun) for lease in await store.lease_decided(20)) == sorted(
        [(leased[0], True), (leased[2], False)]
    )


async def test_lists_find_what_waits_among_many_that_are_decided(
    database: Database, request_of: ApprovalRequest
) -> None:
    store = PostgresApprovals(database)
    stored = await store.add(request_of)
    assert stored is not None
    await database.execute(
        "INSERT INTO approval_request (instance_id, inbox_id, session_key, session_id, request_id, approver, detail,"
        " secret, asked_at, expires_at, decision, decided_by, decided_at, finished_at)"
        " SELECT instance_id, n + 1, session_key, session_id, request_id, approver, detail, secret, asked_at,"
        " expires_at, 'approved', 'eve', now(), now() FROM approval_request, generate_series(1, 5000) n"
    )
    await database.execute("ANALYZE approval_request")
    approvers = ["user:eve", "team:3", "team:4"]
    for listed in (approvers, None):
        assert await store.list(listed, ApprovalState.WAITING, None, 51) == [stored]
        decided = await store.list(listed, ApprovalState.DECIDED, None, 51)
        assert len(decided) == 51
        assert [request.id for request in decided] == sorted((each.id for each in decided), reverse=True)
        following = await store.list(listed, None, decided[-1].id, 10)
        assert following[0].id == decided[-1].id - 1
    assert await store.list(["user:bob"], None, None, 51) == []
