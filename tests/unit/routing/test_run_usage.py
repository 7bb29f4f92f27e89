"""Whose usage a run is, and that fallbacks and further runs for approved tools count as runs of their own."""

from types import SimpleNamespace
from typing import Any

import pytest

from adapters.outbound.channels.tests.support import SetClock
from domain.channels.provenance import Usage
from domain.confirmations.model import ApprovedTool
from domain.routing.conversation import ProcessingFailed
from domain.routing.model import Confirmation, RunRequest, RunResult, RunSender
from domain.routing.running import RunService
from domain.usage.budget_service import BudgetGuard
from ports.resources import DownstreamFailed
from tests.support.runs import a_request


class Agents:
    """Fails behind agent::bad, and asks for a tool first behind agent::asks."""

    async def run(self, request: RunRequest) -> RunResult:
        if request.resource.id == "bad":
            request.usage_meter.add_failed(Usage(5, 0))
            raise DownstreamFailed("no", retryable=False)
        asks = request.resource.id == "asks" and request.approval is None
        return RunResult("hi", confirmation=Confirmation("tool", {}) if asks else None, usage=Usage(9, 4))


@pytest.fixture
def service() -> RunService:
    meter: Any = SimpleNamespace(downstream=lambda *_: None)
    store: Any = None
    return RunService(Agents(), SetClock(), meter, BudgetGuard(store))


@pytest.mark.parametrize(
    ("sender", "user_id"),
    [(RunSender("4711", "Ada", "ada"), "ada"), (RunSender("4711", "Ada"), "owner-1")],
    ids=["verified", "not verified"],
)
async def test_a_run_is_that_of_the_senders_user_or_of_the_owner(
    service: RunService, sender: RunSender, user_id: str
) -> None:
    request = a_request("agent::helper_3", sender=sender)
    await service.run(request, (), "", ())
    [run] = request.usage_meter.take()
    assert (run.resource_id, run.user_id, run.usage) == ("agent::helper", user_id, Usage(9, 4))


async def test_a_resource_that_fails_and_the_one_after_it_count_each(service: RunService) -> None:
    request = a_request("agent::bad")
    await service.run(request, ["agent::helper"], "", ())
    runs = request.usage_meter.take()
    assert [(run.resource_id, run.usage) for run in runs] == [
        ("agent::bad", Usage(5, 0)),
        ("agent::helper", Usage(9, 4)),
    ]


async def test_a_run_without_an_answer_counts(service: RunService) -> None:
    request = a_request("agent::bad")
    with pytest.raises(ProcessingFailed):
        await service.run(request, (), "", ())
    assert [run.usage for run in request.usage_meter.take()] == [Usage(5, 0)]


async def test_each_run_for_an_approved_tool_counts_once(service: RunService) -> None:
    request = a_request("agent::asks")
    result, _ = await service.run(request, (), "", [ApprovedTool("agent::asks_0", "tool")])
    assert result.usage == Usage(18, 8)
    assert [run.usage for run in request.usage_meter.take()] == [Usage(9, 4)] * 2
