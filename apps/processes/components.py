"""The components that processes are made of."""

import asyncio
import logging
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from adapters.inbound.jobs.periodic import AbandonedLeases, PeriodicRunner, PeriodicTask, PollRuns
from adapters.inbound.jobs.queue_worker import QueueWorker, both
from adapters.inbound.jobs.uploads import SupervisedWorker
from adapters.inbound.jobs.watching import Watchers
from adapters.outbound.jobs.arq_queue import QUEUE
from adapters.outbound.storage.queue.leases import INBOUND, OUTBOUND
from adapters.outbound.storage.schedules import DatabaseClock
from apps.compose.container import CommandContainer, Container, CoreContainer
from apps.processes.process import Component, Phase
from apps.processes.starting import listen
from apps.settings_loading import chosen_settings
from domain.access.model import Caller
from domain.audit.model import Action
from domain.polling.service import RUN
from domain.refusals import Unavailable

log = logging.getLogger("switchboard")

GRACE = Phase.WORK.value - 1.0
"""Seconds that work under way gets when the process stops, before it is cancelled."""
PUBLISH_SECONDS = 5.0
"""How often events get their ids while nobody reads them; readers see to that themselves."""
USAGE_SECONDS = 1.0
"""How often usage is recorded that came with no outcome."""
BUDGET_SECONDS = 3.0
"""How often a process reads what is spent of budgets."""
NOTE_SECONDS = 0.5
"""Seconds for what the process leaves in the database at its end."""


class StorageComponent(Component):
    """The database connection, the process's lock and wake-ups, and its heart-beat."""

    name = "storage"
    phase = Phase.CONNECTIONS

    def __init__(self, container: CommandContainer, role: str) -> None:
        self._foundation, self._storage = container.foundation(), container.storage()
        self._role = role

    async def start(self) -> None:
        await self._storage.database.open()
        await self._storage.signals.start()
        await self._beat()
        settings = chosen_settings(self._foundation.settings)
        subject = f"process:{self._role}"
        await self._storage.audit.note(Caller(""), Action.PROCESS_STARTED, subject, settings)

    async def _beat(self) -> None:
        await self._storage.processes.beat(self._foundation.worker_id, self._role)

    async def run(self) -> None:
        tasks = [
            PeriodicTask("heart-beat", 3.0, self._beat),
            PeriodicTask("usage", USAGE_SECONDS, self._storage.usage.flush),
            PeriodicTask("budgets", BUDGET_SECONDS, self._storage.budget_guard.refresh),
        ]
        await PeriodicRunner(tasks).run()

    async def stop(self) -> None:
        """What cannot be noted now follows from the end of the process's lock."""
        foundation, storage = self._foundation, self._storage
        try:
            async with asyncio.timeout(NOTE_SECONDS):
                for batched in (storage.inbox, storage.conversations, storage.outbox):
                    await batched.close()
                await storage.usage.flush()
                await storage.processes.leave(foundation.worker_id)
        except (TimeoutError, Unavailable):
            log.warning("the database does not answer; stopping without a note in it")
        await storage.signals.stop()
        await foundation.http.close()
        await asyncio.gather(storage.database.close(), asyncio.to_thread(foundation.traces.close))


