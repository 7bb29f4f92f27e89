"""A server that hangs with its connections open: callers get their refusal, and cancelled ones their end."""

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

import pytest

from adapters.outbound.storage import pool as connections
from adapters.outbound.storage.pool import Database
from domain.refusals import Unavailable
from tests.support.database import opened

PROMPT = 9.0
"""Less than psycopg itself waits for a server that does not end a cancelled statement: ten seconds."""


@pytest.fixture
async def single(database_url: str) -> AsyncIterator[Database]:
    async with opened(Database(database_url, max_size=1)) as database:
        yield database


@contextmanager
def suspended(pid: int) -> Iterator[None]:
    """The server's process of one connection stands still while the block runs."""
    try:
        os.kill(pid, signal.SIGSTOP)
    except (ProcessLookupError, PermissionError):
        pytest.skip("the server is not this machine's")
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


async def backend(database: Database) -> int:
    row = await database.fetch_one("SELECT pg_backend_pid()")
    assert row is not None
    return int(row[0])


async def test_a_statement_that_is_not_answered_is_refused_in_time(single: Database) -> None:
    with suspended(await backend(single)):
        began = time.monotonic()
        with pytest.raises(Unavailable):
            await single.fetch("SELECT 1", within=0.1)
        assert time.monotonic() - began < PROMPT
        assert await single.fetch_one("SELECT 2") == (2,), "the next caller gets another connection"


async def test_who_is_cancelled_while_the_server_hangs_ends_at_once(single: Database) -> None:
    with suspended(await backend(single)):
        asking = asyncio.create_task(single.fetch("SELECT 1"))
        await asyncio.sleep(0.05)
        asking.cancel()
        _, left = await asyncio.wait([asking], timeout=PROMPT)
        assert not left
        assert asking.cancelled()


async def test_a_cancelled_statement_keeps_the_connection_of_a_server_that_answers(
    single: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "CANCEL_SECONDS", 60.0)  # a busy server takes its time to answer
    before = await backend(single)
    asking = asyncio.create_task(single.fetch("SELECT pg_sleep(3600)"))
    await asyncio.sleep(0.05)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert await backend(single) == before
