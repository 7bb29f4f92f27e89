"""Runs resources behind a LangGraph server: each conversation is a thread, each message a run of it."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any, cast
from uuid import uuid4

from adapters.outbound.resources import langgraph_messages as thread_messages
from adapters.outbound.resources.answers import ServerEvents, usable
from adapters.outbound.resources.langgraph_breakpoints import Breakpoint, breakpoint_of
from adapters.outbound.resources.langgraph_messages import Mark
from adapters.outbound.resources.langgraph_questions import Question, permits, question_of
from adapters.outbound.resources.langgraph_server import REQUEST, LangGraphAgent, LangGraphServer, run_id
from adapters.outbound.resources.messages import MAX_TEXT, BadAnswer, beside_message, checked_result
from adapters.outbound.resources.model_runner import message_text
from domain.json_text import loads
from domain.routing.model import Progress, RunRequest, RunResult
from ports.http import Http, HttpAnswer, HttpFailed
from ports.resources import DownstreamFailed, ResourceStates

MAX_EVENT = 4 * MAX_TEXT
"""Bytes of one event of a stream."""
MAX_TRIES = 2
"""Runs that a request gets where the first was cancelled, as by a worker that was stopped."""

Asked = Question | Breakpoint

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Conversation:
    """The state of a conversation that is kept: its thread, the requests of the latest message with the mark after
    which the answer to each begins, and what was decided of an interrupt so far, by request.

    `waiting`: the thread was interrupted when it was last seen.
    """

    thread: str
    asked: dict[str, Mark] = field(default_factory=dict)
    waiting: bool = False
    interrupt: str = ""
    decisions: dict[str, bool] = field(default_factory=dict)

    @classmethod
    def of(cls, state: Mapping[str, Any]) -> "Conversation":
        """A new conversation gets its thread's id before the server hears of it, so that a crash loses nothing."""
        if not state:
            return cls(str(uuid4()))
        asked = {request_id: Mark(id, count) for request_id, id, count in state["asked"]}
        decisions = dict(state["decisions"])
        return cls(state["thread"], asked, state["waiting"], state["interrupt"], decisions)

    def json(self) -> dict[str, Any]:
        asked = [[request_id, mark.id, mark.count] for request_id, mark in self.asked.items()]
        decisions = list(self.decisions.items())
        rest = {"waiting": self.waiting, "interrupt": self.interrupt}
        return {"thread": self.thread, "asked": asked, "decisions": decisions, **rest}

    def ask(self, request_id: str, mark: Mark) -> None:
        """Notes a request. A message may lead to further ones, `<id>-2`, `<id>-3`, ..., for tools that are approved
        for the session; those of earlier messages are forgotten."""
        first = next(iter(self.asked), "")
        if not request_id.startswith(f"{first}-"):
            self.asked.clear()
        self.asked[request_id] = mark

    def since(self, request_id: str) -> Sequence[str]:
        """A request and those that followed it."""
        ids = list(self.asked)
        return ids[ids.index(request_id) :]

    def decide(self, question: Asked, request: RunRequest) -> bool:
        """Notes what the request decides about the next action of a question; False where it decides nothing."""
        if self.interrupt != question.id:
            self.interrupt, self.decisions = question.id, {}
        self.decisions.pop(request.request_id, None)
        if len(self.decisions) >= len(question.actions):
            self.decisions.clear()
        permit = permits(question.actions[len(self.decisions)], request.approval)
        if permit is None:
            return False
        self.decisions[request.request_id] = permit
        return True

    def decided(self, question: Asked) -> int:
        """How many actions of a question are decided."""
        return len(self.decisions) if self.interrupt == question.id else 0


