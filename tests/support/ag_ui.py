"""A stand-in for an AG-UI agent: checks the runs that it gets, and writes events as the protocol's package does."""

from collections.abc import Callable, Iterable
from typing import Any

from ag_ui.core import (
    BaseEvent,
    Interrupt,
    RunAgentInput,
    RunErrorEvent,
    RunFinishedEvent,
    RunFinishedInterruptOutcome,
    RunStartedEvent,
    TextMessageContentEvent,
    TextMessageEndEvent,
    TextMessageStartEvent,
    ToolCallArgsEvent,
    ToolCallEndEvent,
    ToolCallStartEvent,
)
from ag_ui.encoder import EventEncoder
from aiohttp import web

Agent = Callable[[Any], Iterable[BaseEvent]]


class AgUiServer:
    """Answers each run with the events of `agent`, after RUN_STARTED and before RUN_FINISHED, which it adds where the
    agent has none. An interrupt that is not answered is an error, as the protocol wants it."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.runs: list[Any] = []
        self.headers: list[dict[str, str]] = []
        self.open: set[str] = set()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        run = RunAgentInput.model_validate(await request.json())
        self.runs.append(run)
        self.headers.append(dict(request.headers))
        encoder = EventEncoder()
        response = web.StreamResponse(headers={"Content-Type": encoder.get_content_type()})
        await response.prepare(request)
        for event in self._events(run):
            await response.write(encoder.encode(event).encode())
        return response

    def _events(self, run: RunAgentInput) -> Iterable[BaseEvent]:
        yield RunStartedEvent(thread_id=run.thread_id, run_id=run.run_id)
        if self.open != {entry.interrupt_id for entry in run.resume or ()}:
            yield RunErrorEvent(message="the open interrupts are not answered", code="PENDING")
            return
        self.open = set()
        for event in self.agent(run):
            yield event
            if isinstance(event, RunErrorEvent):
                return
            if isinstance(event, RunFinishedEvent):
                if isinstance(event.outcome, RunFinishedInterruptOutcome):
                    self.open = {interrupt.id for interrupt in event.outcome.interrupts}
                return
        yield RunFinishedEvent(thread_id=run.thread_id, run_id=run.run_id)


def said(run: Any) -> str:
    """The text of the last message of the user."""
    content = [message for message in run.messages if message.role == "user"][-1].content
    return str(content if isinstance(content, str) else content[0].text)


def text(words: str, id: str = "m1", size: int = 4) -> Iterable[BaseEvent]:
    yield TextMessageStartEvent(message_id=id, role="assistant")
    for at in range(0, len(words), size):
        yield TextMessageContentEvent(message_id=id, delta=words[at : at + size])
    yield TextMessageEndEvent(message_id=id)


def call(name: str, arguments: str = "{}", id: str = "c1", parent: str | None = None) -> Iterable[BaseEvent]:
    yield ToolCallStartEvent(tool_call_id=id, tool_call_name=name, parent_message_id=parent)
    yield ToolCallArgsEvent(tool_call_id=id, delta=arguments)
    yield ToolCallEndEvent(tool_call_id=id)


def waiting(run: Any, *interrupts: Interrupt) -> BaseEvent:
    """The end of a run that needs something."""
    outcome = RunFinishedInterruptOutcome(interrupts=list(interrupts))
    return RunFinishedEvent(thread_id=run.thread_id, run_id=run.run_id, outcome=outcome)


def interrupt(id: str = "i1", reason: str = "tool_call", **fields: Any) -> Interrupt:
    return Interrupt(id=id, reason=reason, **fields)
