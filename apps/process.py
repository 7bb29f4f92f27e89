"""Runs the parts of a process: starts them in order, stops them in reverse, ends when one of them dies."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

from apps.logs import loop_failed
from domain.refusals import Unavailable

log = logging.getLogger("switchboard")


class Part(Protocol):
    """Something that runs beside others in one process."""

    name: str

    async def start(self) -> None:
        """Returns once the part is ready."""
        ...

    async def run(self) -> None:
        """Returns or raises only when the part has ended."""
        ...

    async def stop(self) -> None:
        """Lets what is under way finish, within a few seconds."""
        ...


@runtime_checkable
class Reloads(Protocol):
    """A part that can read its files again."""

    def reload(self) -> None: ...


async def run(parts: Sequence[Part], ready: Callable[[], None]) -> int:
    """Runs until SIGTERM, SIGINT, or the end of a part; the exit status."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(loop_failed)
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    started: list[Part] = []
    loop.add_signal_handler(signal.SIGHUP, _reload, started)
    running: dict[asyncio.Task[None], str] = {}
    status = 0
    try:
        for part in parts:
            await part.start()
            started.append(part)
            running[asyncio.create_task(part.run())] = part.name
        ready()
        stopping = asyncio.create_task(stop.wait())
        await asyncio.wait([stopping, *running], return_when=asyncio.FIRST_COMPLETED)
        status = _report(running)
        stopping.cancel()
    finally:
        await _stop(started)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
    return status


def _reload(parts: Sequence[Part]) -> None:
    for part in parts:
        if isinstance(part, Reloads):
            part.reload()


def _report(running: dict[asyncio.Task[None], str]) -> int:
    """1 when a part ended by itself, which none should."""
    dead = [task for task in running if task.done()]
    for task in dead:
        error = task.exception() if not task.cancelled() else None
        log.error("%s ended unexpectedly; stopping", running[task], exc_info=error)
    return 1 if dead else 0


async def _stop(started: Sequence[Part]) -> None:
    """The last part, which lets calls in, ends first, and the first, on which all stand, last; those between them at
    the same time, so that what each grants to work under way does not add up."""
    if not started:
        return
    *others, entrance = started
    await _stopped(entrance)
    await asyncio.gather(*(_stopped(part) for part in reversed(others[1:])))
    if others:
        await _stopped(others[0])


async def _stopped(part: Part) -> None:
    try:
        await part.stop()
    except Unavailable as away:
        log.warning("%s stopped without leaving a note: %s", part.name, away)
    except Exception:
        log.exception("%s did not stop cleanly", part.name)
