"""Which connections are used."""

from contextlib import AsyncExitStack

from adapters.outbound.storage.pool import Database

PID = "SELECT pg_backend_pid()"


async def test_the_connection_that_came_back_last_is_used_next(shared_database: Database) -> None:
    async with AsyncExitStack() as held:
        connections = [await held.enter_async_context(shared_database.connection()) for _ in range(4)]
        pids = {connection.info.backend_pid for connection in connections}
    used = [await shared_database.fetch_value(PID) for _ in range(4)]
    assert len(pids) == 4
    assert used == [used[0]] * 4
    assert used[0] == connections[0].info.backend_pid


async def test_what_gives_no_rows_is_fetched_as_none(shared_database: Database) -> None:
    assert await shared_database.fetch("SET application_name TO 'tests'") == []
    assert await shared_database.fetch("SELECT 1 WHERE false") == []
