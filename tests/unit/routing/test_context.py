"""What was said before a message: bounded in length and in time, and never worth the message itself."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from adapters.outbound.channels.tests.calls import a_channel
from domain.channels.messages import LONGEST_QUOTED, Event, Quoted, Sender, ThreadMessage
from domain.delivery.concurrency import ConcurrencyLimiter, ReadLimiter
from domain.instances.model import Instance
from domain.refusals import StorageAway
from domain.routing import context as service
from domain.routing.context import MOST_EARLIER, ContextService
from domain.routing.conversation import ConversationContext
from domain.routing.model import QuotedMessage
from ports.capabilities import PlatformError
from ports.files import FetchedFiles
from ports.queue import QueuedEvent

AT = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


class Stored:
    """Messages of the database."""

    def __init__(self, found: Quoted | None = None, *, first: bool = True) -> None:
        self._found, self._first = found, first

    async def find_quoted(self, instance_id: int, quoted: Quoted) -> Quoted | None:
        return self._found

    async def is_first(self, instance_id: int, session_id: str, inbox_id: int) -> bool:
        return self._first


class Files:
    async def fetch(self, instance: Instance, *about: object) -> FetchedFiles:
        return FetchedFiles()


class Platform:
    """Gives what it is told to, or raises it; `hangs`: it never answers."""

    def __init__(self, gives: Any = None, *, hangs: bool = False) -> None:
        self._gives, self._hangs = gives, hangs
        self.asked = 0

    async def read_quoted(self, config: Any, target: Any, quoted: Quoted) -> Quoted | None:
        found: Quoted | None = await self._answer()
        return found

    async def read_thread(self, config: Any, target: Any, before: str, most: int) -> Sequence[ThreadMessage]:
        found: Sequence[ThreadMessage] = await self._answer()
        return found

    async def _answer(self) -> Any:
        self.asked += 1
        if self._hangs:
            await asyncio.Event().wait()
        if isinstance(self._gives, Exception):
            raise self._gives
        return self._gives


def event(quoted: Quoted | None = None, thread_post: str = "") -> Event:
    return Event("k", "s", Sender("7"), "Is it?", {}, quoted=quoted, thread_post=thread_post)


def context(platform: Platform) -> ConversationContext:
    channel = a_channel(quoted_reader=platform, thread_reader=platform)
    instance = Instance(1, "ann", "any", "n", {}, None, AT, AT)
    return ConversationContext(instance, channel, has_open_approval=False)


def contexts(stored: Stored) -> ContextService:
    return ContextService(stored, Files(), ReadLimiter(ConcurrencyLimiter()))


async def quoted(platform: Platform, stored: Stored, given: Quoted | None) -> QuotedMessage | None:
    return await contexts(stored).quoted(context(platform), QueuedEvent(5, event(given), 0, AT))


async def thread(platform: Platform, stored: Stored, post: str = "17") -> tuple[ThreadMessage, ...]:
    waiting = QueuedEvent(5, event(thread_post=post), 0, AT)
    return await contexts(stored).thread(context(platform), waiting)


async def test_what_the_platform_gave_is_not_asked_for() -> None:
    platform = Platform(Quoted("read"))
    assert await quoted(platform, Stored(Quoted("stored")), Quoted("given", "Bob")) == QuotedMessage(
        "given", "Bob"
    )
    assert platform.asked == 0


async def test_what_is_stored_is_not_read_from_the_platform() -> None:
    platform = Platform(Quoted("read"))
    assert await quoted(platform, Stored(Quoted("stored", "Ada")), Quoted(ref="1")) == QuotedMessage(
        "stored", "Ada"
    )
    assert platform.asked == 0


async def test_what_is_not_stored_is_read_from_the_platform() -> None:
    assert await quoted(Platform(Quoted("read", "Bob")), Stored(), Quoted(ref="1")) == QuotedMessage(
        "read", "Bob"
    )


async def test_a_message_that_replies_to_nothing_asks_nobody() -> None:
    platform = Platform(Quoted("read"))
    assert await quoted(platform, Stored(Quoted("stored")), None) is None
    assert await thread(platform, Stored(), post="") == ()
    assert platform.asked == 0


async def test_long_texts_are_cut() -> None:
    found = await quoted(Platform(), Stored(), Quoted("x" * 100_000))
    assert found is not None
    assert (len(found.text), found.text[-1]) == (LONGEST_QUOTED, "…")
    (earlier,) = await thread(Platform([ThreadMessage("x" * 100_000, "Bob", AT)]), Stored())
    assert len(earlier.text) == LONGEST_QUOTED


async def test_a_long_thread_is_cut_to_its_latest_messages() -> None:
    messages = [ThreadMessage(str(number), "Bob", AT) for number in range(100)]
    found = await thread(Platform(messages), Stored())
    assert [message.text for message in found] == [str(number) for number in range(100 - MOST_EARLIER, 100)]


async def test_a_session_that_is_known_is_not_read() -> None:
    platform = Platform([ThreadMessage("1", "Bob", AT)])
    assert await thread(platform, Stored(first=False)) == ()
    assert platform.asked == 0


@pytest.mark.parametrize("failure", [PlatformError("missing_scope"), ValueError("unexpected")])
async def test_a_failure_costs_the_context_alone(failure: Exception) -> None:
    assert await quoted(Platform(failure), Stored(), Quoted(ref="1")) is None
    assert await thread(Platform(failure), Stored()) == ()


async def test_a_platform_that_hangs_costs_the_context_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "READ_SECONDS", 0.01)
    assert await quoted(Platform(hangs=True), Stored(), Quoted(ref="1")) is None
    assert await thread(Platform(hangs=True), Stored()) == ()


async def test_an_outage_of_the_database_is_told() -> None:
    with pytest.raises(StorageAway):
        await quoted(Platform(StorageAway("away")), Stored(), Quoted(ref="1"))
