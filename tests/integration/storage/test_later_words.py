"""What platforms say after the fact: of parts whose sending broke off, and of people with another id."""

from datetime import UTC, datetime, timedelta

import pytest

from adapters.outbound.storage.confirmations import PostgresConfirmations
from adapters.outbound.storage.health import PostgresHealth
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.leases import LeaseStore
from adapters.outbound.storage.queue.outbox import PostgresOutbox
from adapters.outbound.storage.sessions import PostgresSessions
from adapters.outbound.storage.unanswered import PostgresChatHistory
from domain.channels.messages import DeliveryStatus, SessionAlias
from domain.confirmations.model import ApprovedTool, Pending
from ports.resources import Role, Turn
from tests.support.database import an_instance

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
LONG_AGO = NOW - timedelta(days=2)


@pytest.fixture
async def instance(database: Database) -> int:
    return await an_instance(database, channel_id="business-messaging")


async def waiting(database: Database, instance: int, attempts: int = 1, owner: int | None = None) -> None:
    """A part with the key k1 that was tried, and one behind it."""
    for key, tried in (("k1", attempts), ("k2", 0)):
        await database.execute(
            "INSERT INTO outbox (instance_id, session_key, message, target, key, attempts, next_attempt_at)"
            " VALUES (%s, 's', '{}', '{}', %s, %s, now() + interval '10 minutes')",
            (instance, key, tried),
        )
    await database.execute(
        "INSERT INTO queue (kind, instance_id, session_key, pending, due_at, owner)"
        " VALUES (1, %s, 's', 2, now() + interval '10 minutes', %s)",
        (instance, owner),
    )


async def told(database: Database, instance: int, status: DeliveryStatus) -> list[str]:
    """Whether the outbox was rung for, after a status of the platform."""
    rung: list[str] = []
    outbox = PostgresOutbox(
        database, LeaseStore(database, 5, PostgresHealth(database)), lambda: rung.append("rung")
    )
    await outbox.record_status(instance, status)
    return rung


async def state(database: Database, instance: int) -> tuple[list[tuple[int, str | None]], int, bool]:
    rows = await database.fetch(
        "SELECT status, ref FROM outbox WHERE instance_id = %s ORDER BY id", (instance,)
    )
    key = await database.fetch_one(
        "SELECT pending, due_at <= now() FROM queue WHERE kind = 1 AND instance_id = %s", (instance,)
    )
    assert key
    return [(status, ref) for status, ref in rows], key[0], key[1]


async def test_a_part_is_known_by_its_key_and_not_sent_again(database: Database, instance: int) -> None:
    await waiting(database, instance)
    status = DeliveryStatus("wamid.1", "sent", key="k1")
    assert await told(database, instance, status) == ["rung"]
    assert await state(database, instance) == ([(1, "wamid.1"), (0, None)], 1, True)
    assert await told(database, instance, status) == []
    assert (await state(database, instance))[1] == 1


@pytest.mark.parametrize(
    ("attempts", "owner", "status"),
    [
        (0, None, DeliveryStatus("wamid.1", "sent", key="k1")),
        (1, 9, DeliveryStatus("wamid.1", "sent", key="k1")),
        (1, None, DeliveryStatus("wamid.1", "failed", failed=True, key="k1")),
        (1, None, DeliveryStatus("wamid.1", "sent", key="k9")),
        (1, None, DeliveryStatus("wamid.1", "sent")),
    ],
    ids=["not tried yet", "being tried", "failed", "another key", "no key"],
)
async def test_a_part_is_left_alone(
    database: Database, instance: int, attempts: int, owner: int | None, status: DeliveryStatus
) -> None:
    await waiting(database, instance, attempts, owner)
    assert await told(database, instance, status) == []
    assert await state(database, instance) == ([(0, None), (0, None)], 2, False)


async def test_the_part_of_another_instance_is_left_alone(database: Database, instance: int) -> None:
    await waiting(database, instance)
    assert await told(database, instance + 1, DeliveryStatus("wamid.1", "sent", key="k1")) == []
    assert (await state(database, instance))[1] == 2


def question(asked_of: str, id: str = "c1") -> Pending:
    return Pending(id, "ring", {}, "nonce", asked_of, 1, "please", NOW + timedelta(minutes=5))


