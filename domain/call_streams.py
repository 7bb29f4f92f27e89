"""Answers calls that wait long, whole or as the answer grows."""

from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TypeVar

from domain.channels.answers import Answer
from domain.channels.messages import CallOutcome, Change, Event, Inquiry, RawAnswer
from domain.instances.model import Instance
from domain.refusals import Conflict, NotFound, TooMany, Unavailable
from ports.capabilities import AnswerWriter
from ports.instances import InstanceStore
from ports.queue import Answers, CallResult, Inbox, More, StoredCall
from ports.system import Clock

LOOK_AGAIN = 5.0
"""Seconds after which a waiting call checks for its answer without a notification, and shows that it is alive."""
MOST_CALLS = 800
"""Of a process: as many streams as one connection to the core takes, with room for others."""
MOST_OF_INSTANCE = 200
BUSY_SECONDS = 5.0

T = TypeVar("T")


class CallNotFound(NotFound):
    """There is no event that an inquiry is about."""


class CallEnded(Conflict):
    """The event that another one is to go on with was answered, and its answer asks nothing."""


@dataclass(eq=False)
class CallStreams:
    """Waits for answers, and writes them as they grow."""

    inbox: Inbox
    answers: Answers
    instances: InstanceStore
    clock: Clock
    _open: Counter[int] = field(default_factory=Counter, init=False)

    @contextmanager
    def counted(self, instance_id: int) -> Iterator[None]:
        """Raises `TooMany`."""
        if self._open[instance_id] >= MOST_OF_INSTANCE or self._open.total() >= MOST_CALLS:
            raise TooMany("too many calls wait for an answer; try again shortly", BUSY_SECONDS)
        self._open[instance_id] += 1
        try:
            yield
        finally:
            self._open[instance_id] -= 1
            if not self._open[instance_id]:
                del self._open[instance_id]

    async def find(self, instance_id: int, inquiry: Inquiry) -> StoredCall:
        """The event that an inquiry is about, which is withdrawn where the inquiry says so. Raises `CallNotFound`,
        `CallEnded`."""
        call = await self.inbox.find_call(instance_id, inquiry)
        if call is None:
            raise CallNotFound("there is no such message; it is unknown, or its time of retention is over")
        event = call.event
        if inquiry.continued_by not in ("", event.key):
            result = await self.inbox.outcome(call.id)
            if result is not None and not (result.answer and result.answer.asks):
                raise CallEnded("this was answered already, and the answer asks nothing")
        if inquiry.withdraws and event.session_id:
            deletion = Event(
                f"{event.key}:withdrawn",
                event.session_id,
                event.sender,
                "",
                event.target,
                message_id=event.message_id,
                change=Change.DELETED,
            )
            await self.inbox.add(instance_id, [deletion])
        return call

    async def write(
        self, instance: Instance, inbox_id: int, writer: AnswerWriter
    ) -> AsyncGenerator[RawAnswer | bytes, None]:
        """Yields the head, then the pieces of the body; empty pieces are signs of life, also before the head."""
        head, streamed = writer.head, list[str]()
        with self.answers.follow(inbox_id) as more:
            if head is not None:
                yield head
                yield writer.begin()
            result = await _unless_unavailable(self.inbox.outcome(inbox_id))
            deadline = self.clock.now() + timedelta(seconds=writer.wait_seconds)
            while result is None and (left := (deadline - self.clock.now()).total_seconds()) > 0:
                text, result = await self._next(instance, inbox_id, more, min(left, LOOK_AGAIN))
                if head is None:
                    yield b""
                elif text:
                    streamed.append(text)
                    yield writer.grown(text)
                elif result is None:
                    yield writer.keep_alive
        if result is None:
            result = await _unless_unavailable(self.inbox.outcome(inbox_id))
        result = result or CallResult(CallOutcome.TIMEOUT, None)
        if head is None:
            yield writer.whole(result.outcome, result.answer)
        else:
            yield writer.end(result.outcome, result.answer, "".join(streamed))

    async def _next(
        self, instance: Instance, inbox_id: int, more: More, seconds: float
    ) -> tuple[str, CallResult | None]:
        """The text that was added, or the result where it is there."""
        if text := await more(seconds):
            return text, None
        result = await _unless_unavailable(self.inbox.outcome(inbox_id))
        if result is None:
            with suppress(Unavailable):
                if await self.instances.cached(instance.id) is None:  # its messages are deleted with it
                    result = CallResult(CallOutcome.FAILED, Answer("The instance was deleted."))
        return "", result


async def _unless_unavailable(lookup: Awaitable[T | None]) -> T | None:
    """None in an outage of the database: the message is accepted, so that the call must not be told to try again."""
    try:
        return await lookup
    except Unavailable:
        return None
