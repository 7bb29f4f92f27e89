"""The components that processes are made of."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from functools import partial
from typing import Any, cast

import uvicorn

from adapters.inbound.jobs.periodic import AbandonedLeases, PeriodicRunner, PeriodicTask
from adapters.inbound.jobs.queue_worker import QueueWorker
from adapters.inbound.jobs.slots import both
from adapters.inbound.rest.asgi import App
from adapters.inbound.rest.protocol import HttpProtocol, Limits, keep_deadlines
from adapters.outbound.storage.conversations import SIDE as CONVERSATIONS
from adapters.outbound.storage.direct_dispatch import DirectDispatch
from adapters.outbound.storage.outbox import SIDE as DELIVERIES
from adapters.outbound.storage.verifications import sweep
from apps.container import Container
from apps.process import Phase
from apps.settings import Settings
from apps.starting import allowed_connections
from domain.refusals import Unavailable

log = logging.getLogger("switchboard")

GRACE = Phase.WORK.value - 1.0
"""Seconds that work under way gets when the process stops, before it is cancelled."""
CALL_GRACE = Phase.CALLS.value - 0.5
"""Seconds that calls under way get, before that."""
NOTE_SECONDS = 0.5
"""Seconds for what the process leaves in the database at its end."""


class StorageComponent:
    """The database connection, the process's lock and wake-ups, and its heart-beat."""

    name = "storage"
    phase = Phase.CONNECTIONS

    def __init__(self, container: Container, role: str) -> None:
        self._container = container
        self._role = role

    async def start(self) -> None:
        await self._container.database().open()
        await self._container.signals().start()
        await self._beat()

    async def _beat(self) -> None:
        await self._container.processes().beat(self._container.worker_id(), self._role)

    async def run(self) -> None:
        await PeriodicRunner([PeriodicTask("heart-beat", 3.0, self._beat)]).run()

    async def stop(self) -> None:
        """What cannot be noted now is told by the end of the process's lock."""
        container = self._container
        try:
            async with asyncio.timeout(NOTE_SECONDS):
                await self._note()
        except (TimeoutError, Unavailable):
            log.warning("the database does not answer; stopping without a note in it")
        await container.signals().stop()
        await container.http().close()
        await asyncio.gather(container.database().close(), asyncio.to_thread(container.traces().close))

    async def _note(self) -> None:
        container = self._container
        for batched in (container.inbox(), container.conversations(), container.outbox()):
            await batched.close()
        await container.processes().leave(container.worker_id())


