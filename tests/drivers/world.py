"""One running service for a scenario: all its parts in an event loop of their own, on a database of its own.

Steps are synchronous; `World.run` hands a coroutine to the loop and waits for it.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

from dependency_injector import providers

from adapters.outbound.system.encryption import new_key
from apps.compose.container import Container
from apps.grpc_server.main import GrpcComponent
from apps.processes.components import JobsComponent, StorageComponent, SubscriptionsComponent, WorkerComponent
from apps.processes.knowledge import KnowledgeComponent, ReadersComponent
from apps.processes.process import Component
from apps.settings import Settings
from apps.settings_loading import load
from domain.access.model import Role
from domain.refusals import Unavailable
from domain.routing.indicators import AckReaction
from tests.drivers.clockwork import MovableClock
from tests.drivers.loops import end_loop
from tests.support.hashed_embedder import HashedEmbedder
from tests.support.waiting import until

T = TypeVar("T")

PATIENCE = 60.0
"""Seconds after which something that should happen has not."""

HANGING = 10.0
"""Seconds after which something is taken to hang for ever."""

SERVICE_KEY = "the-service-key-that-all-tests-share"


class World:
    """The service under test. `settings` are environment variables over the defaults."""

    kept: tuple[str, ...] = ("alembic_version", "schema_version", "process", "embedding_model")
    """Tables that are not emptied."""

    def __init__(self, dsn: str, data_dir: Path, **settings: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self.clock = MovableClock()
        self.settings = _settings(data_dir, settings)
        self._dsn = dsn
        self._keys: dict[tuple[str, Role], str] = {}
        self.gateways: dict[type, Any] = {}
        """Made once for all scenarios: making one takes a tenth of a second."""
        self.at_end: list[Callable[[], Coroutine[Any, Any, None]]] = []

    def start(self, *, worker: bool = True) -> None:
        self._thread.start()
        self.run(self._start(worker))

    async def _start(self, worker: bool) -> None:
        self.container = Container(settings=self.settings, dsn=self._dsn, solitary=True)
        self.container.clock.override(providers.Object(self.clock))
        self.container.embedder.override(providers.Object(HashedEmbedder()))
        self.grpc = GrpcComponent(self.container)
        self.parts: list[Component] = [
            StorageComponent(self.container, "standalone"),
            ReadersComponent(self.container),
        ]
        if worker:
            self.parts += [
                WorkerComponent(self.container),
                JobsComponent(self.container),
                KnowledgeComponent(self.container),
                SubscriptionsComponent(self.container),
            ]
        self.parts.append(self.grpc)
        self._tasks = []
        for part in self.parts:
            await part.start()
            self._tasks.append(asyncio.create_task(part.run()))

    def empty(self) -> None:
        """Empties the database and forgets what is held in memory; nothing of it is under way any more."""
        self.run(self._empty())
        self._keys.clear()
        self.clock.reset()

    async def _empty(self) -> None:
        """Repeats, as what ends may begin another: an answer that is stored begins its delivery."""
        under_way = True
        while under_way:
            await self._delete_all()
            self.container.storage().event_bus.on_disconnect()
            # A later receiver may listen where an earlier one did.
            await self.container.foundation().http.close()
            under_way = await self._let_end()

    async def _let_end(self) -> bool:
        """Waits for what was under way when the database was emptied, and ends what hangs; whether there was any.

        Signs of writing end too: each would wait for the delivery of an answer that is deleted by now.
        """
        tasks = self._under_way()
        if tasks:
            _, hanging = await asyncio.wait(tasks, timeout=HANGING)
            for task in hanging:
                task.cancel()
            await asyncio.gather(*hanging, return_exceptions=True)
        self.container.work().typing.stop_all()
        return bool(tasks)

    def settle(self) -> None:
        """Waits until everything that waits is worked off and on record, deliveries included."""
        waiting = "SELECT 1 FROM inbox WHERE status = 0 UNION ALL SELECT 1 FROM outbox WHERE status = 0"
        until(lambda: not self.run(self.container.database().fetch(waiting)), "everything is worked off")

    def works(self) -> bool:
        """Whether anything is being worked on."""

        async def look() -> bool:
            return bool(self._under_way())

        return self.run(look())

    def _under_way(self) -> list[asyncio.Task[Any]]:
        """What the worker has begun with: conversations, what it does beside them, deliveries, jobs, uploads."""
        tasks: list[asyncio.Task[Any]] = [
            task for task in AckReaction.running if task.get_loop() is self._loop
        ]
        for part in self.parts:
            if isinstance(part, WorkerComponent):
                tasks += [task for worker in part.queue_workers for task in worker.tasks]
                tasks += self.container.work().prompt_feedback.tasks
                tasks += self.container.work().approved_runs.tasks
            if isinstance(part, JobsComponent):
                tasks += [task for task in part.arq_worker.tasks if not task.done()]
            if isinstance(part, KnowledgeComponent):
                tasks += part.upload_loop.tasks | part.source_loop.tasks
        return tasks

    async def _delete_all(self) -> None:
        """Deletes rows, since emptying the many partitions of a schema anew for each scenario takes long."""
        database = self.container.database()
        rows = await database.fetch(
            "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')"
            " AND NOT relispartition AND relname <> ALL (%s)",
            (list(self.kept),),
        )
        statements = "; ".join(f'DELETE FROM "{name}"' for (name,) in rows)
        everything = f"SET session_replication_role = replica; {statements}; RESET session_replication_role"
        for _ in range(10):
            try:
                await database.execute(everything)
                break
            except Unavailable:  # a deadlock with what the worker does every second
                continue
        else:
            raise AssertionError("the database could not be emptied")

    def restart(self) -> None:
        """Ends the service and starts it again on the same database. Keys stay, gateways are made anew."""
        self.run(self._stop())
        self.at_end.clear()
        self.gateways.clear()
        self.run(self._start(worker=True))

    def stop(self) -> None:
        self.run(self._stop())
        end_loop(self._loop, self._thread)

    async def _stop(self) -> None:
        for close in self.at_end:
            await close()
        for part in reversed(self.parts):
            await part.stop()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of a coroutine in the world's loop."""
        return self.begin(work).result(PATIENCE + 10)

    def begin(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Starts a coroutine in the world's loop without waiting for it."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def key_of(self, user: str, role: Role = Role.MEMBER) -> str:
        """An API key of a user, made on first use."""
        if (user, role) not in self._keys:
            _, token = self.run(self.container.access().create_key(user, role))
            self._keys[user, role] = token
        return self._keys[user, role]


def _settings(data_dir: Path, overrides: dict[str, str]) -> Settings:
    environment = {
        "DATA_DIR": str(data_dir),
        "GRPC_PORT": "0",
        "INTERNAL_SERVICE_KEY": SERVICE_KEY,
        "CONFIG_ENCRYPTION_KEY": new_key(),
        "LOG_LEVEL": "error",
        "PLATFORM_LIMITS": "answers",
        **overrides,
    }
    return load(environment, env_file=None)
