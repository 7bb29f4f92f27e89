"""Durable queues for the peers: a handler stores what it got, and a worker in the same process answers it."""

import asyncio
from contextlib import asynccontextmanager

PARALLEL = 256
"""Messages that a worker answers at a time; more than the bench has under way."""


@asynccontextmanager
async def stored(queue, address, answer):
    """Gives a coroutine function that stores a message (keyword arguments). A worker calls `answer` with each.
    `queue`: "procrastinate", with the DSN of a database, or "arq", with the URL of a Redis."""
    async with {"procrastinate": _procrastinate, "arq": _arq}[queue](address, answer) as store:
        yield store


@asynccontextmanager
async def _procrastinate(dsn, answer):
    from procrastinate import App, PsycopgConnector

    app = App(connector=PsycopgConnector(conninfo=dsn, min_size=4, max_size=32))
    task = app.task(name="answer")(answer)
    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        worker = asyncio.create_task(
            app.run_worker_async(concurrency=PARALLEL, install_signal_handlers=False)
        )
        yield task.defer_async
        worker.cancel()
        await asyncio.gather(worker, return_exceptions=True)


@asynccontextmanager
async def _arq(url, answer):
    from arq import create_pool, func
    from arq.connections import RedisSettings
    from arq.worker import Worker

    async def task(_, message):
        await answer(**message)

    pool = await create_pool(RedisSettings.from_dsn(url))
    # It looks for jobs every half a second by default: so few messages a second would be no measure.
    worker = Worker(
        functions=[func(task, name="answer", keep_result=0)],
        redis_pool=pool,
        max_jobs=PARALLEL,
        poll_delay=0.01,
        handle_signals=False,
    )
    running = asyncio.create_task(worker.async_run())

    async def store(**message):
        await pool.enqueue_job("answer", message)

    yield store
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    await worker.close()
