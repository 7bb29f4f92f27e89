"""Runs the components of a process: starts them in order, stops them in phases, ends when one of them dies."""

import asyncio
import gc
import logging
import signal
from collections.abc import Callable, Coroutine, Sequence
from enum import Enum, unique
from typing import Any

import uvloop

from adapters.tasks import end
from adapters.version import VERSION
from apps.logs import loop_failed
from apps.processes.starting import INTERRUPTED, PROCESS, StartError
from domain.refusals import Unavailable

log = logging.getLogger("switchboard")

START_SECONDS = 120.0
"""What a component may take to start."""
CANCEL_SECONDS = 0.3
"""What tasks of components get that have stopped already."""


@unique
class Phase(Enum):
    """When a component stops. The value is how many seconds its `stop` may take before it is left behind."""

    CALLS = 2.5
    """What lets calls in."""
    WORK = 3.5
    """What works for them. All of it stops at the same time, so that grace periods do not add up."""
    CONNECTIONS = 1.3
    """What everything else stands on."""


CALL_GRACE = Phase.CALLS.value - 0.5
"""Seconds that calls under way get when the process stops, before they are cancelled."""


class Component:
    """Something that runs beside others in one process. What a component does not override does nothing."""

    name: str
    phase: Phase

    async def start(self) -> None:
        """Returns once the component is ready. Cancelled when the process stops meanwhile."""

    async def run(self) -> None:
        """Returns or raises only when the component has ended."""
        await asyncio.Event().wait()

    async def stop(self) -> None:
        """Lets what is under way finish. Cancelled, and waited for no longer, after the seconds of its phase."""

    def reload(self) -> None:
        """Reads files of the configuration again."""


def serve(main: Coroutine[Any, Any, int]) -> int:
    """Runs `main` in an event loop. Unlike `uvloop.run` it waits for no thread and no task that does not end."""
    loop = uvloop.new_event_loop()
    asyncio.set_event_loop(loop)

    async def end_all() -> None:
        await end(asyncio.all_tasks() - {asyncio.current_task()}, "the event loop", CANCEL_SECONDS)
        await asyncio.wait([asyncio.create_task(loop.shutdown_asyncgens())], timeout=CANCEL_SECONDS)

    try:
        return loop.run_until_complete(main)
    finally:
        loop.run_until_complete(end_all())
        asyncio.set_event_loop(None)
        loop.close()


async def run(components: Sequence[Component], ready: Callable[[], None]) -> int:
    """Runs until SIGTERM, SIGINT, or the end of a component; the exit status."""
    requested = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(loop_failed)
    started: list[Component] = []
    running: dict[asyncio.Task[None], str] = {}

    def reload() -> None:
        for component in started:
            component.reload()

    loop.add_signal_handler(signal.SIGHUP, reload)
    with PROCESS.asking(lambda: loop.call_soon_threadsafe(requested.set)):
        stop_requested = asyncio.create_task(requested.wait())
        try:
            for component in components:
                is_ready = await _started(component, stop_requested)
                started.append(component)  # it may have opened something, even if it is not ready
                if not is_ready:
                    log.warning("told to stop while starting: %s", component.name)
                    return INTERRUPTED
                running[asyncio.create_task(component.run())] = component.name
            collect_rarely()
            log.info("Switchboard %s runs", VERSION)
            ready()
            PROCESS.stage = "running"
            await asyncio.wait([stop_requested, *running], return_when=asyncio.FIRST_COMPLETED)
            dead = [task for task in running if task.done()]
            for task in dead:  # none should end by itself
                error = task.exception() if not task.cancelled() else None
                log.error("%s ended unexpectedly; stopping", running[task], exc_info=error)
            return 1 if dead else 0
        finally:
            PROCESS.begin()
            for phase in Phase:
                PROCESS.stage = f"stopping {phase.name.lower()}"
                await asyncio.gather(*(_stopped(part) for part in started if part.phase is phase))
            PROCESS.stage = "ending tasks"
            await end([*running, stop_requested], "components that were stopped", CANCEL_SECONDS)
            PROCESS.stage = "ending threads"


def collect_rarely() -> None:
    """Raises the thresholds of the garbage collector: with Python's own 700 allocations it looks at the objects of
    messages that are still being processed."""
    gc.set_threshold(10_000, 20, 20)


async def _started(component: Component, stop_requested: asyncio.Task[Any]) -> bool:
    """Return True if it is ready; False if the process was to stop before. Raises what its start raises, and
    `StartError` when that takes too long."""
    starting = asyncio.create_task(component.start())
    await asyncio.wait([starting, stop_requested], timeout=START_SECONDS, return_when=asyncio.FIRST_COMPLETED)
    if starting.done():
        starting.result()
        return not stop_requested.done()
    await end([starting], component.name, CANCEL_SECONDS)
    if not stop_requested.done():
        raise StartError(f"{component.name} did not start within {START_SECONDS:g} seconds; look at the log")
    return False


async def _stopped(component: Component) -> None:
    """Enforced from outside: a component may ignore its cancellation, or wait for something that never comes."""
    stopping = asyncio.create_task(component.stop())
    await asyncio.wait([stopping], timeout=component.phase.value)
    if not stopping.done():
        log.error(
            "%s did not stop within %g seconds and is left behind", component.name, component.phase.value
        )
        stopping.cancel()
        return
    if stopping.cancelled():
        log.warning("%s broke off while stopping", component.name)
    elif isinstance(stopping.exception(), Unavailable):
        log.warning("%s stopped without leaving a note: %s", component.name, stopping.exception())
    elif stopping.exception():
        log.error("%s did not stop cleanly", component.name, exc_info=stopping.exception())
