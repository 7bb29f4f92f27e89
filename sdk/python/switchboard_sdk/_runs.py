"""Runs of a handler: one for each request id, however often the request comes."""

import asyncio
import contextvars
import functools
import inspect
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from switchboard_sdk._asgi import dumps
from switchboard_sdk.answers import Answer, answer_of
from switchboard_sdk.messages import Message

Handler = Callable[[Message], Any]

_END = object()
_threads = ThreadPoolExecutor(64, "switchboard-agent")
"""For handlers that are no coroutines."""


class Run:
    """One run. `deltas` are the pieces of text so far. At the end `body` (JSON of the answer) or `error` is set."""

    def __init__(self) -> None:
        self.deltas: list[str] = []
        self.body: bytes | None = None
        self.error: BaseException | None = None
        self.task: asyncio.Task[None] | None = None
        self._news = asyncio.Event()

    @property
    def is_done(self) -> bool:
        return self.body is not None or self.error is not None

    async def wait(self, seen: int, seconds: float) -> None:
        """Returns when there are more than `seen` deltas, at the end of the run, or after so many seconds."""
        if len(self.deltas) > seen or self.is_done:
            return
        try:
            async with asyncio.timeout(seconds):
                await self._news.wait()
        except TimeoutError:
            return

    async def execute(self, handler: Handler, message: Message, seconds: float) -> None:
        """Never raises, unless it is cancelled."""
        try:
            async with asyncio.timeout(seconds):
                answer = await self._collected(handler, message)
                self.body = await asyncio.to_thread(lambda: dumps(answer.as_json()))
        except asyncio.CancelledError as error:
            self.error = error
            raise
        except Exception as error:  # noqa: BLE001 - whoever follows the run logs it
            self.error = error

    async def _collected(self, handler: Handler, message: Message) -> Answer:
        """The whole answer. Text that is yielded becomes a delta; what is returned is complete as it is."""
        made = await _returned(handler, message)
        if not inspect.isasyncgen(made) and not inspect.isgenerator(made):
            return answer_of(made)
        answer = Answer()
        async with aclosing(made if inspect.isasyncgen(made) else _in_threads(made)) as parts:
            async for part in parts:
                piece = answer_of(part)
                if piece.text:
                    self.deltas.append(piece.text)
                    self.tell()
                if not isinstance(part, str):
                    answer += replace(piece, text="")
        return replace(answer, text="".join(self.deltas))

    def tell(self) -> None:
        """Wakes all who wait."""
        self._news.set()
        self._news = asyncio.Event()


class Runs:
    """The runs under way, and a bounded memory of those that ended well.

    A request that comes again gets the answer of the first, so that no tool runs twice. Runs that failed are
    forgotten: the next request tries again.
    """

    def __init__(self, most: int, most_remembered: int, most_remembered_size: int) -> None:
        self._most = most
        self._most_remembered = most_remembered
        self._most_size = most_remembered_size
        self._under_way: dict[str, Run] = {}
        self._remembered: OrderedDict[str, Run] = OrderedDict()
        self._size = 0

    @property
    def is_full(self) -> bool:
        return len(self._under_way) >= self._most

    def find(self, request_id: str) -> Run | None:
        return self._under_way.get(request_id) or self._remembered.get(request_id)

    def start(self, handler: Handler, message: Message, seconds: float) -> Run:
        run = self._under_way[message.request_id] = Run()
        run.task = asyncio.create_task(self._execute(run, handler, message, seconds))
        return run

    async def _execute(self, run: Run, handler: Handler, message: Message, seconds: float) -> None:
        try:
            await run.execute(handler, message, seconds)
        finally:
            self._end(message.request_id)
            run.tell()

    async def cancel(self) -> None:
        """Cancels what is under way, and waits for its end."""
        tasks = [run.task for run in self._under_way.values() if run.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _end(self, request_id: str) -> None:
        run = self._under_way.pop(request_id)
        if run.body is None:
            return
        run.deltas.clear()  # the body has them
        self._remembered[request_id] = run
        self._size += len(run.body)
        while len(self._remembered) > self._most_remembered or self._size > self._most_size:
            _, forgotten = self._remembered.popitem(last=False)
            self._size -= len(forgotten.body or b"")


async def _returned(handler: Handler, message: Message) -> object:
    """What the handler returns: a generator, or the whole answer. It may be an object, or decorated."""
    is_quick = inspect.iscoroutinefunction(handler) or inspect.isasyncgenfunction(handler)
    made = handler(message) if is_quick else await _in_thread(handler, message)
    return await made if inspect.isawaitable(made) else made


async def _in_threads(generator: Iterator[object]) -> AsyncGenerator[object, None]:
    while (part := await _in_thread(next, generator, _END)) is not _END:
        yield part


async def _in_thread(function: Callable[..., Any], *arguments: Any) -> Any:
    context = contextvars.copy_context()
    call = functools.partial(context.run, _without_stop, function, *arguments)
    return await asyncio.get_running_loop().run_in_executor(_threads, call)


def _without_stop(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call the function. A `StopIteration` would never reach whoever waits for the thread."""
    try:
        return function(*arguments)
    except StopIteration as error:
        raise RuntimeError("the handler raised StopIteration") from error
