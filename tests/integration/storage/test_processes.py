"""Messages that no worker works on are noticed."""

import pytest

from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.processes import PostgresProcesses
from adapters.outbound.storage.queue.statements import QueueKind
from apps.processes.readiness import check_workers

WAITING = """
INSERT INTO queue (kind, instance_id, session_key, pending, due_at)
VALUES (%s, 1, 'a', 1, now() - make_interval(secs => %s))
"""


@pytest.mark.parametrize("kind", [QueueKind.INBOUND, QueueKind.OUTBOUND])
async def test_messages_wait_while_no_worker_lives(database: Database, kind: QueueKind) -> None:
    processes = PostgresProcesses(database)
    await processes.beat(1, "core")
    await check_workers(processes)
    await database.execute(WAITING, (kind, 60))
    with pytest.raises(RuntimeError, match=r"no worker runs, and messages have waited for 6. seconds"):
        await check_workers(processes)

    for role in ("worker", "standalone"):
        await processes.beat(2, role)
        await check_workers(processes)
        await processes.leave(2)
        with pytest.raises(RuntimeError, match="start `switchboard worker`"):
            await check_workers(processes)


async def test_a_message_that_is_due_later_waits_for_nobody(database: Database) -> None:
    await database.execute(WAITING, (QueueKind.OUTBOUND, -3600))
    await check_workers(PostgresProcesses(database))


async def test_a_worker_that_was_killed_counts_for_some_seconds(database: Database) -> None:
    processes = PostgresProcesses(database)
    await database.execute(WAITING, (QueueKind.INBOUND, 60))
    await processes.beat(1, "worker")
    await database.execute("UPDATE process SET beat_at = now() - interval '10 s'")
    await check_workers(processes)
    await database.execute("UPDATE process SET beat_at = now() - interval '16 s'")
    with pytest.raises(RuntimeError, match="no worker runs"):
        await check_workers(processes)
