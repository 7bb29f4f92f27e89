"""Every table has an owner or an age; old rows go in small steps, by an index, by one process at a time."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from adapters.outbound.storage import retention as runner
from adapters.outbound.storage.conversations.erasure import ConversationExpiry
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.retention import KEPT, REDELIVERY, Retention, Times, rules
from bench.year_rows import CONVERSATIONS, INSTANCES, SEQUENCES, store_part
from tests.support.database import an_instance

PAGE = Path(__file__).parents[3] / "docs/retention.md"
DAY = timedelta(days=1)
TIMES = Times(events=7 * DAY, messages=20 * DAY, dead_letters=18 * DAY)
TABLES = """
SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname = 'public'
"""
OUTBOX = """
INSERT INTO outbox (instance_id, session_key, message, target, key, status, finished_at)
SELECT %(instance)s, 's', '{}', '{}', gen_random_uuid()::text, %(status)s, now() - make_interval(days => n)
FROM generate_series(1, %(days)s) n
"""
INBOX = """
INSERT INTO inbox (instance_id, session_key, event_key, event, status, finished_at)
SELECT %(instance)s, 's', gen_random_uuid()::text, '{"text":"x"}', 1, now() - make_interval(days => n)
FROM generate_series(1, %(days)s) n
"""
PENDING, SENT, DEAD = 0, 1, 2


async def test_the_page_names_every_table(shared_database: Database) -> None:
    """A new table needs a line that tells what bounds it."""
    section = PAGE.read_text().partition("## Tables")[2].partition("\n## ")[0]
    lines = [line.split("|")[1:4] for line in section.splitlines() if line.startswith("| `")]
    named = {name for table, *_ in lines for name in re.findall(r"`(\w+)`", table)}
    assert named == set(await shared_database.fetch_column(TABLES))
    assert all(bound.strip() for _, _, bound in lines)


async def test_old_rows_are_found_by_an_index_that_is_in_order(database: Database, instance: int) -> None:
    for status in (SENT, DEAD):
        await database.execute(OUTBOX, {"instance": instance, "status": status, "days": 3000})
    await database.execute(INBOX, {"instance": instance, "days": 6000})
    await database.execute("UPDATE inbox SET event = '{}', session_key = 'sha256:' WHERE id % 20 = 0", None)
    await database.execute("ANALYZE inbox, outbox")
    for rule in rules(TIMES):
        values = {"now": None, "kept": rule.kept, "kept0": rule.kept, "batch": 1000, "after": rule.start}
        for statement in (rule.delete, rule.overdue(0)):
            plan = await _plan(database, statement, values)
            assert f"using {rule.index}" in plan, rule.name
            assert "Seq Scan" not in plan, rule.name


async def _plan(database: Database, statement: str, values: dict[str, Any]) -> str:
    """Small tables are planned as if they were large."""
    async with database.transaction() as connection:
        for node in ("seqscan", "bitmapscan", "sort"):
            await connection.execute(f"SET LOCAL enable_{node} = off")
        rows = await (await connection.execute(f"EXPLAIN {statement}", values)).fetchall()
    return "\n".join(line for (line,) in rows)


async def test_each_table_holds_what_its_limit_allows_after_a_month(database: Database) -> None:
    """The small form of `bench.year`: ten steps of three days, 200 messages each."""
    await an_instance(database, "first")
    await database.execute(INSTANCES.replace("2000)", "20)"))
    fewer = CONVERSATIONS.replace("18000", "480").replace("20000", "500").replace("2000", "20")
    await database.execute(fewer, {"days": 30})
    begin = datetime.now(UTC) - 30 * DAY
    retention, expiry = Retention(database, TIMES), ConversationExpiry(database, 10)
    for step in range(10):
        with psycopg.connect(database.dsn, autocommit=True) as connection:
            times = (begin + 3 * step * DAY, begin + 3 * (step + 1) * DAY)
            store_part(connection, 3 * step, 200 * step, 200, *times)
            connection.execute(SEQUENCES)
        end = begin + 3 * (step + 1) * DAY
        await expiry.clean(end)
        await retention.clean(end)
        assert not any((await retention.overdue(end)).values())
    oldest = "SELECT min({column}) FROM {table} WHERE {where}"
    for rule in retention.rules:
        left = await database.fetch_value(
            oldest.format(column=rule.column, table=rule.table, where=rule.where)
        )
        assert left is None or left >= end - rule.kept, rule.name
    silent = "SELECT count(*) FROM queue WHERE kind = 0 AND touched_at < %s"
    assert await database.fetch_value(silent, (end - 10 * DAY,)) == 0
    assert 0 < await database.fetch_value("SELECT count(*) FROM inbox") < 2000


async def _days_left(database: Database, table: str, where: str = "true") -> int:
    return int(await database.fetch_value(f"SELECT count(*) FROM {table} WHERE {where}"))


async def test_dead_letters_sent_messages_and_old_messages_have_ages_of_their_own(
    database: Database, instance: int
) -> None:
    for status in (SENT, DEAD):
        await database.execute(OUTBOX, {"instance": instance, "status": status, "days": 30})
    await database.execute(INBOX, {"instance": instance, "days": 30})
    await Retention(database, TIMES).clean()
    assert await _days_left(database, "outbox", "status = 1") == REDELIVERY.days - 1
    assert await _days_left(database, "outbox", "status = 2") == TIMES.dead_letters.days - 1
    assert await _days_left(database, "inbox") == TIMES.messages.days - 1


async def test_steps_are_small_and_take_all(
    database: Database, instance: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "BATCH", 7)
    await database.execute(OUTBOX, {"instance": instance, "status": SENT, "days": 80})
    told: list[tuple[str, int]] = []
    await Retention(database, TIMES, lambda *step: told.append(step)).clean()
    assert await _days_left(database, "outbox") == REDELIVERY.days - 1
    removed = [rows for table, rows in told if table == "outbox"]
    assert max(removed) == 7
    assert sum(removed) == 80 - REDELIVERY.days + 1


async def test_a_run_that_is_over_goes_on_with_the_next(
    database: Database, instance: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As often as one does not get to the end."""
    monkeypatch.setattr(runner, "BATCH", 10)
    await database.execute(INBOX, {"instance": instance, "days": 50})
    retention, left = Retention(database, TIMES), [50]
    retention.rules = [rule for rule in retention.rules if rule.name == "messages"]
    while left[-1] > TIMES.messages.days - 1:
        await retention.clean(seconds=0)
        left.append(await _days_left(database, "inbox"))
        assert len(left) < 10
    assert left[-1] == TIMES.messages.days - 1