async def test_a_conversation_moves_with_its_person(database: Database, instance: int) -> None:
    history, confirmations = PostgresChatHistory(database), PostgresConfirmations(database)
    sessions = PostgresSessions(database)
    await history.append(instance, "old", "r1", [Turn(Role.USER, "hello")])
    await history.append(instance, "other", "r2", [Turn(Role.USER, "not this")])
    await confirmations.put(instance, "old", question("old"), NOW)
    await database.execute(
        "INSERT INTO tool_approval (instance_id, session_key, tool_key, tool, heard_at)"
        " VALUES (%s, 'old', 'look', %s, %s), (%s, 'old', 'of an earlier version', '\"ring\"', %s)",
        (instance, '"agent::a_0\\nlook"', NOW, instance, NOW),
    )

    for _ in range(2):
        await sessions.rename(instance, "old", "new")

    assert [each.text for each in await history.load(instance, "new", "r9")] == ["hello"]
    assert await history.load(instance, "old", "r9") == []
    found = await confirmations.load(instance, "new", NOW, LONG_AGO)
    assert found.pending
    tools = (ApprovedTool("agent::a_0", "look"), ApprovedTool("", "ring"))
    assert (found.pending.asked_of, found.tools) == ("new", tools)
    assert (await confirmations.load(instance, "old", NOW, LONG_AGO)).pending is None


async def test_what_the_person_has_under_the_new_id_already_stays(database: Database, instance: int) -> None:
    confirmations = PostgresConfirmations(database)
    await confirmations.put(instance, "old", question("old", "c1"), NOW)
    await confirmations.put(instance, "new", question("new", "c2"), NOW)
    await PostgresSessions(database).rename(instance, "old", "new")
    found = await confirmations.load(instance, "new", NOW, LONG_AGO)
    assert found.pending
    assert found.pending.id == "c2"


async def test_another_instance_keeps_its_conversations(database: Database, instance: int) -> None:
    history = PostgresChatHistory(database)
    await history.append(instance, "old", "r1", [Turn(Role.USER, "hello")])
    await PostgresSessions(database).rename(instance + 1, "old", "new")
    assert len(await history.load(instance, "old", "r9")) == 1


async def test_a_further_id_of_a_person_leads_to_the_session(database: Database, instance: int) -> None:
    sessions = PostgresSessions(database)
    assert await sessions.of_alias(instance, "GB.300") is None
    assert await sessions.add_alias(instance, SessionAlias("GB.300", "441632960003"))
    assert not await sessions.add_alias(instance, SessionAlias("GB.300", "441632960003"))
    assert await sessions.of_alias(instance, "GB.300") == "441632960003"
    assert await sessions.of_alias(instance + 1, "GB.300") is None
    assert await sessions.add_alias(instance, SessionAlias("GB.300", "441632960009"))
    assert await sessions.of_alias(instance, "GB.300") == "441632960009"


async def test_a_further_id_moves_with_its_person(database: Database, instance: int) -> None:
    sessions = PostgresSessions(database)
    await sessions.add_alias(instance, SessionAlias("GB.300", "441632960003"))
    await sessions.rename(instance, "441632960003", "441632960009")
    await sessions.rename(instance, "GB.300", "GB.301")
    assert await sessions.of_alias(instance, "GB.300") == "441632960009"
    assert await sessions.of_alias(instance, "GB.301") == "441632960009"


@pytest.mark.parametrize("session", ["", "x" * 1_000_000, "\0"])
async def test_an_id_that_cannot_be_given_back_gets_no_further_one(
    database: Database, instance: int, session: str
) -> None:
    sessions = PostgresSessions(database)
    await sessions.add_alias(instance, SessionAlias("GB." + "x" * 1_000_000, session))
    assert await sessions.of_alias(instance, "GB." + "x" * 1_000_000) in (None, session)


async def test_who_has_a_conversation_keeps_it_when_it_moves(database: Database, instance: int) -> None:
    await database.execute(
        "INSERT INTO queue (kind, instance_id, session_key, pending, due_at, held_until, handler_minutes)"
        " VALUES (0, %s, 'old', 0, now(), now() + interval '1 hour', 60)",
        (instance,),
    )
    for _ in range(2):
        await PostgresSessions(database).rename(instance, "old", "new")
    held = (
        "SELECT held_until > now(), handler_minutes FROM queue WHERE instance_id = %s AND session_key = 'new'"
    )
    assert await database.fetch(held, (instance,)) == [(True, 60)]
