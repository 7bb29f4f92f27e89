"""What a LangGraph thread waits for at a breakpoint that is set outside its nodes, by `interrupt_before` or
`interrupt_after`: there is no interrupt in its state, only the next steps. Pure.

https://docs.langchain.com/oss/python/langgraph/interrupts
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adapters.outbound.resources.langgraph_messages import messages_of
from adapters.outbound.resources.langgraph_questions import Action, few
from adapters.outbound.resources.messages import BadAnswer, checked_confirmation
from adapters.outbound.resources.model_tools import REJECTED_BY_USER, UNDECIDED
from domain.channels.answers import Choice

GO_ON = Choice("Go on", "go on")
ANOTHER_REJECTED = "The user rejected another tool. This one was not run."
MOST_STEPS, LONGEST_STEP = 5, 100


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """Where the thread wants to use tools (`calls`, by their ids), each of the `actions` is to be decided. Else the
    sender picks that it goes on; any other message is a new one for the agent."""

    id: str
    actions: tuple[Action, ...] = ()
    calls: tuple[str, ...] = ()
    text: str = ""
    choices: tuple[Choice, ...] = ()

    def answered(self, text: str, message: Mapping[str, Any]) -> dict[str, Any]:
        return {"input": None} if text == GO_ON.value else {"input": {"messages": [message]}}

    def decided(self, permits: Sequence[bool]) -> dict[str, Any]:
        """The tools run all or not at all: of those that do not, the agent reads why."""
        if all(permits):
            return {"input": None}
        reasons = [ANOTHER_REJECTED if permit else REJECTED_BY_USER for permit in permits]
        return {"input": {"messages": self._refused(reasons)}}

    def undecided(self, text: str, message: Mapping[str, Any]) -> dict[str, Any]:
        return {"input": {"messages": [*self._refused([UNDECIDED] * len(self.calls)), message]}}

    def _refused(self, reasons: Sequence[str]) -> list[dict[str, Any]]:
        """The results of the tools. A repeated message takes its own place."""
        return [
            {"type": "tool", "id": f"refused-{call}", "tool_call_id": call, "content": reason}
            for call, reason in zip(self.calls, reasons, strict=True)
        ]


def breakpoint_of(state: Mapping[str, Any]) -> Breakpoint | None:
    """The breakpoint at which a thread stopped; None for one that ended, or stopped by a failure or cancellation.

    Raises `BadAnswer`.
    """
    steps, tasks = state.get("next"), state.get("tasks")
    if not isinstance(steps, list) or not steps or not isinstance(tasks, list):
        return None
    if any(isinstance(task, dict) and task.get("error") for task in tasks):
        return None
    id = f"breakpoint {state.get('checkpoint_id')}"
    calls = list(_calls(state))
    if calls:
        return Breakpoint(id, tuple(action for _, action in few(calls)), tuple(call for call, _ in calls))
    names = ", ".join(str(step)[:LONGEST_STEP] for step in steps[:MOST_STEPS])
    return Breakpoint(
        id, text=f"The agent waits before its next step: {names}. Shall it go on?", choices=(GO_ON,)
    )


def _calls(state: Mapping[str, Any]) -> Iterator[tuple[str, Action]]:
    """The tool calls of the last message, each with its id."""
    history = messages_of(state)
    calls = history[-1].get("tool_calls") if history else None
    for call in calls if isinstance(calls, list) else ():
        id, name = (call.get("id"), call.get("name")) if isinstance(call, dict) else (None, None)
        if not isinstance(id, str) or not isinstance(name, str):
            raise BadAnswer("a tool call of the thread has no id or no name")
        yield id, Action(checked_confirmation(name, call.get("args")), "", frozenset())