class _Progress:
    """The texts of models as they are made, each message a paragraph."""

    def __init__(self, tell: Progress | None) -> None:
        self._tell = tell
        self._texts: list[str] = []
        self._message = ""
        self._size = 0

    def add(self, event: Any) -> None:
        """Raises `BadAnswer`."""
        message, text = thread_messages.piece_of(event)
        if not text:
            return
        if self._texts and message != self._message:
            text = f"\n\n{text}"
        self._message = message
        self._texts.append(text)
        self._size += len(text)
        if self._size > MAX_TEXT:
            raise BadAnswer(f"text has over {MAX_TEXT} characters")
        if self._tell:
            self._tell(lambda: "".join(self._texts))


@dataclass(frozen=True, slots=True)
class LangGraphRunner:
    """Keeps one thread for each instance, session and resource. A request that is repeated, as after a crash, finds
    its run by the request id in the run's metadata, and waits for that run instead of beginning another."""

    http: Http
    states: ResourceStates
    agent: LangGraphAgent

    async def run(self, request: RunRequest) -> RunResult:
        server = LangGraphServer(self.http, self.agent)
        place = request.instance_id, request.session_id, request.resource
        conversation = Conversation.of(await self.states.load(*place))
        with usable():
            return await _Exchange(server, self.states, request, conversation).result()


