"""The parser of the service: fenced children, a few at a time, without ever blocking the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from adapters.outbound.parsing.fence import wire
from adapters.outbound.parsing.fence.service_side import ForkServer, ForkServerLost, Run, lost
from adapters.outbound.parsing.limits import Limits
from adapters.outbound.parsing.names import shown
from adapters.outbound.parsing.registry import RECOGNISING
from adapters.outbound.parsing.support import supported_formats
from domain.knowledge.documents import Block, BlockKind, Document, FileType, Format, FormatSupport, separator
from domain.refusals import Unavailable
from ports.parsing import Progress

_T = TypeVar("_T")
_IDENTIFYING_SLOTS = 2
_KNOWN_KINDS = 64


@dataclass(frozen=True, slots=True)
class ParsingOptions:
    """So many files are parsed at a time: `slots` in which text or speech may have to be recognised, which takes
    long, and as many of the others. The reading process ends after `idle_seconds` without work.

    `whisper_dir` names the directory of a Whisper model for speech, if there is one.
    """

    limits: Limits = field(default_factory=Limits)
    slots: int = 2
    idle_seconds: float = 180.0
    whisper_dir: str = ""


class FencedParser:
    """Reads each file in a child process of its own; conforms to `ports.parsing.Parser`."""

    def __init__(self, options: ParsingOptions | None = None, nursery: ForkServer | None = None) -> None:
        self._options = options or ParsingOptions()
        self._nursery = nursery or ForkServer()
        self._recognising = asyncio.Semaphore(self._options.slots)
        self._reading = asyncio.Semaphore(self._options.slots)
        self._identifying = asyncio.Semaphore(_IDENTIFYING_SLOTS)
        self._threads = ThreadPoolExecutor(2 * self._options.slots + _IDENTIFYING_SLOTS + 1, "parsing")
        self._kinds: dict[tuple[object, ...], FileType] = {}
        self._runs: set[Run] = set()
        self._idle: asyncio.TimerHandle | None = None
        self._closed = False

    @property
    def reading_process(self) -> int | None:
        """The process id of the nursery, or None while none runs."""
        return self._nursery.pid

    async def identify(self, path: Path, file_name: str) -> FileType:
        """See `ports.parsing.Parser`. What a file is stays known: it is asked on arrival and again for reading."""
        name = shown(file_name)
        stamp = await asyncio.to_thread(_stamp, path, name)
        if stamp not in self._kinds:
            async with self._identifying:
                self._kinds[stamp] = await self._twice(lambda: self._identify(path, name), file_name)
            if len(self._kinds) > _KNOWN_KINDS:
                del self._kinds[next(iter(self._kinds))]
        return self._kinds[stamp]

    async def parse(self, path: Path, file_name: str, progress: Progress | None = None) -> Document:
        """See `ports.parsing.Parser`."""
        kind = await self.identify(path, file_name)
        async with self._recognising if kind.format in RECOGNISING else self._reading:
            return await self._twice(lambda: self._parse(path, shown(file_name), kind, progress), file_name)

    def available(self) -> Sequence[FormatSupport]:
        """See `ports.parsing.Parser`."""
        return supported_formats(self._options.whisper_dir)

    async def close(self) -> None:
        """See `ports.parsing.Parser`."""
        self._closed = True
        if self._idle is not None:
            self._idle.cancel()
        for run in self._runs:
            run.abandon()
        await asyncio.to_thread(self._nursery.stop)
        await asyncio.to_thread(self._threads.shutdown)

    async def _twice(self, attempt: Callable[[], Awaitable[_T]], file_name: str) -> _T:
        """A nursery that was lost is started again, once."""
        for _ in range(2):
            try:
                return await attempt()
            except ForkServerLost:
                continue
        raise lost(shown(file_name))

    async def _identify(self, path: Path, name: str) -> FileType:
        run = self._run(path, name, None)
        found: list[FileType] = []
        await self._follow(run, lambda _, payload: found.append(FileType(Format(payload[0]), payload[1])))
        return found[0]

    async def _parse(self, path: Path, name: str, kind: FileType, progress: Progress | None) -> Document:
        loop = asyncio.get_running_loop()

        def report(share: float) -> None:
            if progress is not None:
                loop.call_soon_threadsafe(progress, share)

        gathered = _Gathered(kind, report)
        await self._follow(self._run(path, name, kind.format), gathered.take)
        return await loop.run_in_executor(self._threads, gathered.document)

    def _run(self, path: Path, name: str, format_: Format | None) -> Run:
        request = {
            "path": str(path.resolve()),
            "name": name,
            "format": format_ and format_.value,
            "whisper_dir": self._options.whisper_dir,
        }
        return Run(self._nursery, request, self._options.limits)

    async def _follow(self, run: Run, take: Callable[[str, Any], None]) -> None:
        loop = asyncio.get_running_loop()
        if self._closed:
            run.discard()
            raise Unavailable("the service is shutting down; upload the file again in a moment")
        if self._idle is not None:
            self._idle.cancel()
        self._runs.add(run)
        following = self._threads.submit(run.follow, take)
        try:
            await asyncio.wrap_future(following)
        except asyncio.CancelledError:
            if following.cancelled():
                run.discard()
            else:
                run.abandon()
            raise
        finally:
            self._runs.discard(run)
            if not self._runs and not self._closed:
                self._idle = loop.call_later(self._options.idle_seconds, self._rest)

    def _rest(self) -> None:
        if not self._runs:
            self._threads.submit(self._nursery.rest)


def _stamp(path: Path, name: str) -> tuple[object, ...]:
    """Another one for other bytes. Fails where there is no file: that is our failure, not the sender's."""
    seen = path.stat()
    return str(path), name, seen.st_ino, seen.st_size, seen.st_mtime_ns


class _Gathered:
    """The frames of one document as they come in."""

    def __init__(self, kind: FileType, report: Callable[[float], None]) -> None:
        self._kind = kind
        self._report = report
        self._blocks: list[Block] = []
        self._parts: list[str] = []
        self._length = 0
        self._end: dict[str, Any] = {}

    def take(self, frame: str, payload: Any) -> None:
        if frame == wire.PROGRESS:
            self._report(payload)
        elif frame == wire.BLOCKS:
            for values in payload:
                self._add(values)
        elif frame == wire.DONE:
            self._end = payload

    def document(self) -> Document:
        return Document(
            self._end["title"],
            "".join(self._parts),
            tuple(self._blocks),
            self._kind.mime_type,
            self._kind.format,
            self._end["engine"],
        )

    def _add(self, values: list[Any]) -> None:
        gap = separator(self._blocks[-1].kind, BlockKind(values[0])) if self._blocks else ""
        block = wire.unpack(values, self._length + len(gap))
        self._blocks.append(block)
        self._parts += (gap, block.text)
        self._length = block.end
