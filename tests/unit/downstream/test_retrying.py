"""Retries of a resource, under a clock that the test turns."""

import asyncio
import contextlib

import pytest

from adapters.outbound.resources.router import Retrying
from domain.routing.model import Approval, RunRequest, RunResult
from ports.resources import Downstream, DownstreamFailed
from tests.support.runs import ScriptedRunner, a_request

DONE = RunResult("done")


class Time:
    """Sleeping moves it; nothing else does."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def busy(retry_after: float | None = None) -> DownstreamFailed:
    return DownstreamFailed("busy", retryable=True, retry_after=retry_after)


def retrying(inner: Downstream, time: Time, chance: float = 0.0) -> Retrying:
    return Retrying(inner, sleep=time.sleep, now=lambda: time.now, chance=lambda: chance)


async def test_an_answer_at_once_needs_no_wait() -> None:
    time, inner = Time(), ScriptedRunner(DONE)

    assert await retrying(inner, time).run(a_request()) == DONE
    assert time.slept == []
    assert inner.requests[0].timeout == 60.0


async def test_waits_double() -> None:
    time, inner = Time(), ScriptedRunner(busy(), busy(), busy(), DONE)

    assert await retrying(inner, time).run(a_request(timeout=120)) == DONE
    assert time.slept == [0.5, 1.0, 2.0]


async def test_chance_spreads_the_waits() -> None:
    time, inner = Time(), ScriptedRunner(busy(), DONE)

    await retrying(inner, time, chance=0.5).run(a_request(timeout=120))

    assert time.slept == [0.625]


async def test_each_try_gets_the_time_that_is_left() -> None:
    time, inner = Time(), ScriptedRunner(busy(), busy(), DONE)

    await retrying(inner, time).run(a_request(timeout=10))

    assert [request.timeout for request in inner.requests] == [10.0, 9.5, 8.5]


async def test_retry_after_is_not_undercut() -> None:
    time, inner = Time(), ScriptedRunner(busy(retry_after=7), DONE)

    await retrying(inner, time).run(a_request(timeout=120))

    assert time.slept == [7]


async def test_a_wait_beyond_the_time_limit_is_not_begun() -> None:
    time, inner = Time(), ScriptedRunner(busy(retry_after=120), DONE)

    with pytest.raises(DownstreamFailed, match="busy"):
        await retrying(inner, time).run(a_request(timeout=120))

    assert time.slept == []
    assert len(inner.requests) == 1


async def test_a_failure_for_good_is_not_tried_again() -> None:
    time, inner = Time(), ScriptedRunner(DownstreamFailed("bad request", retryable=False), DONE)

    with pytest.raises(DownstreamFailed, match="bad request"):
        await retrying(inner, time).run(a_request())

    assert len(inner.requests) == 1


@pytest.mark.parametrize(
    ("decision", "begun", "tries"),
    [
        ("approved", True, 1),
        ("approved_for_session", True, 1),
        ("approved", False, 2),
        ("rejected", True, 2),
    ],
)
async def test_a_tool_that_may_have_been_used_is_not_used_again(
    decision: str, begun: bool, tries: int
) -> None:
    failure = DownstreamFailed("broke off", retryable=True, begun=begun)
    inner = ScriptedRunner(failure, DONE)

    with contextlib.suppress(DownstreamFailed):
        await retrying(inner, Time()).run(a_request(approval=Approval("c1", "ring", decision)))

    assert len(inner.requests) == tries


async def test_the_number_of_tries_is_bounded() -> None:
    time, inner = Time(), ScriptedRunner(busy())

    with pytest.raises(DownstreamFailed, match="busy"):
        await retrying(inner, time).run(a_request(timeout=600))

    assert len(inner.requests) == 6
    assert time.slept == [0.5, 1.0, 2.0, 4.0, 8.0]


async def test_a_resource_that_hangs_is_given_up_at_the_time_limit() -> None:
    class Hanging:
        async def run(self, request: RunRequest) -> RunResult:
            await asyncio.Event().wait()
            raise AssertionError(request)

    with pytest.raises(DownstreamFailed, match=r"does not answer within 0\.05 s") as caught:
        await retrying(Hanging(), Time()).run(a_request(timeout=0.05))

    assert not caught.value.retryable


async def test_what_is_no_failure_of_the_resource_is_not_hidden() -> None:
    with pytest.raises(KeyError):
        await retrying(ScriptedRunner(KeyError("bug")), Time()).run(a_request())