class WorkerComponent:
    """The loops that work off conversations and deliveries, and the periodic tasks of leases."""

    name = "worker"
    phase = Phase.WORK

    def __init__(self, container: Container) -> None:
        settings = container.settings()
        self._leases = leases = container.leases()
        self._limiter, self._limits_changed = container.rate_limiter(), container.event_bus().limits
        conversations, outbox, event_bus = (
            container.conversations(),
            container.outbox(),
            container.event_bus(),
        )
        held_by_other_process = container.supervisor().held_by_other_process
        self._loops: list[QueueWorker[Any]] = [
            QueueWorker(
                "conversations",
                conversations.lease,
                container.traces().work("conversation", container.conversation_service().work),
                conversations.release,
                partial(leases.reclaim, CONVERSATIONS),
                event_bus.inbound,
                concurrency=settings.worker_concurrency,
                throttled=held_by_other_process,
            ),
            QueueWorker(
                "deliveries",
                outbox.lease,
                container.traces().work("delivery", container.delivery_service().work),
                outbox.release,
                partial(leases.reclaim, DELIVERIES),
                event_bus.outbound,
                concurrency=settings.worker_concurrency,
                throttled=both(self._limiter.throttled, held_by_other_process),
            ),
        ]
        self._dispatches: list[DirectDispatch[Any]] = [container.arrivals(), container.replies()]
        self._resources = container.resources()
        abandoned = AbandonedLeases(
            leases.abandoned,
            [leases.free, container.scheduled_runs().free, container.links().release_of],
            event_bus.lost,
        )
        self._periodic_task: asyncio.Task[None] | None = None
        self._periodic = PeriodicRunner(
            [
                PeriodicTask("abandoned leases", 1.0, abandoned.look),
                PeriodicTask("lease renewal", 10.0, self._renew),
                PeriodicTask("untaken answers", 1.0, conversations.send_untaken),
                PeriodicTask("limits of platforms", 0.0, self._refresh_limits),
                PeriodicTask("expired limits", 60.0, container.shared_limits().remove_expired),
                PeriodicTask("silent processes", 600.0, container.processes().bury),
                PeriodicTask("expired confirmations", 60.0, container.approvals().expire),
                PeriodicTask("expired verifications", 600.0, partial(sweep, container.database())),
            ]
        )

    async def start(self) -> None:
        self._resources.load()
        for dispatch, loop in zip(self._dispatches, self._loops, strict=True):
            dispatch.desk = loop

    def reload(self) -> None:
        """Reads the resource rules again."""
        self._resources.rules.reload()

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            for loop in self._loops:
                group.create_task(loop.run())
            self._periodic_task = group.create_task(self._periodic.run())

    async def _refresh_limits(self) -> None:
        """Every second, and at once when another worker found something."""
        try:
            await self._limiter.refresh()
        except Exception:
            await asyncio.sleep(1.0)
            raise
        await self._limits_changed.wait(1.0)

    async def _renew(self) -> None:
        for side, loop in zip((CONVERSATIONS, DELIVERIES), self._loops, strict=True):
            await self._leases.renew(side, loop.held)

    async def stop(self) -> None:
        await asyncio.gather(*(loop.stop(GRACE) for loop in self._loops))
        if self._periodic_task:
            self._periodic_task.cancel()
        await self._resources.close()


class SocketsComponent:
    """Keeps the connections of linked devices."""

    name = "sockets"
    phase = Phase.WORK

    def __init__(self, container: Container) -> None:
        self._supervisor = container.supervisor()

    async def start(self) -> None:
        return

    async def run(self) -> None:
        await self._supervisor.run()

    async def stop(self) -> None:
        await self._supervisor.stop()


class _Server(uvicorn.Server):
    """uvicorn without its own signal handling: the process takes the signals once."""

    @contextlib.contextmanager
    def capture_signals(self):  # type: ignore[no-untyped-def]
        yield


class RestComponent:
    """The REST gateway on a socket that was bound beforehand."""

    name = "REST gateway"
    phase = Phase.CALLS

    def __init__(self, app: App, listener: socket.socket, settings: Settings) -> None:
        limits = Limits(
            allowed_connections(settings.http_max_connections),
            settings.http_head_timeout,
            settings.http_stall_timeout,
        )
        config = uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            lifespan="off",
            timeout_graceful_shutdown=CALL_GRACE,  # type: ignore[arg-type]  # asyncio takes fractions
            server_header=False,
            proxy_headers=False,  # callbacks need none of them, so that is done behind their branch
            http=cast(Any, partial(HttpProtocol, limits=limits)),
            ws="none",
            timeout_keep_alive=settings.http_keep_alive,
            loop="none",
        )
        self._server = _Server(config)
        self._listener = listener
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._task = asyncio.create_task(self._server.serve(sockets=[self._listener]))
        while not self._server.started:
            if self._task.done():
                self._task.result()
                raise RuntimeError("the HTTP server ended while starting")
            await asyncio.sleep(0.01)

    async def run(self) -> None:
        assert self._task is not None
        deadlines = asyncio.create_task(keep_deadlines(self._server.server_state.connections))
        try:
            await asyncio.shield(self._task)
        finally:
            deadlines.cancel()

    async def stop(self) -> None:
        self._server.should_exit = True
        if self._task is not None:
            await asyncio.wait([self._task])
