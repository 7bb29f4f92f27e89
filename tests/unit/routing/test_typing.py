"""The sign that somebody is writing: when it is shown again, and what ends it."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence

import pytest

from domain.channels.messages import Config, Outcome, Sent, Target
from domain.routing import indicators as typing
from domain.routing.indicators import LINGER_SECONDS, SHOWN_AFTER_SECONDS, LingeringTyping, RepeatedTyping
from ports.outbox import QueuedMessages
from ports.queue import QueueKey
from tests.support.waiting import let_pass, stopped_clock

SENT = Sent(Outcome.SENT)


class Channel:
    """Answers as a test says, the last answer again and again."""

    typing_seconds = 4.0

    def __init__(self, *answers: Sent | Exception | None) -> None:
        self.answers: Sequence[Sent | Exception | None] = answers or (SENT,)
        self.calls = 0
        self.hangs = False
        self.broken_off = 0

    async def typing(self, config: Config, target: Target) -> Sent | None:
        self.calls += 1
        if self.hangs:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.broken_off += 1
                raise
        answer = self.answers[min(self.calls, len(self.answers)) - 1]
        if isinstance(answer, Exception):
            raise answer
        return answer


async def settled() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def begun() -> None:
    let_pass(SHOWN_AFTER_SECONDS)
    await settled()


async def calls_after(shown: RepeatedTyping, channel: Channel, *pauses: float) -> list[int]:
    """How many calls there were at the start, and after each pause."""
    counted = []
    with stopped_clock():
        await begun()
        counted.append(channel.calls)
        for pause in pauses:
            let_pass(pause)
            await settled()
            counted.append(channel.calls)
        shown.stop()
    return counted


@pytest.mark.parametrize(
    "again", [SENT, Sent(Outcome.TRANSIENT), Sent(Outcome.UNKNOWN), Sent(Outcome.RETRY_AFTER)]
)
async def test_is_shown_again_at_the_interval_of_the_channel(again: Sent) -> None:
    channel = Channel(again)
    assert await calls_after(RepeatedTyping(channel, {}, {}), channel, 3.9, 0.2, 3.9, 0.2) == [1, 1, 2, 2, 3]


@pytest.mark.parametrize("end", [None, Sent(Outcome.PERMANENT, "HTTP 403"), RuntimeError("a bug")])
async def test_ends_where_it_cannot_be_shown(end: Sent | Exception | None) -> None:
    channel = Channel(SENT, end)
    assert await calls_after(RepeatedTyping(channel, {}, {}), channel, 4.1, 60, 60) == [1, 2, 2, 2]


@pytest.mark.parametrize("outcome", [Outcome.RETRY_AFTER, Outcome.SENT])
async def test_waits_as_long_as_the_platform_asks(outcome: Outcome) -> None:
    channel = Channel(Sent(outcome, retry_after=30.0), SENT)
    assert await calls_after(RepeatedTyping(channel, {}, {}), channel, 29, 1.1) == [1, 1, 2]


async def test_a_call_without_an_answer_is_given_up_and_made_again() -> None:
    channel = Channel()
    channel.hangs = True
    shown = RepeatedTyping(channel, {}, {})
    assert await calls_after(shown, channel, typing.CALL_SECONDS + 0.1) == [1, 2]
    assert channel.broken_off == 1


async def test_a_stop_breaks_off_the_call_that_is_under_way() -> None:
    channel = Channel()
    channel.hangs = True
    shown = RepeatedTyping(channel, {}, {})
    assert await calls_after(shown, channel) == [1]
    await settled()
    assert channel.broken_off == 1


async def test_is_not_shown_for_an_answer_that_comes_soon() -> None:
    channel = Channel()
    with stopped_clock():
        shown = RepeatedTyping(channel, {}, {})
        let_pass(SHOWN_AFTER_SECONDS - 0.01)
        await settled()
        shown.stop()
        let_pass(60)
        await settled()
    assert channel.calls == 0


async def test_nothing_is_shown_after_a_stop() -> None:
    channel = Channel()
    assert await calls_after(RepeatedTyping(channel, {}, {}), channel, 4.1) == [1, 2]
    let_pass(60)
    await settled()
    assert channel.calls == 2


KEY = QueueKey(7, "s")


async def delivered(lingering: LingeringTyping, deliver: Callable[[QueuedMessages], Awaitable[None]]) -> None:
    with lingering.during(KEY):
        await deliver(QueuedMessages(KEY, ()))


async def test_goes_on_until_the_answer_is_handed_to_the_platform() -> None:
    channel, lingering = Channel(), LingeringTyping()
    counted = []

    async def deliver(leased: QueuedMessages) -> None:
        let_pass(60)  # the platform asked for a pause
        await settled()
        counted.append(channel.calls)
        lingering.stop(leased.key)
        let_pass(60)
        await settled()
        counted.append(channel.calls)

    with stopped_clock():
        sign = RepeatedTyping(channel, {}, {})
        await begun()
        lingering.linger(KEY, sign)
        await delivered(lingering, deliver)
    assert counted == [2, 2]


@pytest.mark.parametrize("fails", [False, True])
async def test_ends_where_the_delivery_is_put_off_or_fails(fails: bool) -> None:
    channel, lingering = Channel(), LingeringTyping()

    async def deliver(leased: QueuedMessages) -> None:
        if fails:
            raise RuntimeError("no")

    with stopped_clock():
        lingering.linger(KEY, RepeatedTyping(channel, {}, {}))
        await begun()
        with contextlib.suppress(RuntimeError):
            await delivered(lingering, deliver)
        let_pass(60)
        await settled()
    assert channel.calls == 1


async def test_ends_soon_where_another_process_delivers() -> None:
    channel, lingering = Channel(), LingeringTyping()
    with stopped_clock():
        lingering.linger(KEY, RepeatedTyping(channel, {}, {}))
        await begun()
        let_pass(LINGER_SECONDS - SHOWN_AFTER_SECONDS)
        await settled()
        let_pass(60)
        await settled()
    assert channel.calls == 1


async def test_a_conversation_has_one_sign_and_a_process_that_ends_has_none() -> None:
    first, second, lingering = Channel(), Channel(), LingeringTyping()
    with stopped_clock():
        for channel in (first, second):
            lingering.linger(KEY, RepeatedTyping(channel, {}, {}))
            await begun()
        lingering.stop_all()
        let_pass(60)
        await settled()
    assert (first.calls, second.calls) == (1, 1)
