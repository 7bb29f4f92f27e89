"""Runs a resource, those of the fallback after it, and again for each tool that is approved for the session."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from domain.channels.provenance import FailedResource, Provenance
from domain.channels.rich import joined_content
from domain.confirmations.model import ApprovedTool, unclear
from domain.confirmations.policy import SENDER, is_by_sender
from domain.routing.conversation import APOLOGY, BudgetUsedUp, ProcessingFailed, ResourceFailed
from domain.routing.model import (
    APPROVED_FOR_SESSION,
    Approval,
    Progress,
    Resource,
    RunRequest,
    RunResult,
    summed,
)
from domain.routing.resource import parse_resource
from domain.usage.budget_service import BudgetGuard
from ports.resources import Downstream, DownstreamFailed
from ports.system import Clock, Meter

FALLBACK_SECONDS = 300.0
"""So long after the first resource was asked no further one is asked."""
MAX_TOOLS = 8
"""How many tools that are approved for the session one message may use one after the other."""


@dataclass(eq=False)
class RunService:
    downstream: Downstream
    clock: Clock
    meter: Meter
    budgets: BudgetGuard

    async def run(
        self, request: RunRequest, fallback: Sequence[str], route: str, approved: Sequence[ApprovedTool]
    ) -> tuple[RunResult, Provenance]:
        """Runs the resource, and those of the fallback in turn as long as each one fails. All get the same request
        id, as each of them sees the request once. Raises `ProcessingFailed`."""
        started = self.clock.now()
        failures: list[FailedResource] = []
        resources = list(dict.fromkeys([request.resource, *map(parse_resource, fallback)]))
        last = request.resource if request.approval else resources[-1]
        for resource in resources:
            try:
                self.check_budgets(request, resource)
                tools = _approved_tools(request, resource, approved)
                result = await self._run_with_tools(replace(request, resource=resource, approved_tools=tools))
                if resource == last or not result.unconnected:
                    return result, Provenance(str(resource), route, tuple(failures), result.citations)
                failures.append(FailedResource(str(resource), "nothing is connected to this id"))
            except ResourceFailed as failed:
                failures.append(FailedResource(str(resource), failed.detail))
                error: ProcessingFailed = failed
                if failed.is_final or (self.clock.now() - started).total_seconds() > FALLBACK_SECONDS:
                    break
        if len(failures) > 1:
            error = ProcessingFailed(error.user_message, f"all resources failed: {listed(failures)}")
        error.provenance = Provenance("", route, tuple(failures))
        raise error

    def check_budgets(self, request: RunRequest, resource: Resource) -> None:
        """Raises `BudgetUsedUp`."""
        user_id = request.sender.user_id or request.owner
        used_up = self.budgets.used_up(request.instance_id, resource.without_expert, user_id)
        if used_up is not None:
            raise BudgetUsedUp(used_up.in_words, is_final=request.approval is not None)

    async def _run_with_tools(self, request: RunRequest) -> RunResult:
        """Runs the resource, and again while it asks for tools that are approved for the session.

        Raises `ProcessingFailed`.
        """
        result = await self._run_once(request)
        for attempt in range(2, MAX_TOOLS + 3):
            confirmation = result.confirmation
            if confirmation is None or confirmation.tool not in request.approved_tools:
                return result
            if confirmation.by != SENDER:
                return result
            # Another request id, as resources recognise a repeated request by it; the same one after a crash.
            request_id = f"{request.request_id}-{attempt}"
            approval = Approval(request_id, confirmation.tool, APPROVED_FOR_SESSION)
            progress = after(result.text, request.progress)
            again = replace(request, request_id=request_id, approval=approval, progress=progress)
            before, result = result, await self._run_once(again)
            text = "\n\n".join(text for text in (before.text, result.text) if text)
            wants_person = before.wants_person or result.wants_person
            artifacts = before.artifacts + result.artifacts
            rich, usage = joined_content(before.rich, result.rich), summed(before.usage, result.usage)
            result = replace(
                result, text=text, artifacts=artifacts, wants_person=wants_person, rich=rich, usage=usage
            )
        raise ProcessingFailed(
            APOLOGY, f"the downstream resource asked for approved tools over {MAX_TOOLS} times"
        )

    async def _run_once(self, request: RunRequest) -> RunResult:
        started = self.clock.now()
        outcome, usage = "answered", None
        try:
            result = await self.downstream.run(request)
            usage = result.usage
            if result.confirmation is None:
                return result
            return replace(result, confirmation=result.confirmation.under(request.approval_policy))
        except DownstreamFailed as failed:
            outcome, approval = "failed", request.approval
            tool_may_have_run = approval is not None and approval.permits and failed.begun
            user_message = unclear(approval.tool) if approval and tool_may_have_run else APOLOGY
            raise ResourceFailed(user_message, str(failed), is_final=approval is not None) from failed
        finally:
            seconds = (self.clock.now() - started).total_seconds()
            self.meter.downstream(request.resource.kind, outcome, seconds)
            user_id = request.sender.user_id or request.owner
            request.usage_meter.end_run(request.resource.without_expert, user_id, usage, seconds)


def _approved_tools(
    request: RunRequest, resource: Resource, approved: Sequence[ApprovedTool]
) -> tuple[str, ...]:
    """What the sender approved for the session, without tools about which others decide."""
    tools = [entry.tool for entry in approved if entry.resource == str(resource)]
    return tuple(tool for tool in tools if is_by_sender(request.approval_policy, tool))


def listed(failures: Sequence[FailedResource]) -> str:
    return "; ".join(f"{failed.resource}: {failed.reason}" for failed in failures)


def after(text: str, progress: Progress | None) -> Progress | None:
    """Reports a text together with what follows it."""
    if progress is None or not text:
        return progress
    return lambda more: progress(lambda: f"{text}\n\n{more()}")
