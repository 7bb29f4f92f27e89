"""Limits of trials: their number, their time, the length of an answer."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from adapters.outbound.channels.tests.support import SetClock
from adapters.outbound.system.clock import RandomIds
from domain.access.model import Caller, Role
from domain.refusals import Invalid, TooMany
from domain.routing.model import Resource, ResourceRule, ResourceRules, RunRequest, RunResult
from domain.routing.trials import MOST_SHOWN, MOST_TRIALS, SECONDS, TrialService
from tests.support.waiting import let_pass

RULE = ResourceRule("rule", "*", "http", "http://a.example", 120.0)
ANN = Caller("ann")


class Rules:
    async def rules(self) -> ResourceRules:
        return ResourceRules([RULE])

    async def find(self, resource: Resource, caller: Caller) -> ResourceRule | None:
        return RULE


class Slow:
    """Answers when it is told to."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.asked: list[RunRequest] = []
        self.came = asyncio.Condition()

    async def run(self, request: RunRequest) -> RunResult:
        async with self.came:
            self.asked.append(request)
            self.came.notify_all()
        await self.go.wait()
        return RunResult("x" * (MOST_SHOWN + 5))

    async def has(self, count: int) -> None:
        async with self.came:
            await self.came.wait_for(lambda: len(self.asked) == count)


@pytest.fixture
def slow() -> Slow:
    return Slow()


@pytest.fixture
def service(slow: Slow) -> TrialService:
    usage: Any = SimpleNamespace(keep=lambda *_: None)
    budgets: Any = SimpleNamespace(used_up=lambda *_: None)
    return TrialService(Rules(), slow, SetClock(), RandomIds(), usage, budgets)


async def test_a_user_has_one_trial_at_a_time(service: TrialService, slow: Slow) -> None:
    first = asyncio.create_task(service.try_out(ANN, "agent::a", "hi", ask=True))
    await slow.has(1)
    with pytest.raises(TooMany, match="your last trial"):
        await service.try_out(ANN, "agent::a", "hi", ask=True)
    assert (await service.try_out(ANN, "agent::a", "", ask=False)).answer is None
    slow.go.set()
    answer = (await first).answer
    assert answer is not None
    assert len(answer.text) == MOST_SHOWN
    assert (await service.try_out(ANN, "agent::a", "hi", ask=True)).answer == answer


async def test_all_users_together_have_a_few(service: TrialService, slow: Slow) -> None:
    users = [Caller(f"user-{number}") for number in range(MOST_TRIALS)]
    trials = [asyncio.create_task(service.try_out(user, "agent::a", "hi", ask=True)) for user in users]
    await slow.has(MOST_TRIALS)
    with pytest.raises(TooMany, match="of others"):
        await service.try_out(ANN, "agent::a", "hi", ask=True)
    slow.go.set()
    await asyncio.gather(*trials)


async def test_a_resource_that_hangs_is_given_up(service: TrialService, slow: Slow) -> None:
    trial = asyncio.create_task(service.try_out(ANN, "agent::a", "hi", ask=True))
    await slow.has(1)
    let_pass(SECONDS + 1)
    answer = (await trial).answer
    assert answer is not None
    assert answer.error == "the resource does not answer within 30 s"


async def test_a_service_says_for_whom_it_asks(service: TrialService) -> None:
    with pytest.raises(Invalid, match="x-user-id"):
        await service.try_out(Caller("s", Role.ADMIN, is_service=True), "agent::a", "hi", ask=True)