class WorkerComponent(Component):
    """The loops that work off conversations and deliveries, and the periodic tasks of leases."""

    name = "worker"
    phase = Phase.WORK

    def __init__(self, container: Container) -> None:
        self._storage = storage = container.storage()
        self._work = work = container.work()
        self._resources = container.resources()
        channels = container.channels()
        connections, supervisor = channels.connections, channels.supervisor
        conversations, outbox, leases = storage.conversations, storage.outbox, storage.leases
        concurrency = container.settings().worker_concurrency
        self.queue_workers: list[QueueWorker[Any]] = [
            QueueWorker(
                "conversations",
                conversations.lease,
                work.conversations.work,
                conversations.release,
                partial(leases.reclaim, INBOUND),
                storage.event_bus.inbound,
                concurrency=concurrency,
                throttled=supervisor.held_by_other_process,
            ),
            QueueWorker(
                "deliveries",
                outbox.lease,
                work.deliveries.work,
                outbox.release,
                partial(leases.reclaim, OUTBOUND),
                storage.event_bus.outbound,
                concurrency=concurrency,
                throttled=both(work.rate_limiter.throttled, supervisor.held_by_other_process),
            ),
        ]
        free = [leases.free, storage.schedules.free, connections.release_of]
        abandoned = AbandonedLeases(leases.abandoned, free, storage.event_bus.on_disconnect)
        self._periodic = PeriodicRunner(
            [
                PeriodicTask("abandoned leases", 1.0, abandoned.free),
                PeriodicTask("lease renewal", 10.0, self._renew),
                PeriodicTask("silent processes", 600.0, storage.processes.remove_silent),
                PeriodicTask("untaken answers", 1.0, storage.untaken_answers.send),
                PeriodicTask("limits of platforms", 0.0, self._refresh_limits),
                PeriodicTask("events", PUBLISH_SECONDS, storage.event_log.publish),
                PeriodicTask("expired limits", 60.0, work.shared_limits.remove_expired),
                PeriodicTask("expired confirmations", 60.0, work.approvals.expire),
                PeriodicTask("tasks of agents", 1.0, work.agent_tasks.poll_due),
                PeriodicTask("decided approvals", 1.0, work.approved_runs.work),
            ]
        )
        self.periodic_task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._resources.load()
        inbound, outbound = self.queue_workers
        self._storage.event_bus.may_take = {
            "in": lambda: inbound.has_capacity,
            "out": lambda: outbound.has_capacity,
        }

    def reload(self) -> None:
        """Reads the resource rules again."""
        self._resources.rules.reload()

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            for loop in self.queue_workers:
                group.create_task(loop.run())
            self.periodic_task = group.create_task(self._periodic.run())

    async def _refresh_limits(self) -> None:
        """Every second, and at once when another worker found something."""
        try:
            state = await self._work.rate_limiter.refresh()
        except Exception:
            await asyncio.sleep(1.0)
            raise
        self._storage.event_bus.turns.set_rank(state.rank, state.workers)
        await self._storage.event_bus.limits.wait(1.0)

    async def _renew(self) -> None:
        for queue, loop in zip((INBOUND, OUTBOUND), self.queue_workers, strict=True):
            await self._storage.leases.renew(queue, loop.held)

    async def stop(self) -> None:
        loops = (loop.stop(GRACE) for loop in self.queue_workers)
        await asyncio.gather(*loops, self._work.approved_runs.stop(GRACE))
        self._work.typing.stop_all()
        if self.periodic_task:
            self.periodic_task.cancel()
        await self._resources.close()


class EventsComponent(Component):
    """Ends the streams of events and of the web chat with the calls: they would not end by themselves."""

    name = "streams of events"
    phase = Phase.CALLS

    def __init__(self, container: CoreContainer) -> None:
        storage = container.storage()
        self._feeds = (storage.event_feed, storage.chat_feed)

    async def stop(self) -> None:
        for feed in self._feeds:
            await feed.close()


class RulesComponent(Component):
    """The resource rules in a core, which tries resources and runs none: a fault in them does not keep it from
    serving."""

    name = "resource rules"
    phase = Phase.CONNECTIONS

    def __init__(self, container: CoreContainer) -> None:
        self._resources = container.resources()

    async def start(self) -> None:
        self.reload()

    def reload(self) -> None:
        self._resources.rules.reload()

    async def stop(self) -> None:
        await self._resources.close()


class FilesComponent(Component):
    """Says at the start what is wrong with the place of the files; messages without files go on."""

    name = "file store"
    phase = Phase.CONNECTIONS

    def __init__(self, container: CoreContainer) -> None:
        self._container = container

    async def run(self) -> None:
        try:
            await self._container.files().blobs.check()
        except Unavailable as error:
            log.error("files cannot be stored: %s", error)
        await asyncio.Event().wait()


class SocketsComponent(Component):
    """Keeps the connections of linked devices."""

    name = "sockets"
    phase = Phase.WORK

    def __init__(self, container: Container) -> None:
        self._supervisor = container.channels().supervisor

    async def run(self) -> None:
        await self._supervisor.run()

    async def stop(self) -> None:
        await self._supervisor.stop()


REGISTER = "register"
COUNT_SECONDS = 10.0
"""How often figures and reports are brought up to date."""
NOTIFY_SECONDS = 1.0
"""How often causes of notifications, and those that are due, are looked for."""
PEOPLE_SECONDS = 3.0
"""How often new senders are given people."""
CLEAN_SECONDS = 300.0
"""How often old rows are looked for. A run that ends before all are gone goes on with the next."""


