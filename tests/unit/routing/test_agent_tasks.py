"""Tasks that outlive their runs: when they are asked for again, and how they end."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import pytest

from domain.channels.answers import Answer
from domain.conversations.results import ResultService
from domain.conversations.sending import SendingService
from domain.instances.model import Activity
from domain.refusals import Conflict, PlatformAway, Refusal
from domain.routing.agent_tasks import AgentTaskService
from domain.routing.conversation import APOLOGY
from domain.routing.model import AgentTask, RunResult
from domain.routing.resource import parse_resource
from ports.resources import DownstreamFailed

TASK = AgentTask(
    instance_id=7, session_id="s", resource=parse_resource("agent::a"), request_id="r", task_id="t", polls=1
)


class Instance:
    id, status, user_id, channel_id = 7, "active", "ann", "x"


class Parts:
    """Everything that the service uses: it polls one task, and what comes of it."""

    def __init__(self, outcome: RunResult | Exception | None, task: AgentTask = TASK) -> None:
        self.outcome, self.task = outcome, task
        self.is_gone = self.is_taken = False
        self.refusal: Refusal | None = None
        self.pauses: list[float] = []
        self.finished: list[str] = []
        self.sent: list[tuple[str, str]] = []
        self.failures: list[str] = []
        whole = cast(Any, self)
        results = ResultService(whole, whole, cast(SendingService, self))
        self.service = AgentTaskService(whole, self.poll, whole, results, whole, whole)

    async def lease_due(self) -> Sequence[AgentTask]:
        return [self.task]

    async def renew(self, task: AgentTask) -> bool:
        return not self.is_taken

    async def postpone(self, task: AgentTask, seconds: float) -> None:
        self.pauses.append(seconds)

    async def finish(self, task: AgentTask) -> None:
        self.finished.append(task.request_id)

    async def poll(self, task: AgentTask, owner: str) -> RunResult | None:
        assert owner == "ann"
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome

    async def find(self, instance_id: int) -> Any:
        return None if self.is_gone else Instance()

    async def failed(self, instance_id: int, activity: Activity, error: str) -> None:
        self.failures.append(error)

    async def send_result(self, instance: Any, session_id: str, answer: Answer, idempotency_key: str) -> None:
        if self.refusal:
            raise self.refusal
        self.sent.append((answer.text, idempotency_key))


@pytest.fixture(autouse=True)
def plain_channel(monkeypatch: pytest.MonkeyPatch) -> None:
    class Channel:
        sender = object()
        forwarding = None

    monkeypatch.setattr("domain.conversations.results.known_channel", lambda *_: Channel())


async def polled(parts: Parts) -> Parts:
    await parts.service.poll_due()
    return parts


async def test_a_result_is_sent_under_the_key_of_its_request() -> None:
    parts = await polled(Parts(RunResult("Done.")))
    assert parts.sent == [("Done.", "result of r")]
    assert parts.finished == ["r"]
    assert not parts.failures


async def test_an_answer_without_content_sends_nothing() -> None:
    parts = await polled(Parts(RunResult("")))
    assert not parts.sent
    assert parts.finished == ["r"]


@pytest.mark.parametrize(("polls", "pause"), [(0, 5.0), (1, 7.5), (3, 16.875), (50, 60.0)])
async def test_the_pause_grows_while_the_agent_works(polls: int, pause: float) -> None:
    parts = await polled(Parts(None, replace(TASK, polls=polls)))
    assert parts.pauses == [pause]
    assert not parts.finished


@pytest.mark.parametrize(("wished", "pause"), [(None, 7.5), (2.0, 7.5), (90.0, 90.0), (1e9, 600.0)])
async def test_what_fails_for_the_moment_is_asked_for_again(wished: float | None, pause: float) -> None:
    parts = await polled(Parts(DownstreamFailed("status 503", retryable=True, retry_after=wished)))
    assert parts.pauses == [pause]
    assert not parts.finished


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [(DownstreamFailed("status 503", retryable=True), "status 503"), (None, "over 24 hours")],
)
async def test_nothing_is_waited_for_longer_than_a_day(outcome: Exception | None, reason: str) -> None:
    parts = await polled(Parts(outcome, replace(TASK, overdue=True)))
    assert parts.sent == [(APOLOGY, "result of r")]
    assert reason in parts.failures[0]
    assert parts.finished == ["r"]


async def test_a_task_that_failed_ends_with_an_apology() -> None:
    parts = await polled(Parts(DownstreamFailed("the task failed: no paper", retryable=False)))
    assert parts.sent == [(APOLOGY, "result of r")]
    assert parts.failures == ["a task of the downstream resource failed: the task failed: no paper"]


async def test_a_result_that_nobody_takes_now_is_sent_later() -> None:
    parts = Parts(RunResult("Done."))
    parts.refusal = PlatformAway("busy", 30.0)
    await polled(parts)
    assert parts.pauses == [30.0]
    assert not parts.finished


async def test_a_result_that_is_refused_is_on_record() -> None:
    parts = Parts(RunResult("Done."))
    parts.refusal = Conflict("the person wants no messages")
    await polled(parts)
    assert parts.failures == ["sending the result of a task: the person wants no messages"]
    assert parts.finished == ["r"]


async def test_a_result_that_a_message_gets_meanwhile_is_not_sent() -> None:
    parts = Parts(RunResult("Done."))
    parts.is_taken = True
    await polled(parts)
    assert not parts.sent
    assert not parts.finished


async def test_a_task_of_an_instance_that_is_gone_is_left_alone() -> None:
    parts = Parts(RunResult("Done."))
    parts.is_gone = True
    await polled(parts)
    assert not parts.sent
    assert not parts.finished
