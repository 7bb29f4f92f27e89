"""Loops that outlive failures end when they are cancelled, whatever became of the cancellation within them."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from adapters.inbound.jobs.periodic import PeriodicRunner, PeriodicTask
from adapters.inbound.jobs.uploads import SupervisedWorker, UploadLoop
from adapters.inbound.sockets.supervisor import Supervisor
from adapters.outbound.channels.tests.calls import a_channel
from adapters.tasks import cancelled, end
from domain.refusals import Unavailable

INSTANCES = 140
PATIENCE = 30.0


async def turned(error: Exception, begun: asyncio.Event | None = None) -> None:
    """Waits for ever, and turns its cancellation into another error."""
    if begun:
        begun.set()
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        raise error from None


ERRORS = [Unavailable("the database is away"), RuntimeError("broken")]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("kind", ["periodic", "uploads"])
async def test_a_loop_ends(kind: str, error: Exception) -> None:
    begun = asyncio.Event()

    async def failing(**_: Any) -> None:
        await turned(error, begun)

    loops: dict[str, Callable[[], Awaitable[None]]] = {
        "periodic": PeriodicRunner([PeriodicTask("a task", 3600.0, failing)]).run,
        "uploads": UploadLoop(cast(Any, failing), cast(Any, failing), asyncio.Event(), 1).run,
    }
    running = asyncio.ensure_future(loops[kind]())
    await begun.wait()
    running.cancel()
    await asyncio.wait([running], timeout=PATIENCE)
    assert running.done()


async def test_a_task_that_swallows_its_cancellation_is_waited_for_no_longer_than_asked() -> None:
    released = asyncio.Event()

    async def deaf() -> None:
        while not released.is_set():
            try:
                await released.wait()
            except asyncio.CancelledError:
                assert cancelled()

    task = asyncio.create_task(deaf())
    await asyncio.sleep(0)
    async with asyncio.timeout(PATIENCE):
        await end([task], "a deaf task", 0.01)
    assert not task.done()
    released.set()
    await task


class Leases:
    """Holds all instances; the database answers nothing that is asked on the way out."""

    def __init__(self) -> None:
        self.released = False

    async def acquire(self, _: Sequence[str]) -> Sequence[int]:
        return range(1, INSTANCES + 1)

    async def held_by_other_process(self, _: Sequence[str]) -> Sequence[int]:
        return ()

    async def removed(self, _: Sequence[int]) -> Sequence[int]:
        return ()

    def recorder(self, *_: Any) -> Any:
        return SimpleNamespace()

    async def release_all(self) -> None:
        self.released = True


class Channel:
    """Listens until it is cancelled, and then fails."""

    def __init__(self) -> None:
        self.listening = 0

    def lacks(self) -> str | None:
        return None

    async def listen(self, *_: Any) -> None:
        self.listening += 1
        await turned(Unavailable("the database is away"))

    async def stored(self) -> Sequence[int]:
        return ()

    async def unlink(self, _: int) -> None:
        return


async def test_connections_end_whose_last_message_fails() -> None:
    leases, channel = Leases(), Channel()
    instance = SimpleNamespace(config={}, receiving_config=None, channel_id="any")

    async def cached(_: int) -> Any:
        return instance

    parts: list[Any] = [
        leases,
        SimpleNamespace(cached=cached),
        SimpleNamespace(all=lambda: [a_channel(connector=channel)]),
        SimpleNamespace(),
        SimpleNamespace(),
        SimpleNamespace(),
        SimpleNamespace(),
    ]
    supervisor = Supervisor(*parts, restart_after=0.0)
    await supervisor.check()
    await asyncio.sleep(0)
    assert channel.listening == INSTANCES
    async with asyncio.timeout(PATIENCE):
        await supervisor.stop()
    assert leases.released
    assert channel.listening == INSTANCES, "none was begun anew"
    assert [task for task in asyncio.all_tasks() if "_listen" in repr(task)] == []


async def test_a_worker_of_jobs_without_a_queue_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = asyncio.Event()

    async def run(_: object) -> None:
        await turned(ConnectionError("the queue is away"), begun)

    monkeypatch.setattr("arq.worker.Worker.async_run", run)
    redis: Any = SimpleNamespace(job_serializer=None, job_deserializer=None)

    async def nothing(_: int) -> None:
        return

    worker = SupervisedWorker(redis, "queue", {"nothing": nothing})
    running = asyncio.create_task(worker.run())
    await begun.wait()
    running.cancel()
    await asyncio.wait([running], timeout=PATIENCE)
    assert running.done()