class JobsComponent(Component):
    """Runs the jobs, and asks for those that come again and again."""

    name = "jobs"
    phase = Phase.WORK

    def __init__(self, container: Container) -> None:
        self._queue = queue = container.jobs()
        storage, channels = container.storage(), container.channels()
        schedules, registration = channels.schedules, channels.registration
        self._watchers = watchers = Watchers(storage.instances, channels.registry, storage.schedules)
        runs = PollRuns(channels.polling, storage.instances, watchers.begin)
        storage.event_bus.on_change(runs.changed)
        storage.event_bus.on_change(watchers.changed)
        has_resumed = False

        async def clean(_: int) -> None:
            await storage.retention.clean()
            audit_days = timedelta(days=container.settings().audit_days)
            await storage.audit.prune(datetime.now(UTC) - audit_days)

        async def expire(_: int) -> None:
            await storage.figures.count()  # before what was given up cannot be told any more
            await storage.reports.count()
            await storage.conversation_expiry.clean()

        async def enqueue_due() -> None:
            nonlocal has_resumed
            if not has_resumed:
                await schedules.poll_watched()
                has_resumed = True
            while await channels.polling.enqueue_due(queue):
                pass

        async def register() -> None:
            for instance_id in await registration.to_be_checked():
                await queue.enqueue(REGISTER, instance_id)

        jobs = {"clean": clean, "expire": expire, RUN: runs.run, REGISTER: registration.keep_registered}
        self.arq_worker = SupervisedWorker(queue.redis, QUEUE, jobs)
        clock = DatabaseClock(storage.database, schedules.poll_all)
        self._periodic_task: asyncio.Task[None] | None = None
        self._periodic = PeriodicRunner(
            [
                PeriodicTask("what is due", 1.0, enqueue_due),
                PeriodicTask("missing schedules", 60.0, schedules.plan_missing),
                PeriodicTask("retired instances", 2.0, storage.instances.remove_retired),
                PeriodicTask("webhook registration", 900.0, register),
                PeriodicTask("changes of the clock", 10.0, clock.look),
                PeriodicTask("figures", COUNT_SECONDS, storage.figures.count),
                PeriodicTask("reports", COUNT_SECONDS, storage.reports.count),
                PeriodicTask("notifications", NOTIFY_SECONDS, container.notification_writer().work),
                PeriodicTask(
                    "notifications on their way", NOTIFY_SECONDS, container.notification_delivery().work
                ),
                PeriodicTask("people", PEOPLE_SECONDS, container.people_recorder().record),
                PeriodicTask("privacy requests", 1.0, container.privacy_worker().work),
                PeriodicTask("old conversations", 60.0, lambda: queue.enqueue("expire")),
                PeriodicTask("cleaning", CLEAN_SECONDS, lambda: queue.enqueue("clean")),
            ]
        )

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self.arq_worker.run())
            self._periodic_task = group.create_task(self._periodic.run())

    async def stop(self) -> None:
        await self.arq_worker.stop(GRACE)
        await self._watchers.stop()
        if self._periodic_task:
            self._periodic_task.cancel()
        await self._queue.close()


class SubscriptionsComponent(Component):
    """Puts events on their way to the addresses that subscribe to them; the outbox sends them."""

    name = "subscriptions"
    phase = Phase.WORK

    def __init__(self, container: Container) -> None:
        pushing = container.subscriptions().pushing
        self._periodic = PeriodicRunner(
            [
                PeriodicTask("subscriptions", 1.0, pushing.follow),
                PeriodicTask("subscriptions that are behind", 0.2, pushing.catch_up),
                PeriodicTask("recording for subscriptions", 3600.0, pushing.listen),
                PeriodicTask("failing subscriptions", 3600.0, pushing.switch_off_failing),
            ]
        )

    async def run(self) -> None:
        await self._periodic.run()


def metrics_components(container: CoreContainer) -> list[Component]:
    """The server for them; none where METRICS_PORT is not set, so that what it needs is not loaded either."""
    settings = container.settings()
    if not settings.metrics_port:
        return []
    from adapters.inbound.rest import ops
    from apps.http_gateway.server import HttpComponent

    listener = listen(settings.metrics_host, settings.metrics_port, "METRICS_PORT")
    app = ops.build(ops.Operations(container.checks(), container.metrics()))
    return [HttpComponent(app, listener, settings, name="metrics")]