async def test_one_process_cleans_at_a_time(database: Database, instance: int) -> None:
    await database.execute(INBOX, {"instance": instance, "days": 30})
    async with database.transaction() as other:
        await other.execute(runner.SQL["lock_retention"])
        assert await Retention(database, TIMES).clean() == 0
    assert await Retention(database, TIMES).clean() > 0


async def test_rows_of_a_removed_instance_go_and_its_note_after_an_hour(database: Database) -> None:
    gone, stays = await an_instance(database, "gone"), await an_instance(database, "stays")
    for instance in (gone, stays):
        await _rows_of(database, instance)
    await database.execute("DELETE FROM channel_instance WHERE id = %s", (gone,))
    await Retention(database, TIMES).clean()
    await _rows_of(database, gone)  # by a transaction that began before
    await Retention(database, TIMES).clean()
    for table in ("inbox", "outbox", "queue", "event_log", "message_file"):
        assert await database.fetch_column(f"SELECT DISTINCT instance_id FROM {table}") == [stays], table
    assert await _days_left(database, "removed_instance") == 1
    await database.execute("UPDATE removed_instance SET removed_at = now() - interval '2 hours'")
    await Retention(database, TIMES).clean()
    assert await _days_left(database, "removed_instance") == 0


async def _rows_of(database: Database, instance: int) -> None:
    values = {"instance": instance, "days": 2, "status": PENDING}
    statements: Sequence[str] = (
        INBOX,
        OUTBOX,
        (
            "INSERT INTO queue (kind, instance_id, session_key, pending) SELECT n, %(instance)s, 's', 0"
            " FROM generate_series(0, 2) n"
        ),
        "INSERT INTO event_log (kind, instance_id, session_key) VALUES ('message.received', %(instance)s, 's')",
        (
            "INSERT INTO message_file (instance_id, session_key, inbound, blob_key, name, mime_type, size)"
            " VALUES (%(instance)s, 's', true, 'k', 'n', 't', 1)"
        ),
    )
    for statement in statements:
        await database.execute(statement, values)


async def test_rows_of_a_file_that_is_sent_again_and_again_go_by_age(
    database: Database, instance: int
) -> None:
    await database.execute("INSERT INTO blob (key, size, reference_count) VALUES ('k', 1, 20)")
    file: dict[str, Any] = {"instance": instance, "days": KEPT.days + 9}
    await database.execute(
        "INSERT INTO message_file (instance_id, session_key, inbound, blob_key, name, mime_type, size, created_at)"
        " SELECT %(instance)s, 's', true, 'k', 'n', 't', 1, now() - make_interval(days => n)"
        " FROM generate_series(%(days)s - 19, %(days)s) n",
        file,
    )
    await Retention(database, TIMES).clean()
    assert await _days_left(database, "message_file") == 10
    assert await database.fetch_value("SELECT reference_count FROM blob") == 10


async def test_what_is_overdue_is_told(database: Database, instance: int) -> None:
    retention = Retention(database, TIMES)
    assert await retention.late() == []
    await database.execute(INBOX, {"instance": instance, "days": TIMES.messages.days + 3})
    found = await retention.overdue()
    assert found["messages"] == pytest.approx(3 * 86_400, rel=0.1)
    assert await retention.late() == ["messages"]
    assert await retention.bloated() == []
