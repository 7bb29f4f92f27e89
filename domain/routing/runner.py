"""Runs a downstream resource on a message."""

from dataclasses import dataclass, replace

from domain.confirmations.model import unclear
from domain.routing.conversation import APOLOGY, ProcessingFailed
from domain.routing.model import APPROVED_FOR_SESSION, Approval, Progress, RunRequest, RunResult
from ports.resources import Downstream, DownstreamFailed
from ports.system import Clock, Meter

MAX_TOOLS = 8
"""How many tools that are approved for the session one message may use one after the other."""


@dataclass(eq=False)
class ResourceRunner:
    downstream: Downstream
    clock: Clock
    meter: Meter

    async def run(self, request: RunRequest) -> RunResult:
        """Runs the resource, and again while it asks for tools that are approved for the session.

        Raises `ProcessingFailed`.
        """
        result = await self._run_once(request)
        for attempt in range(2, MAX_TOOLS + 3):
            confirmation = result.confirmation
            if confirmation is None or confirmation.tool not in request.approved_tools:
                return result
            # Another request id, as resources recognise a repeated request by it; the same one after a crash.
            request_id = f"{request.request_id}-{attempt}"
            approval = Approval(request_id, confirmation.tool, APPROVED_FOR_SESSION)
            progress = _after(result.text, request.progress)
            again = replace(request, request_id=request_id, approval=approval, progress=progress)
            before, result = result, await self._run_once(again)
            text = "\n\n".join(text for text in (before.text, result.text) if text)
            wants_person = before.wants_person or result.wants_person
            artifacts = before.artifacts + result.artifacts
            result = replace(result, text=text, artifacts=artifacts, wants_person=wants_person)
        raise ProcessingFailed(
            APOLOGY, f"the downstream resource asked for approved tools over {MAX_TOOLS} times"
        )

    async def _run_once(self, request: RunRequest) -> RunResult:
        started = self.clock.now()
        outcome = "answered"
        try:
            return await self.downstream.run(request)
        except DownstreamFailed as failed:
            outcome, approval = "failed", request.approval
            tool_may_have_run = approval is not None and approval.permits and failed.begun
            user_message = unclear(approval.tool) if approval and tool_may_have_run else APOLOGY
            raise ProcessingFailed(user_message, f"the downstream resource failed: {failed}") from failed
        finally:
            seconds = (self.clock.now() - started).total_seconds()
            self.meter.downstream(request.resource.kind, outcome, seconds)


def _after(text: str, progress: Progress | None) -> Progress | None:
    """Reports a text together with what follows it."""
    if progress is None or not text:
        return progress
    return lambda more: progress(lambda: f"{text}\n\n{more()}")
