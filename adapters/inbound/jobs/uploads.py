"""Works on uploads and sources, several at a time, fairly among users; and supervises arq's worker.

arq's worker ends when Redis drops a connection, so it is started anew until it has to stop.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, Generic, Protocol, TypeVar

from arq.connections import ArqRedis
from arq.worker import Worker, func
from redis.exceptions import RedisError

from adapters.tasks import cancelled, end, seen
from domain.refusals import Unavailable

log = logging.getLogger(__name__)

IDLE_LOOK = 0.5
"""Seconds between looks for the uploads of other processes."""
AWAY = 2.0

W = TypeVar("W")
W_co = TypeVar("W_co", covariant=True)


class Takes(Protocol[W_co]):
    """Gives the next upload; `newcomers_only`: of a user none of whose uploads is being worked on, or a short one of
    a user none of whose short ones is."""

    async def __call__(self, *, newcomers_only: bool) -> W_co | None: ...


class UploadLoop(Generic[W]):
    """`take` leases the next upload, `work` works on it to its end; `news` is set when one came in here.

    Beyond `concurrency` slots there are as many again for users who hold none, and for short uploads: whoever fills
    all slots with large files keeps neither others waiting nor their own small files.
    """

    def __init__(
        self,
        take: Takes[W],
        work: Callable[[W], Awaitable[None]],
        news: asyncio.Event,
        concurrency: int,
        name: str = "uploads",
    ) -> None:
        self._take = take
        self._work = work
        self._news = news
        self._concurrency = concurrency
        self._name = name
        self.tasks: set[asyncio.Task[None]] = set()
        self._stopping = False

    async def run(self) -> None:
        while not self._stopping:
            self._news.clear()
            pause, held, work = IDLE_LOOK, len(self.tasks), None
            try:
                if held < 2 * self._concurrency:
                    work = await self._take(newcomers_only=held >= self._concurrency)
                if work is not None and not self._stopping:
                    task = asyncio.create_task(self._finish(work))
                    self.tasks.add(task)
                    task.add_done_callback(self.tasks.discard)
                    task.add_done_callback(lambda _: self._news.set())
                    continue
            except Unavailable:
                pause = AWAY
            except Exception:
                log.exception("looking for %s failed", self._name)
                pause = AWAY
            if cancelled():
                return
            with suppress(TimeoutError):
                await asyncio.wait_for(self._news.wait(), pause)

    async def stop(self) -> None:
        """Stops at once: what is under way is staged and taken up again by the next process."""
        self._stopping = True
        self._news.set()
        await end(self.tasks, self._name)

    async def _finish(self, work: W) -> None:
        try:
            await self._work(work)
        except Unavailable as refusal:
            log.warning("one of the %s is repeated later: %s", self._name, refusal.message)
        except Exception:
            log.exception("working on one of the %s failed", self._name)


Job = Callable[[int], Awaitable[None]]

RESTART_SECONDS = 2.0
STEADY_SECONDS = 10.0
"""A worker that ran so long had a queue: its end is the beginning of another outage."""
END_SECONDS = 0.7
POLL_SECONDS = 0.5
"""Between two looks into the queue."""
TIMEOUT = 300
"""Seconds that a job may take."""


class _Worker(Worker):
    """arq notes the end of a job in a task that no cancellation reaches. Nobody waits for it once the worker was told
    to stop: a queue that is away then is no error, and the job is done again."""

    async def finish_job(self, *arguments: Any, **options: Any) -> None:
        await self._noted(super().finish_job(*arguments, **options))

    async def finish_failed_job(self, *arguments: Any, **options: Any) -> None:
        await self._noted(super().finish_failed_job(*arguments, **options))

    async def _noted(self, end_of_job: Awaitable[None]) -> None:
        try:
            await end_of_job
        except (RedisError, OSError):
            if self.allow_pick_jobs:
                raise
            log.warning("the end of a job could not be noted; it is done again")


class SupervisedWorker:
    """Runs `jobs` by kind; each takes the id of its subject."""

    def __init__(self, redis: ArqRedis, queue: str, jobs: Mapping[str, Job], *, max_jobs: int = 100) -> None:
        self._redis = redis
        self._queue = queue
        self._functions = [
            func(_body(name, job), name=name, max_tries=1)  # type: ignore[arg-type]
            for name, job in jobs.items()
        ]
        self._max_jobs = max_jobs
        self._worker: Worker | None = None
        self._stopping = False

    async def run(self) -> None:
        """Runs until `stop`."""
        warned = False
        while not self._stopping:
            began = time.monotonic()
            try:
                self._worker = _Worker(
                    functions=self._functions,
                    redis_pool=self._redis,
                    queue_name=self._queue,
                    handle_signals=False,
                    keep_result=0,
                    max_tries=1,
                    max_jobs=self._max_jobs,
                    queue_read_limit=1000,
                    job_timeout=TIMEOUT,
                    poll_delay=POLL_SECONDS,
                    health_check_interval=30,
                    job_serializer=self._redis.job_serializer,
                    job_deserializer=self._redis.job_deserializer,
                )
                await self._worker.async_run()
            except (RedisError, OSError) as error:
                if time.monotonic() - began > STEADY_SECONDS or not warned:
                    log.warning(
                        "the job queue is away (%s), trying again", str(error) or type(error).__name__
                    )
                    warned = True
            except asyncio.CancelledError:
                if not self._stopping:
                    raise
                return
            if cancelled():
                return
            await asyncio.sleep(RESTART_SECONDS)

    @property
    def tasks(self) -> list[asyncio.Task[Any]]:
        """The jobs under way."""
        return list(self._worker.tasks.values()) if self._worker else []

    async def stop(self, grace: float) -> None:
        """Takes no more jobs; waits `grace` seconds for those that run."""
        self._stopping = True
        worker = self._worker
        if worker is None:
            return
        worker.allow_pick_jobs = False
        if self.tasks:
            for task in self.tasks:  # of a queue that is away then, nobody needs to hear
                task.add_done_callback(seen)
            await asyncio.wait(self.tasks, timeout=grace)
        if worker.main_task is not None:
            await end([worker.main_task, *self.tasks], "jobs", END_SECONDS)


def _body(name: str, job: Job) -> Callable[[Mapping[str, Any], int], Awaitable[None]]:
    async def run(_: Mapping[str, Any], subject: int) -> None:
        try:
            await job(subject)
        except Unavailable:
            log.warning("the job %s could not be done for the moment", name)

    return run