class _Exchange:
    """One request of a conversation."""

    def __init__(
        self, server: LangGraphServer, states: ResourceStates, request: RunRequest, conversation: Conversation
    ) -> None:
        self._server = server
        self._states = states
        self._request = request
        self._conversation = conversation
        self._thread = conversation.thread
        self._deadline = asyncio.get_running_loop().time() + request.timeout
        self._run = ""

    @property
    def _seconds(self) -> float:
        return max(0.001, self._deadline - asyncio.get_running_loop().time())

    async def result(self) -> RunResult:
        """Raises `DownstreamFailed`, `BadAnswer`."""
        conversation, request = self._conversation, self._request
        if request.request_id in conversation.asked and (earlier := await self._earlier()):
            return earlier
        state = await self._server.state(self._thread, self._seconds) if conversation.waiting else None
        question = _question(state) if state else None
        message = thread_messages.human_message(request, images=self._server.agent.images)
        if state is None or question is None:
            conversation.ask(request.request_id, Mark(request.request_id))
            return await self._begin({"input": {"messages": [message]}})
        conversation.ask(request.request_id, Mark.end_of(thread_messages.messages_of(state)))
        body = self._reply(question, message)
        if body is None:
            await self._save()
            return _asked(question, conversation.decided(question))
        return await self._begin(body)

    async def _earlier(self) -> RunResult | None:
        """The result of the run that this request has begun before; None without one, or if it was cancelled."""
        conversation, request_id = self._conversation, self._request.request_id
        runs = await self._server.runs_of(self._thread, conversation.since(request_id), self._seconds)
        if not runs:
            return None
        self._run = runs[0].id
        try:
            await self._server.join(self._thread, self._run, self._seconds)
        except asyncio.CancelledError:
            await self._cancel()
            raise
        state = await self._state()
        was_cancelled = runs[0].status == "interrupted" and _stopped(state, _question(state))
        if was_cancelled and len(runs) < MAX_TRIES:
            return None
        conversation.asked = {request_id: conversation.asked[request_id]}
        return await self._answer(state, retryable=not was_cancelled)

    def _reply(self, question: Asked, message: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The body of the run that goes on, None while further actions of the question are to be decided."""
        conversation, request = self._conversation, self._request
        if not question.actions:
            text = request.text if not request.files else message_text(request)
            return question.answered(text, message)
        if not conversation.decide(question, request):
            return question.undecided(message_text(request), message)
        if conversation.decided(question) < len(question.actions):
            return None
        return question.decided(list(conversation.decisions.values()))

    async def _begin(self, body: Mapping[str, Any]) -> RunResult:
        await self._save()
        body = {
            **body,
            "metadata": {REQUEST: self._request.request_id},
            "config": {"configurable": {"switchboard": beside_message(self._request)}},
        }
        stream = self._server.stream(self._thread, body, self._head, self._seconds)
        events, progress = ServerEvents(MAX_EVENT), _Progress(self._request.progress)
        try:
            async with aclosing(cast(AsyncGenerator[bytes, None], stream)) as pieces:
                async for piece in pieces:
                    await self._take(events.named(piece), progress)
        except HttpFailed as error:
            raise self._server.failure_of(error) from error
        except (asyncio.CancelledError, BadAnswer):
            await self._cancel()
            raise
        return await self._answer(await self._state())

    def _head(self, head: HttpAnswer) -> None:
        """Learns the id of the run: `Content-Location: /threads/.../runs/<id>`."""
        self._run = head.headers.get("content-location", "").rpartition("/")[2]

    async def _take(self, events: Sequence[tuple[bytes, bytes]], progress: _Progress) -> None:
        for name, data in events:
            if name not in (b"metadata", b"messages", b"error"):
                continue
            try:
                value = loads(data)
            except ValueError:
                raise BadAnswer("an event of the stream is not JSON, or nested too deeply") from None
            if name == b"error":
                # A question that cannot be answered so is not asked for ever.
                self._conversation.waiting = False
                await self._save()
                raise self._server.run_failed(value)
            if name == b"metadata" and isinstance(value, dict):
                self._run = str(value.get("run_id"))
            progress.add(value)

    async def _state(self) -> Mapping[str, Any]:
        state = await self._server.state(self._thread, self._seconds)
        if state is None:
            raise BadAnswer("the thread of the conversation is gone")
        return state

    async def _answer(self, state: Mapping[str, Any], *, retryable: bool = True) -> RunResult:
        """The answer that a thread holds once a run has ended."""
        conversation = self._conversation
        question = _question(state)
        if _stopped(state, question):
            raise self._not_ended(state, retryable)
        conversation.waiting = question is not None
        await self._save()
        history = thread_messages.messages_of(state)
        result = thread_messages.answered(history, conversation.asked[self._request.request_id])
        return result if question is None else _asked(question, conversation.decided(question), result)

    def _not_ended(self, state: Mapping[str, Any], retryable: bool) -> DownstreamFailed:
        tasks = state.get("tasks")
        for task in tasks if isinstance(tasks, list) else ():
            error = task.get("error") if isinstance(task, dict) else None
            if isinstance(error, str) and "Cancelled" not in error:
                return self._server.run_failed(error)
        return DownstreamFailed("the run stopped before its end", retryable=retryable)

    async def _save(self) -> None:
        request = self._request
        place = request.instance_id, request.session_id, request.resource
        await self._states.save(*place, self._conversation.json(), request.inbox_id)

    async def _cancel(self) -> None:
        """Ends the run at the server, as nobody waits for it any more."""
        try:
            await self._server.cancel(self._thread, run_id(self._run))
        except (DownstreamFailed, BadAnswer) as error:
            log.warning("a run of LangGraph could not be cancelled: %s", error)


def _question(state: Mapping[str, Any]) -> Asked | None:
    """What a thread waits for. Raises `BadAnswer`."""
    return question_of(state.get("interrupts")) or breakpoint_of(state)


def _stopped(state: Mapping[str, Any], question: Asked | None) -> bool:
    """Return True if the graph has further steps to do and asks for nothing: it was cancelled, or failed."""
    return bool(state.get("next")) and question is None


def _asked(question: Asked, number: int, before: RunResult | None = None) -> RunResult:
    """The question about the action of this number, or the text that is asked, after what the agent said `before`."""
    before = before or RunResult("")
    if not question.actions:
        text = "\n\n".join(filter(None, (before.text, question.text)))
        return checked_result(replace(before, text=text, choices=question.choices))
    action = question.actions[number if number < len(question.actions) else 0]
    text = "\n\n".join(filter(None, (before.text, action.description)))
    return checked_result(replace(before, text=text, confirmation=action.confirmation))
