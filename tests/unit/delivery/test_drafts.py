"""Drafts keep the limits of the platform, and what it says of them holds for answers."""

import asyncio
from typing import Any

import pytest

from adapters.outbound.channels.tests.calls import a_channel
from adapters.outbound.channels.tests.support import NOW, SetClock
from domain.channels.answers import OutboundMessage
from domain.channels.limits import Limits, Quota
from domain.channels.messages import Outcome, Sent
from domain.delivery import drafts
from domain.delivery.concurrency import ConcurrencyLimiter, known_limits
from domain.delivery.drafts import LimitedDrafts
from domain.delivery.model import send_request
from domain.delivery.rate_limits import RateLimiter
from domain.instances.model import Instance
from ports.channels import DraftAddress

INSTANCE = Instance(7, "owner", "any", "x", {}, "agent::a", NOW, NOW)
MESSAGE = OutboundMessage({"text": "One"})
LIMITS = Limits("bot", "room", per_conversation=(Quota(1, 1.0),), edits=(Quota(3, 60.0, burst=3),))


class Nobody:
    """No other workers, no database, no metrics."""

    def __getattr__(self, name: str) -> Any:
        async def asked(*arguments: object) -> None:
            return None

        return asked if name in ("cool_down", "open_breaker") else lambda *arguments: None


class Channel:
    """Answers each call as a test says."""

    def __init__(self, answer: Sent | Exception | None) -> None:
        self.answer = answer
        self.calls = 0

    def limits(self, config: object, target: object) -> Limits:
        return LIMITS

    async def draft(self, *arguments: object) -> Sent:
        self.calls += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        if self.answer is None:
            await asyncio.Event().wait()
        assert self.answer
        return self.answer


class Case:
    def __init__(self, answer: Sent | Exception | None = Sent(Outcome.SENT, ref="m1")) -> None:  # noqa: B008
        self.clock = SetClock()
        self.slept: list[float] = []
        nobody: Any = Nobody()
        self.limiter = RateLimiter(
            nobody, self.clock, self._sleep, lambda: None, nobody, ConcurrencyLimiter()
        )
        self.platform = Channel(answer)
        self.channel = a_channel(streaming=self.platform, limits=self.platform)
        self.address = DraftAddress(INSTANCE, self.channel, "s", {}, "draft:r1")

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.clock.advance(seconds)

    async def show(self, draft: str = "m1") -> Sent:
        return await LimitedDrafts(self.limiter).show(self.address, MESSAGE, draft)


async def test_an_edit_for_which_there_is_no_room_is_left_out() -> None:
    case = Case()
    assert (await case.show("")).outcome is Outcome.SENT
    refused = await case.show()
    assert (refused.outcome, refused.retry_after, case.platform.calls) == (Outcome.RETRY_AFTER, 1.0, 1)
    case.clock.advance(1.0)
    assert (await case.show()).outcome is Outcome.SENT
    assert case.slept == []


async def test_edits_have_quotas_of_their_own() -> None:
    case = Case()
    outcomes = []
    for _ in range(4):
        outcomes.append((await case.show()).outcome)
        case.clock.advance(1.0)
    assert outcomes == [Outcome.SENT] * 3 + [Outcome.RETRY_AFTER]
    assert (await case.show("")).outcome is Outcome.SENT, "a message is no edit"


async def test_a_pause_that_the_platform_asks_for_holds_for_the_answer() -> None:
    case = Case(Sent(Outcome.RETRY_AFTER, "HTTP 429", retry_after=4.0))
    assert (await case.show()).retry_after == 4.0
    assert (await case.show()).retry_after == pytest.approx(4.0)
    assert case.platform.calls == 1
    limits = known_limits(INSTANCE, case.channel)
    request = send_request(INSTANCE.id, INSTANCE.channel_id, "s", limits)
    assert await case.limiter.acquire(request) == 0.0
    assert sum(case.slept) >= 4.0


async def test_a_failure_of_the_channel_ends_the_draft(caplog: pytest.LogCaptureFixture) -> None:
    case = Case(RuntimeError("a bug"))
    assert (await case.show()).outcome is Outcome.PERMANENT
    assert "could not be shown" in caplog.text


async def test_an_edit_without_an_answer_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafts, "CALL_SECONDS", 0.01)
    assert (await Case(None).show()).outcome is Outcome.UNKNOWN


async def test_no_slot_stays_taken() -> None:
    case = Case(RuntimeError("a bug"))
    for _ in range(100):
        await case.show()
        case.clock.advance(60.0)
    assert case.platform.calls == 100
