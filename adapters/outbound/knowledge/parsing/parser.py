"""The parser of the service: sandboxed children, a few at a time, without blocking the event loop."""

import asyncio
import logging
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from adapters.outbound.knowledge.embedding.model_files import packaged_folder
from adapters.outbound.knowledge.parsing.formats import RECOGNISING, supported_formats
from adapters.outbound.knowledge.parsing.reading import Limits, shown
from adapters.outbound.knowledge.parsing.sandbox import frames
from adapters.outbound.knowledge.parsing.sandbox.fork_server import ForkServer, ForkServerLost, SandboxJob
from adapters.tasks import seen
from domain.knowledge.documents import Block, Document, FileType, Format, FormatSupport, separator
from domain.refusals import Unavailable
from ports.http import FetchedBody, SitemapEntries, WebPage
from ports.indexing import Progress, ReadPart

T = TypeVar("T")

AHEAD = 2
"""So many values are held, the one in use included."""


class BoundedQueue(Generic[T]):
    """`put` is called by the thread, the rest on the event loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._values: asyncio.Queue[T | None] = asyncio.Queue()
        self._free = threading.Semaphore(AHEAD)
        self._closed = False

    def put(self, value: T) -> None:
        """Waits for room. What comes after the end is dropped."""
        self._free.acquire()
        if self._closed:
            self._free.release()
        else:
            self._loop.call_soon_threadsafe(self._values.put_nowait, value)

    async def values(self, source: asyncio.Task[None]) -> AsyncGenerator[T, None]:
        """Yields values until `source` ends, and raises its error if it has one. Cancels it when closed earlier."""
        source.add_done_callback(lambda _: self._values.put_nowait(None))
        source.add_done_callback(seen)
        try:
            while (value := await self._values.get()) is not None:
                yield value
                self._free.release()
            await source
        finally:
            self._closed = True
            self._free.release()
            source.cancel()
            await asyncio.gather(source, return_exceptions=True)


_log = logging.getLogger(__name__)
_IDENTIFYING_SLOTS = 2
_KNOWN_TYPES = 64
SHORT_BYTES = 1024 * 1024
"""A file of so many bytes does not wait for long ones."""


@dataclass(frozen=True, slots=True)
class ParsingOptions:
    """So many files are parsed at a time: `slots` in which text or speech may have to be recognised, which takes
    long, and as many of the others; one short file may be parsed beside them. The reading process ends after
    `idle_seconds` without work.

    `whisper_dir` names the directory of a Whisper model for speech, if there is one; `model_dir` gives that of the
    embedding model, whose tokens are counted.
    """

    limits: Limits = field(default_factory=Limits)
    slots: int = 2
    idle_seconds: float = 180.0
    whisper_dir: str = ""
    model_dir: Callable[[], Path] = packaged_folder


class SandboxedParser:
    """Reads each file in a child process of its own; conforms to `ports.indexing.Parser`."""

    def __init__(self, options: ParsingOptions | None = None, fork_server: ForkServer | None = None) -> None:
        self._options = options or ParsingOptions()
        self._fork_server = fork_server or ForkServer()
        self.recognising = asyncio.Semaphore(self._options.slots)
        self._reading = asyncio.Semaphore(self._options.slots)
        self._short = asyncio.Semaphore(1)
        self._identifying = asyncio.Semaphore(_IDENTIFYING_SLOTS)
        self._threads = ThreadPoolExecutor(2 * self._options.slots + _IDENTIFYING_SLOTS + 2, "parsing")
        self._known_types: dict[tuple[object, ...], FileType] = {}
        self._jobs: set[SandboxJob] = set()
        self._idle: asyncio.TimerHandle | None = None
        self._closed = False

    @property
    def reading_process(self) -> int | None:
        """The process id of the fork server, or None while none runs."""
        return self._fork_server.pid

    async def identify(self, path: Path, file_name: str) -> FileType:
        """See `ports.indexing.Parser`. The answer is cached: it is asked on arrival and again for reading.

        Fails if the file does not exist: our failure, not the sender's.
        """
        name = shown(file_name)
        status = await asyncio.to_thread(path.stat)
        stamp = str(path), name, status.st_ino, status.st_size, status.st_mtime_ns
        if stamp not in self._known_types:
            async with self._identifying:
                answer = self._answer(path, name, lambda values: FileType(Format(values[0]), values[1]))
                self._known_types[stamp] = await answer
            if len(self._known_types) > _KNOWN_TYPES:
                del self._known_types[next(iter(self._known_types))]
        return self._known_types[stamp]

    async def parse(self, path: Path, file_name: str, progress: Progress | None = None) -> Document:
        kind = await self.identify(path, file_name)

        async def attempt() -> Document:
            blocks: list[Block] = []
            texts: list[str] = []
            length = 0
            end: dict[str, Any] = {}

            def take(frame: str, payload: Any) -> None:
                nonlocal length
                if frame == frames.DONE:
                    end.update(payload)
                elif frame == frames.BLOCKS:
                    for values in payload:
                        gap = separator(blocks[-1].kind, values[0]) if blocks else ""
                        blocks.append(frames.unpack(values, length + len(gap)))
                        texts.extend((gap, values[1]))
                        length += len(gap) + len(values[1])

            def document() -> Document:
                title, engine, warnings = end["title"], end["engine"], tuple(end["warnings"])
                text = "".join(texts)
                return Document(title, text, tuple(blocks), kind.mime_type, kind.format, engine, warnings)

            await self._run(path, shown(file_name), kind.format, take, progress)
            return await asyncio.get_running_loop().run_in_executor(self._threads, document)

        async with await self._slot(path, kind):
            return await self._with_retry(attempt, file_name)

    async def read_page(self, body: FetchedBody) -> WebPage | SitemapEntries | None:
        """See `ports.http.WebPageReader`."""
        web = {"address": body.address, "mime_type": body.mime_type, "charset": body.charset}
        async with self._reading:
            page = await self._answer(body.path, shown(body.name), lambda values: values, web)
        kind = page.pop("kind")
        return {"page": WebPage, "sitemap": SitemapEntries}[kind](**page) if kind != "file" else None

    async def _answer(
        self, path: Path, name: str, read: Callable[[Any], T], web: dict[str, str] | None = None
    ) -> T:
        """What `read` makes of the only frame of a job."""
        answers: list[T] = []

        def take(_: str, payload: Any) -> None:
            answers.append(read(payload))

        await self._with_retry(lambda: self._run(path, name, None, take, web=web), name)
        return answers[-1]

    async def cut(
        self, path: Path, file_name: str, progress: Progress | None = None
    ) -> AsyncGenerator[ReadPart, None]:
        """See `ports.indexing.Parser`. A fork server that was lost is started again unless something was read."""
        kind = await self.identify(path, file_name)
        model_dir = str(await asyncio.to_thread(self._options.model_dir))
        async with await self._slot(path, kind):
            for _ in range(2):
                begun = False
                try:
                    async with aclosing(
                        self._cut(path, shown(file_name), kind, progress, model_dir)
                    ) as parts:
                        async for part in parts:
                            begun = True
                            yield part
                    return
                except ForkServerLost:
                    if begun:
                        break
        raise _broken_off(file_name)

    def available(self) -> Sequence[FormatSupport]:
        return supported_formats(self._options.whisper_dir)

    async def close(self) -> None:
        self._closed = True
        if self._idle is not None:
            self._idle.cancel()
        for job in self._jobs:
            job.cancel()
        await asyncio.to_thread(self._fork_server.stop)
        await asyncio.to_thread(self._threads.shutdown)

    async def _slot(self, path: Path, kind: FileType) -> asyncio.Semaphore:
        slots = self.recognising if kind.format in RECOGNISING else self._reading
        is_short = slots.locked() and (await asyncio.to_thread(path.stat)).st_size <= SHORT_BYTES
        return self._short if is_short else slots

    async def _with_retry(self, attempt: Callable[[], Awaitable[T]], file_name: str) -> T:
        """A fork server that was lost is started again, once."""
        for _ in range(2):
            try:
                return await attempt()
            except ForkServerLost:
                continue
        raise _broken_off(file_name)

    def _cut(
        self, path: Path, name: str, kind: FileType, progress: Progress | None, model_dir: str
    ) -> AsyncGenerator[ReadPart, None]:
        parts: BoundedQueue[ReadPart] = BoundedQueue()

        def take(frame: str, payload: Any) -> None:
            if frame == frames.PART:
                parts.put(frames.unpack_part(payload))

        return parts.values(
            asyncio.create_task(self._run(path, name, kind.format, take, progress, model_dir=model_dir))
        )

    async def _run(
        self,
        path: Path,
        name: str,
        format_: Format | None,
        take: Callable[[str, Any], None],
        progress: Progress | None = None,
        *,
        web: dict[str, str] | None = None,
        model_dir: str = "",
    ) -> None:
        """Gives the frames of a job to `take`; its progress is reported on the event loop."""
        loop = asyncio.get_running_loop()

        def taken(frame: str, payload: Any) -> None:
            if frame != frames.PROGRESS:
                if frame == frames.DONE:
                    _log.debug("a file was read", extra={"file_name": name, **payload["costs"]})
                take(frame, payload)
            elif progress is not None:
                loop.call_soon_threadsafe(progress, payload)

        resolved = await asyncio.to_thread(path.resolve)
        if self._closed:
            raise Unavailable("the service is shutting down; upload the file again in a moment")
        request = {
            "path": str(resolved),
            "name": name,
            "format": format_,
            "whisper_dir": self._options.whisper_dir,
            "web": web,
            "model_dir": model_dir,
        }
        job = SandboxJob(self._fork_server, request, self._options.limits)
        if self._idle is not None:
            self._idle.cancel()
        self._jobs.add(job)
        running = self._threads.submit(job.run, taken)
        try:
            await asyncio.wrap_future(running)
        except asyncio.CancelledError:
            if running.cancelled():
                job.close()
            else:
                job.cancel()
            raise
        finally:
            self._jobs.discard(job)
            if not self._jobs and not self._closed:
                self._idle = loop.call_later(self._options.idle_seconds, self._stop_if_idle)

    def _stop_if_idle(self) -> None:
        if not self._jobs:
            self._threads.submit(self._fork_server.stop_if_idle)


def _broken_off(file_name: str) -> Unavailable:
    return Unavailable(
        f"{shown(file_name)} could not be read just now: the reading process ended; try again", 5.0
    )
