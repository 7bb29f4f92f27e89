"""Runs resources on any server that speaks the chat-completions protocol, and keeps the conversation."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from adapters.outbound.downstream.chat_tools import (
    INTERRUPTED,
    REJECTED_BY_USER,
    UNDECIDED,
    ChatTool,
    call_tool,
)
from adapters.outbound.downstream.chat_wire import (
    EventStream,
    Reply,
    ToolCall,
    message_of,
    reply_of,
    within_budget,
)
from adapters.outbound.downstream.failures import broken_exchange, refused_answer
from adapters.outbound.downstream.gathering import gathered
from adapters.outbound.downstream.messages import MAX_ANSWER_BYTES, BadAnswer, checked_confirmation
from domain.routing.model import Approval, Confirmation, RunDelta, RunRequest, RunResult
from ports.downstream import ChatHistory, DownstreamFailed, Role, Turn
from ports.http import Http, HttpFailed, HttpRequest

MAX_ROUNDS = 8
"""How often a model may ask for tools in one run."""


@dataclass(frozen=True, slots=True)
class ChatModel:
    """A model behind a server; `url` is the base address up to and without `/chat/completions`."""

    url: str
    model: str
    system: str = ""
    history_tokens: int = 4000
    stream: bool = False
    temperature: float | None = None
    max_tokens: int | None = None
    tools: tuple[ChatTool, ...] = ()
    token: str | None = field(default=None, repr=False)


@dataclass(slots=True)
class _Talk:
    """A run in progress: what was said before, what it added, and whether a tool was run."""

    request: RunRequest
    deadline: float
    earlier: Sequence[Turn]
    added: list[Turn] = field(default_factory=list)
    ran_tool: bool = False

    @property
    def seconds(self) -> float:
        return max(0.001, self.deadline - asyncio.get_running_loop().time())


class ChatCompletionsRunner:
    """Asks the model, works off the tools it asks for, and remembers the conversation."""

    def __init__(self, http: Http, history: ChatHistory, model: ChatModel) -> None:
        self._http = http
        self._history = history
        self._model = model
        self._tools = {tool.name: tool for tool in model.tools}

    async def run(self, request: RunRequest) -> RunResult:
        """Raises `DownstreamFailed`."""
        return await gathered(self.stream(request), request.progress)

    async def stream(self, request: RunRequest) -> AsyncIterator[RunDelta]:
        """Raises `DownstreamFailed`; not retryable once a tool has run, which must not run twice."""
        deadline = asyncio.get_running_loop().time() + request.timeout
        context = _Talk(request, deadline, await self._earlier(request))
        try:
            async for delta in self._rounds(context):
                yield delta
        except BadAnswer as error:
            raise DownstreamFailed(
                f"the model's answer is unusable: {error}", retryable=False, begun=context.ran_tool
            ) from error
        except DownstreamFailed as failed:
            if context.ran_tool:
                raise DownstreamFailed(f"{failed}, after a tool was run", retryable=False) from failed
            failed.begun = False
            raise

    async def _earlier(self, request: RunRequest) -> Sequence[Turn]:
        return await self._history.load(request.instance_id, request.session_id, request.request_id)

    async def _rounds(self, context: _Talk) -> AsyncIterator[RunDelta]:
        await self._open(context)
        gap = ""
        for _ in range(MAX_ROUNDS):
            reply = Reply()
            async for text in self._ask(context, reply):
                yield RunDelta(gap + text)
                gap = ""
            gap = "\n\n" if reply.text else gap
            if reply.text or not reply.calls:
                context.added.append(Turn(Role.ASSISTANT, reply.text))
            confirmation = await self._work_off(context, reply.calls)
            if confirmation or not reply.calls:
                break
        else:
            raise DownstreamFailed(f"the model asks for tools over {MAX_ROUNDS} times", retryable=False)
        await self._remember(context)
        if confirmation:
            yield RunDelta(confirmation=confirmation)

    async def _remember(self, context: _Talk, *more: Turn) -> None:
        request = context.request
        added = [*context.added, *more]
        await self._history.append(request.instance_id, request.session_id, request.request_id, added)

    async def _open(self, context: _Talk) -> None:
        """Adds what is new: the message, or the outcome of the tool call that was waiting for a decision."""
        last = context.earlier[-1] if context.earlier else None
        pending = ToolCall.of(last) if last and last.role is Role.TOOL_CALL else None
        approval = context.request.approval
        if pending and approval and approval.tool == pending.name:
            context.added.append(pending.result(await self._decided(context, pending, approval)))
            return
        if pending:
            context.added.append(pending.result(UNDECIDED))
        elif approval and (put_off := _put_off(context.earlier, approval.tool)):
            context.added.append(put_off.turn())
            context.added.append(put_off.result(await self._decided(context, put_off, approval)))
            return
        context.added.append(Turn(Role.USER, _words(context.request)))

    async def _decided(self, context: _Talk, pending: ToolCall, approval: Approval) -> str:
        return await self._call(context, pending) if approval.permits else REJECTED_BY_USER

    async def _work_off(self, context: _Talk, calls: Sequence[ToolCall]) -> Confirmation | None:
        """Runs the tools in order, up to the first that waits for a decision; the rest is asked for again."""
        for call in calls:
            context.added.append(call.turn())
            parameters = call.parameters()
            if parameters is not None and self._needs_decision(context, call):
                return checked_confirmation(call.name, parameters)
            context.added.append(call.result(await self._call(context, call)))
        return None

    def _needs_decision(self, context: _Talk, call: ToolCall) -> bool:
        tool = self._tools.get(call.name)
        return tool is not None and tool.confirm and call.name not in context.request.approved_tools

    async def _call(self, context: _Talk, call: ToolCall) -> str:
        """The tool's answer. What the model will read of the call is on record before the tool runs, and again
        before the model is asked: neither a crash nor a failure of the model makes it believe anything wrong."""
        tool = self._tools.get(call.name)
        if tool is not None:
            await self._remember(context, call.result(INTERRUPTED))
            context.ran_tool = True
        told = await call_tool(self._http, tool, call, context.request.request_id, context.seconds)
        if tool is not None:
            await self._remember(context, call.result(told))
        return told

    async def _ask(self, context: _Talk, reply: Reply) -> AsyncIterator[str]:
        """The texts of one answer of the model; `reply` holds all of it afterwards."""
        request = self._request(context)
        try:
            if self._model.stream:
                async for text in self._streamed(request, reply):
                    yield text
                return
            answer = await self._http.send(request)
        except HttpFailed as error:
            raise broken_exchange(error) from error
        if not answer.ok:
            raise refused_answer(answer)
        whole = reply_of(answer.json())
        reply.text, reply.calls = whole.text, whole.calls
        if whole.text:
            yield whole.text

    async def _streamed(self, request: HttpRequest, reply: Reply) -> AsyncIterator[str]:
        events, told = EventStream(), False
        async for piece in self._http.stream(request):
            for text in events.feed(piece):
                told = True
                yield text
        whole = events.close()
        if not whole.ended:
            raise DownstreamFailed("the model's answer broke off", retryable=True)
        reply.text, reply.calls = whole.text, whole.calls
        if whole.text and not told:
            yield whole.text

    def _request(self, context: _Talk) -> HttpRequest:
        headers = {"Accept": "text/event-stream" if self._model.stream else "application/json"}
        if self._model.token:
            headers["Authorization"] = f"Bearer {self._model.token}"
        return HttpRequest(
            "POST",
            self._model.url.rstrip("/") + "/chat/completions",
            headers=headers,
            json=self._body(context),
            timeout=context.seconds,
            max_bytes=MAX_ANSWER_BYTES,
        )

    def _body(self, context: _Talk) -> dict[str, Any]:
        model = self._model
        system = [{"role": "system", "content": model.system}] if model.system else []
        turns = [*self._remembered(context), *context.added]
        body: dict[str, Any] = {
            "model": model.model,
            "messages": system + [message_of(turn) for turn in turns],
        }
        optional = {
            "stream": model.stream or None,
            "temperature": model.temperature,
            "max_tokens": model.max_tokens,
            "tools": [tool.offer() for tool in model.tools] or None,
        }
        return body | {name: value for name, value in optional.items() if value is not None}

    def _remembered(self, context: _Talk) -> Sequence[Turn]:
        """Earlier turns within the budget. A tool's result needs the call before it, whatever the budget."""
        needs_call = bool(context.added) and context.added[0].role is Role.TOOL_RESULT
        body, call = (context.earlier[:-1], context.earlier[-1:]) if needs_call else (context.earlier, ())
        return [*within_budget(body, self._model.history_tokens), *call]


def _put_off(earlier: Sequence[Turn], tool: str) -> ToolCall | None:
    """The latest call of a tool that was told undecided, as another sender wrote in between; a call of its own."""
    undecided = {
        json.loads(turn.text)["id"]
        for turn in earlier
        if turn.role is Role.TOOL_RESULT and json.loads(turn.text)["content"] == UNDECIDED
    }
    calls = [ToolCall.of(turn) for turn in earlier if turn.role is Role.TOOL_CALL]
    for call in reversed(calls):
        if call.name == tool:
            return replace(call, id=f"{call.id}-again") if call.id in undecided else None
    return None


def _words(request: RunRequest) -> str:
    """The message as the model reads it: its text, and the files that came with it as addresses."""
    lines = [request.text] if request.text else []
    lines += [
        f"[file: {file.name} ({file.mime_type}, {file.size} bytes): {file.url}]" for file in request.files
    ]
    if request.approval:
        lines.append(
            f"[the user's decision on the tool {request.approval.tool}: {request.approval.decision}]"
        )
    return "\n".join(lines)
