"""How the statements of a message are planned while their tables grow: the same for all values, for no more work, and
with what waits found by an index of its own, whatever room that has left from busier times."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import psycopg
import pytest

from adapters.outbound.storage.arrays import Bigints, Bools, Doubles, Texts, register
from adapters.outbound.storage.conversations import erasure
from adapters.outbound.storage.queue.conversations import columns_of
from adapters.outbound.storage.queue.inbox import NO_IDS
from adapters.outbound.storage.queue.leases import INBOUND, OUTBOUND
from adapters.outbound.storage.queue.statements import SQL
from tests.integration.storage.test_plans_of_new_tables import CAPACITY, ONE_SENT

FILL = """
INSERT INTO inbox (instance_id, session_key, event_key, event, status, finished_at)
SELECT 1, 's' || n % 100, 'k' || n, '{{}}', 1, now() FROM generate_series({first}, {last}) n;
INSERT INTO outbox (instance_id, session_key, message, target, key, ref, status, finished_at)
SELECT 1, 's' || n % 100, '{{}}', '{{}}', 'k' || n, 'r' || n, 1, now() FROM generate_series({first}, {last}) n;
ANALYZE inbox; ANALYZE outbox
"""
WAITING = """
WITH waiting AS (
    SELECT '{name}' || n % 5000 AS session, '{name}' || n AS key FROM generate_series(1, 10000) n
), received AS (
    INSERT INTO inbox (instance_id, session_key, event_key, event) SELECT 1, session, key, '{{}}' FROM waiting
)
INSERT INTO outbox (instance_id, session_key, message, target, key)
SELECT 1, session, '{{}}', '{{}}', key FROM waiting
"""
ALL_BUT_A_FEW = "UPDATE {} SET status = 1, finished_at = now() WHERE status = 0 AND id % 2000 > 0"

ONE_NEW = {
    **NO_IDS, "owner": 1, "instances": Bigints([1]), "sessions": Texts(["s1"]), "keys": Texts(["new"]),
    "events": Texts(["{}"]), "waits": Doubles([None]), "reopens": Bools([True]),
}  # fmt: skip
OUTCOME = {**columns_of([]), "owner": 1}
MESSAGE = {
    "owner": 1, "id": 1, "session_key": "s1", "session_id": "s1", "idempotency_key": None,
    "content": "{}", "author": "person", "instance_id": 1, "target": "{}", "messages": Texts(["{}"]),
    "keys": Texts(["k"]), "offered": None, "taken_by": "ann",
    "assignee": "user:ann", "forced": False, "user": "ann", "trace": None,
}  # fmt: skip
QUEUE = {"instance": 1, "session": "s1"}
STATUS = {**QUEUE, "key": "k", "ref": "r", "reached": 1}
OF_A_MESSAGE = {
    "stored": (SQL["enqueue_events"], ONE_NEW),
    "answered": (SQL["complete_events"], OUTCOME),
    "sent": (SQL["finish_messages"], ONE_SENT),
    "sent by a caller": (SQL["send"], MESSAGE),
}
OF_A_QUEUE: Mapping[str, tuple[str, object, str]] = {
    "outcome": (SQL["complete_events"], OUTCOME, "inbox h"),
    "lease of events": (INBOUND.lease, CAPACITY, "inbox r"),
    "lease of messages": (OUTBOUND.lease, CAPACITY, "outbox r"),
    "recount of events": (INBOUND.recount, (1, "s1", 1), "inbox r"),
    "recount of messages": (OUTBOUND.recount, (1, "s1", 1), "outbox r"),
    "under way as a person answers": (SQL["send"], MESSAGE, "inbox h"),
    "answered by a person": (SQL["send"], MESSAGE, "inbox i"),
    "album": (SQL["album"], {**QUEUE, "album": "a"}, "inbox"),
    "left by a dead worker": (SQL["free_leases"], ([1],), "inbox i"),
    "taken by the platform": (SQL["recognise_message"], STATUS, "outbox o"),
    "erased": (erasure.SQL["delete_unsent"], QUEUE, "outbox"),
}
TYPES = {
    Bigints: "bigint[]", Texts: "text[]", Bools: "bool[]", Doubles: "float8[]", int: "bigint", bool: "bool",
    str: "text", type(None): "text",
}  # fmt: skip


@pytest.fixture
def connection(database_url: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(database_url, autocommit=True) as connection:
        register(connection.adapters)
        yield connection


@pytest.mark.parametrize("name", OF_A_MESSAGE)
def test_more_rows_make_no_statement_of_a_message_dearer(connection: psycopg.Connection, name: str) -> None:
    """PostgreSQL compares the general plan with what plans for single values took so far: while its cost rises, the
    statement is planned anew for each message, which takes longer than the statement."""
    fill(connection, 1, 1000)
    few = cost(general_plan(connection, *OF_A_MESSAGE[name]))
    fill(connection, 1001, 40_000)
    assert cost(general_plan(connection, *OF_A_MESSAGE[name])) < 1.5 * few


@pytest.mark.parametrize("name", OF_A_MESSAGE)
def test_no_plan_for_single_values_seems_cheaper(connection: psycopg.Connection, name: str) -> None:
    statement, parameters = OF_A_MESSAGE[name]
    fill(connection, 1, 5000)
    assert cost(general_plan(connection, statement, parameters)) < 1.1 * cost(
        plan(connection, statement, parameters)
    )


@pytest.mark.parametrize("name", OF_A_QUEUE)
def test_what_waits_is_found_by_its_own_index(connection: psycopg.Connection, name: str) -> None:
    """Its index has much room left from busier times, and all that waits now came after the planner looked."""
    statement, parameters, row = OF_A_QUEUE[name]
    fill(connection, 1, 20_000)
    connection.execute(WAITING.format(name="a").encode())
    for table in ("inbox", "outbox"):
        connection.execute(ALL_BUT_A_FEW.format(table).encode())
        connection.execute(f"VACUUM ANALYZE {table}".encode())
    connection.execute(WAITING.format(name="b").encode())

    found = plan(connection, statement, parameters)

    scans = re.findall(rf"Scan.* on {row}(?:_\d+)? .*", found)
    assert scans, found
    assert all(f"{row.split()[0]}_by_queue" in scan for scan in scans), found


def fill(connection: psycopg.Connection, first: int, last: int) -> None:
    for statement in FILL.split(";"):
        connection.execute(statement.format(first=first, last=last).encode())


def plan(connection: psycopg.Connection, statement: str, parameters: Any) -> str:
    return "\n".join(line for (line,) in connection.execute(f"EXPLAIN {statement}".encode(), parameters))


def general_plan(connection: psycopg.Connection, statement: str, parameters: Mapping[str, object]) -> str:
    """The plan for all values."""
    names = list(dict.fromkeys(re.findall(r"%\((\w+)\)s", statement)))
    text = re.sub(r"%\((\w+)\)s", lambda found: f"${names.index(found[1]) + 1}", statement)
    types = ", ".join(TYPES[type(parameters[name])] for name in names)
    connection.execute("SET plan_cache_mode = force_generic_plan")
    connection.execute(f"DEALLOCATE ALL; PREPARE general ({types}) AS {text}".encode())
    nothing = ", ".join("NULL" for _ in names)
    lines = connection.execute(f"EXPLAIN EXECUTE general ({nothing})".encode()).fetchall()
    return "\n".join(line for (line,) in lines)


def cost(plan: str) -> float:
    found = re.search(r"cost=\S+\.\.(\S+)", plan)
    assert found, plan
    return float(found[1])
