"""An answer is shown while it is being made."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from adapters.outbound.channels.tests.calls import a_channel
from adapters.outbound.channels.tests.support import NOW
from domain.channels.answers import OutboundMessage, Preview
from domain.channels.messages import Event, Outcome, Sender, Sent
from domain.instances.model import Instance
from domain.refusals import Unavailable
from domain.routing.conversation import ConversationContext
from domain.routing.drafting import Drafting, DraftService
from ports.channels import DraftAddress
from ports.queue import QueuedEvent

SENT = Sent(Outcome.SENT, ref="m1")
EVENT = Event("k", "s", Sender("u"), "hello", {"channel": "C1"}, request_id="r1")


class Platform:
    """Keeps what was shown; `outcomes` say how each exchange ends, the last one for ever."""

    def __init__(self, *outcomes: Sent) -> None:
        self.seconds = 0.001
        self.outcomes = list(outcomes) or [SENT]
        self.shown: list[tuple[object, str, str]] = []
        self.news = asyncio.Event()
        self.hold: asyncio.Event | None = None
        self.rendered = 0

    def preview(self, config: Any, target: Any) -> Preview:
        return Preview(self.seconds, 8, self._rendered)

    def _rendered(self, text: str) -> OutboundMessage | None:
        self.rendered += 1
        return OutboundMessage({"text": text.strip()}) if text.strip() else None

    async def draft(self, config: Any, target: Any, message: OutboundMessage, draft: str, key: str) -> Sent:
        raise AssertionError("the sender of drafts asks")

    async def show(self, address: DraftAddress, message: OutboundMessage, draft: str) -> Sent:
        self.shown.append((message.payload["text"], draft, address.key))
        self.news.set()
        if self.hold:
            await self.hold.wait()
        return self.outcomes.pop(0) if len(self.outcomes) > 1 else self.outcomes[0]

    async def seen(self, count: int) -> None:
        """Waits until so much was shown."""
        async with asyncio.timeout(30):
            while len(self.shown) < count:
                self.news.clear()
                await self.news.wait()


class Store:
    def __init__(self) -> None:
        self.kept: list[tuple[int, str]] = []

    async def drafted(self, inbox_id: int, draft: str) -> None:
        self.kept.append((inbox_id, draft))


def a_context(platform: Platform, draft: str = "") -> ConversationContext:
    instance = Instance(7, "owner", "workspace-chat", "x", {}, "agent::a", NOW, NOW)
    return ConversationContext(instance, a_channel(streaming=platform), False, draft)


@asynccontextmanager
async def drafting(platform: Platform, store: Store, context: ConversationContext) -> AsyncIterator[Drafting]:
    async with DraftService(platform, store).begin(context, QueuedEvent(5, EVENT, 0, NOW)) as begun:
        assert begun
        yield begun


def words(text: str) -> Callable[[], str]:
    return lambda: text


async def test_the_message_is_sent_once_kept_and_then_changed() -> None:
    platform, store = Platform(), Store()
    context = a_context(platform)
    async with drafting(platform, store, context) as draft:
        draft.update(words("One"))
        await platform.seen(1)
        draft.update(words("One two"))
        await platform.seen(2)
    assert platform.shown == [("One", "", "draft:r1"), ("One two", "m1", "draft:r1")]
    assert store.kept == [(5, "m1")]
    assert context.draft == "m1"


async def test_an_answer_that_comes_at_once_is_not_shown_before() -> None:
    platform = Platform()
    platform.seconds = 60
    async with drafting(platform, Store(), a_context(platform)) as draft:
        draft.update(words("One"))
    assert platform.shown == []


async def test_what_looks_the_same_is_not_sent_again() -> None:
    platform = Platform()
    async with drafting(platform, Store(), a_context(platform)) as draft:
        draft.update(words("12345678"))
        await platform.seen(1)
        draft.update(words("12345678 and more that does not fit"))
        draft.update(words("abc"))
        await platform.seen(2)
    assert [each[0] for each in platform.shown] == ["12345678", "abc"]


async def test_a_draft_of_an_earlier_try_is_taken_up() -> None:
    platform, store = Platform(Sent(Outcome.SENT, ref="m0")), Store()
    async with drafting(platform, store, a_context(platform, "m0")) as draft:
        draft.update(words("Anew"))
        await platform.seen(1)
    assert platform.shown == [("Anew", "m0", "draft:r1")]
    assert store.kept == []


async def test_leaving_waits_for_what_is_on_its_way() -> None:
    platform, store = Platform(), Store()
    context = a_context(platform)
    platform.hold = asyncio.Event()

    async def answered() -> None:
        async with drafting(platform, store, context) as draft:
            draft.update(words("One"))
            await platform.seen(1)

    work = asyncio.create_task(answered())
    await platform.seen(1)
    await asyncio.sleep(0)
    assert not work.done()
    platform.hold.set()
    await work
    assert (store.kept, context.draft) == ([(5, "m1")], "m1")


@pytest.mark.parametrize(
    ("draft", "outcomes", "texts"),
    [
        ("", [Sent(Outcome.PERMANENT), SENT], ["a"]),
        ("", [Sent(Outcome.UNKNOWN), SENT], ["a"]),
        ("", [Sent(Outcome.TRANSIENT), SENT], ["a", "a", "b"]),
        ("m1", [Sent(Outcome.UNKNOWN), SENT], ["a", "a", "b"]),
        ("", [Sent(Outcome.RETRY_AFTER, retry_after=0.001), SENT], ["a", "a", "b"]),
        ("", [Sent(Outcome.RETRY_AFTER, retry_after=60.0), SENT], ["a"]),
    ],
)
async def test_trouble_ends_it_only_where_going_on_could_double_or_is_useless(
    draft: str, outcomes: list[Sent], texts: list[str]
) -> None:
    platform = Platform(*outcomes)
    async with drafting(platform, Store(), a_context(platform, draft)) as told:
        told.update(words("a"))
        await platform.seen(min(2, len(texts)))
        told.update(words("b"))
        await platform.seen(len(texts))
        await asyncio.sleep(0.01)
    assert [each[0] for each in platform.shown] == texts


async def test_a_channel_that_fails_does_not_cost_the_answer(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(Platform):
        def _rendered(self, text: str) -> OutboundMessage | None:
            self.news.set()
            raise RuntimeError("no")

    platform = Broken()
    async with drafting(platform, Store(), a_context(platform)) as draft:
        draft.update(words("a"))
        await platform.news.wait()
    assert "could not be rendered" in caplog.text


async def test_an_outage_of_the_database_does_not_cost_the_answer() -> None:
    class Away(Store):
        async def drafted(self, inbox_id: int, draft: str) -> None:
            raise Unavailable("away")

    platform = Platform()
    context = a_context(platform)
    async with drafting(platform, Away(), context) as draft:
        draft.update(words("One"))
        await platform.seen(1)
        draft.update(words("One two"))
        await platform.seen(2)
    assert context.draft == "m1", "the finished answer takes its place"
    assert [each[1] for each in platform.shown] == ["", "m1"]
