"""Lists of conversations and messages are read by their indexes."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.outbound.storage.conversations.history import PostgresHistory
from adapters.outbound.storage.conversations.listing import LIST
from adapters.outbound.storage.conversations.messages import BACKWARD, FAILED, FORWARD
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.retention import LONGEST_CONVERSATION, Retention
from domain.conversations.model import ConversationFilter, MessagesWanted

FILL = """
INSERT INTO inbox (instance_id, session_key, event_key, event, status, answer, finished_at)
SELECT %(instance)s, 's' || n %% 1000, 'k' || n,
    '{"session":"s' || n %% 1000 || '","sender":"x","text":"words ' || n || '","target":{},"request":"r"}',
    CASE WHEN n %% 500 = 0 THEN 2 ELSE 1 END,
    '{"text":"an answer","files":[],"choices":[],"author":"resource"}', now()
FROM generate_series(1, 20000) n;
INSERT INTO queue (kind, instance_id, session_key, pending, touched_at)
SELECT 0, %(instance)s, 's' || n, 0, now() - make_interval(secs => n) FROM generate_series(0, 999) n;
INSERT INTO outbox (instance_id, session_key, inbox_id, message, target, key, status)
SELECT instance_id, session_key, id, '{}', '{}', event_key, CASE WHEN id %% 100 = 0 THEN 2 ELSE 1 END FROM inbox;
"""
POSITIONS = {"inbound": 0, "answers": 0, "sends": 0}
LATEST = dict.fromkeys(POSITIONS, 2**62)
ALL: dict[str, Any] = {"waiting": None, "pattern": None, "at": None, "key": None}


@pytest.fixture
async def filled(database: Database, instance: int) -> Database:
    for statement in FILL.split(";\n")[:3]:
        await database.execute(statement, {"instance": instance})
    await database.execute("ANALYZE inbox, outbox, queue, send")
    return database


def _scanned(plan: dict[str, Any]) -> list[str]:
    """The tables that are read without an index."""
    own = [plan["Relation Name"]] if plan["Node Type"] == "Seq Scan" else []
    return own + [name for child in plan.get("Plans", ()) for name in _scanned(child)]


@pytest.mark.parametrize(
    ("statement", "parameters"),
    [
        (LIST, ALL),
        (FORWARD, {"session": "s7", **POSITIONS}),
        (BACKWARD, {"session": "s7", **LATEST}),
        (FAILED, LATEST),
    ],
    ids=["conversations", "messages", "messages backwards", "failed"],
)
async def test_large_tables_are_read_by_index(
    filled: Database, instance: int, statement: str, parameters: dict[str, Any]
) -> None:
    values = {**parameters, "instance": instance, "count": 51}
    [(explained,)] = await filled.fetch(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement}", values)
    plan = explained[0]["Plan"]
    assert set(_scanned(plan)) <= {"send", "tool_confirmation"}, "these are empty"
    assert plan["Shared Hit Blocks"] + plan["Shared Read Blocks"] < 15_000


async def test_pages_hold_all(filled: Database, instance: int) -> None:
    history = PostgresHistory(filled)
    seen: list[str] = []
    cursor = None
    while True:
        page = await history.conversations(instance, ConversationFilter(query="words 7"), 200, cursor)
        seen += [view.session_id for view in page.conversations]
        cursor = page.next
        if cursor is None:
            break
    found = {f"s{n % 1000}" for n in range(1, 20001) if str(n).startswith("7")}
    assert len(seen) == len(set(seen))
    assert set(seen) == found
    failed = await history.failed(instance, 200, None)
    assert (len(failed.messages), failed.next is None) == (200, False)
    page = await history.messages(instance, "s7", MessagesWanted(200)) or pytest.fail("no conversation")
    assert len(page.messages) == 40


async def test_keys_of_erased_events_are_kept_for_two_weeks(database: Database, instance: int) -> None:
    for key, event, days in (("old", "{}", 15), ("young", "{}", 13), ("kept", '{"text":"x"}', 400)):
        await database.execute(
            "INSERT INTO inbox (instance_id, session_key, event_key, event, status, finished_at)"
            " VALUES (%s, 's', %s, %s, 1, now() - make_interval(days => %s))",
            (instance, key, event, days),
        )
    await Retention(database, 7).clean()
    assert await database.fetch_column("SELECT event_key FROM inbox ORDER BY id") == ["young", "kept"]


async def test_conversations_that_go_on_have_a_bound(database: Database, instance: int) -> None:
    old, young = LONGEST_CONVERSATION + 5, 3
    for count, days in ((old, 15), (young, 1)):
        await database.execute(
            "INSERT INTO inbox (instance_id, session_key, event_key, event, status, finished_at)"
            " SELECT %(instance)s, 's', %(days)s::text || ' ' || n, '{\"text\":\"x\"}', 1,"
            " now() - make_interval(days => %(days)s) FROM generate_series(1, %(count)s) n",
            {"instance": instance, "days": days, "count": count},
        )
    await database.execute(
        "INSERT INTO queue (kind, instance_id, session_key, pending) VALUES (0, %s, 's', 0)", (instance,)
    )
    await Retention(database, 7).clean()
    assert await database.fetch_value("SELECT count(*) FROM inbox") == LONGEST_CONVERSATION
    recent = "SELECT count(*) FROM inbox WHERE finished_at > now() - interval '2 days'"
    assert await database.fetch_value(recent) == young


async def test_pages_of_large_messages_are_shorter(database: Database, instance: int) -> None:
    for number in range(5):
        await database.execute(
            "INSERT INTO inbox (instance_id, session_key, event_key, event, status, answer, finished_at)"
            " VALUES (%s, 's', %s, %s, 1, %s, now())",
            (
                instance,
                f"k{number}",
                f'{{"session":"s","sender":"x","text":"{"x" * 400_000}","target":{{}},"request":"{number}"}}',
                f'{{"text":"{"y" * 400_000}","files":[],"choices":[],"author":"resource"}}',
            ),
        )
    history = PostgresHistory(database)
    requests: list[str] = []
    page = await history.messages(instance, "s", MessagesWanted(200))
    while page:
        assert len(page.messages) <= 2
        requests += [f"{message.direction}{message.request_id}" for message in page.messages]
        if page.next is None:
            break
        page = await history.messages(instance, "s", MessagesWanted(200, page.next))
    assert requests == [f"{way}{number}" for number in range(5) for way in ("in", "out")]
