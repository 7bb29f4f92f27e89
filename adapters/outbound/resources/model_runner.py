"""Runs resources on models: asks the model, works off the tools that it asks for, and keeps the conversation."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from adapters.outbound.resources import chat_model
from adapters.outbound.resources.answers import gathered
from adapters.outbound.resources.builtin import knowledge_base_of
from adapters.outbound.resources.knowledge_tool import INSTRUCTION, Knowledge, KnowledgeRun, kept
from adapters.outbound.resources.mcp_tools import McpTools
from adapters.outbound.resources.messages import BadAnswer, checked_confirmation
from adapters.outbound.resources.model_client import ModelClient
from adapters.outbound.resources.model_settings import SEARCH, ChatModel
from adapters.outbound.resources.model_tools import (
    BAD_ARGUMENTS,
    INTERRUPTED,
    REJECTED_BY_USER,
    UNDECIDED,
    UNREACHABLE,
    RuleTools,
    Tool,
    matches,
)
from domain.confirmations.policy import rule_for
from domain.rendering import off_loop
from domain.routing.model import Approval, Confirmation, InputFile, RunDelta, RunRequest, RunResult
from domain.values import iso_milliseconds
from ports.http import Http
from ports.resources import ChatHistory, DownstreamFailed, Role, Turn

MAX_ROUNDS = 8
"""How often a model may ask for tools in one run."""


@dataclass(slots=True)
class _Run:
    """A run in progress: earlier and new turns of the conversation, the new ones as they are remembered, the tools,
    and what may be searched. `ran_tool`: a tool was run."""

    request: RunRequest
    deadline: float
    earlier: Sequence[Turn]
    tools: Mapping[str, Tool]
    knowledge: KnowledgeRun | None
    added: list[Turn] = field(default_factory=list)
    remembered: list[Turn] = field(default_factory=list)
    ran_tool: bool = False

    @property
    def seconds(self) -> float:
        return max(0.001, self.deadline - asyncio.get_running_loop().time())

    async def add(self, turn: Turn) -> None:
        self.added.append(turn)
        self.remembered.append(await off_loop(len(turn.text), kept, turn) if self.knowledge else turn)

    def model_input(self, turns: Sequence[Turn], *, is_last: bool) -> chat_model.ModelInput:
        """`is_last`: the model is asked for the last time."""
        offers = [tool.offer for tool in self.tools.values()]
        if self.knowledge is None:
            return chat_model.ModelInput(turns, tools=offers)
        return chat_model.ModelInput(turns, INSTRUCTION, [*offers, self.knowledge.offer()], closed=is_last)


class ModelRunner:
    """Asks the model, works off the tools it asks for, and remembers the conversation."""

    def __init__(
        self,
        http: Http,
        history: ChatHistory,
        model: ChatModel,
        knowledge: Knowledge | None = None,
    ) -> None:
        self._history = history
        self._model = ModelClient(http, model)
        self._history_tokens = model.history_tokens
        self._tools = RuleTools(http, model.tools).all()
        self._mcp_tools = McpTools(http, model.mcp_servers)
        self._approvals = model.approvals
        self._base_ids = model.knowledge
        self._knowledge = knowledge

    async def run(self, request: RunRequest) -> RunResult:
        return await gathered(self.stream(request), request)

    async def stream(self, request: RunRequest) -> AsyncIterator[RunDelta]:
        """Raises `DownstreamFailed`; not retryable once a tool has run, which must not run twice."""
        deadline = asyncio.get_running_loop().time() + request.timeout
        earlier = await self._history.load(request.instance_id, request.session_id, request.request_id)
        knowledge = None
        if self._knowledge and SEARCH not in self._tools:  # a tool of the rule comes first
            named = knowledge_base_of(request.resource)
            base_ids = [*self._base_ids, *([] if named is None else [named])]
            knowledge = await self._knowledge.open(request, base_ids)
        tools = {**await self._mcp_tools.all(request.timeout), **self._tools}
        run = _Run(request, deadline, earlier, tools, knowledge)
        texts: list[str] = []
        confirmation = None
        try:
            async for delta in self._rounds(run):
                texts.append(delta.text)
                confirmation = confirmation or delta.confirmation
                yield delta
            if run.knowledge:
                yield await run.knowledge.cited("".join(texts), is_whole=not confirmation)
        except BadAnswer as error:
            raise DownstreamFailed(
                f"the model's answer is unusable: {error}", retryable=False, begun=run.ran_tool
            ) from error
        except DownstreamFailed as failed:
            if run.ran_tool:
                raise DownstreamFailed(f"{failed}, after a tool was run", retryable=False) from failed
            failed.begun = False
            raise

    async def _rounds(self, run: _Run) -> AsyncIterator[RunDelta]:
        await self._open(run)
        gap = ""
        for left in range(MAX_ROUNDS, 0, -1):
            reply, model_input = chat_model.Reply(), run.model_input(self._turns(run), is_last=left == 1)
            async for delta in self._asked(model_input, run.seconds, reply, gap):
                yield delta
            gap = "\n\n" if reply.text else gap
            if reply.text or not reply.calls:
                await run.add(Turn(Role.ASSISTANT, reply.text))
            confirmation = await self._work_off(run, reply.calls)
            if confirmation or not reply.calls:
                break
        else:
            raise DownstreamFailed(f"the model asks for tools over {MAX_ROUNDS} times", retryable=False)
        await self._remember(run)
        if confirmation:
            yield RunDelta(confirmation=confirmation)

    async def _asked(
        self, model_input: chat_model.ModelInput, seconds: float, reply: chat_model.Reply, gap: str
    ) -> AsyncIterator[RunDelta]:
        """The texts of one reply, the first one after the gap, and its usage, also that of one that fails."""
        try:
            async for text in self._model.ask(model_input, seconds, reply):
                yield RunDelta(gap + text)
                gap = ""
        except (DownstreamFailed, BadAnswer):
            yield RunDelta(usage=reply.usage)
            raise
        if reply.usage:
            yield RunDelta(usage=reply.usage)

    async def _remember(self, run: _Run, *more: Turn) -> None:
        request = run.request
        session = request.instance_id, request.session_id
        await self._history.append(*session, request.request_id, [*run.remembered, *more], request.inbox_id)

    async def _open(self, run: _Run) -> None:
        """Adds what is new: the message, or the outcome of the tool call that was waiting for a decision."""
        last = next(reversed(run.earlier), None)
        pending = chat_model.ToolCall.of(last) if last and last.role is Role.TOOL_CALL else None
        approval = run.request.approval
        is_decided = bool(pending and approval and approval.is_about(pending.name, pending.parameters()))
        if run.knowledge:
            run.earlier = run.knowledge.resumed(run.earlier, continues=is_decided)
        if pending and approval and is_decided:
            await run.add(pending.result(await self._decided(run, pending, approval)))
            return
        if pending:
            await run.add(pending.result(UNDECIDED))
        if approval and (undecided := _undecided_call(run.earlier, approval)):
            await run.add(undecided.turn())
            await run.add(undecided.result(await self._decided(run, undecided, approval)))
            return
        await run.add(Turn(Role.USER, message_text(run.request)))

    async def _decided(self, run: _Run, pending: chat_model.ToolCall, approval: Approval) -> str:
        return await self._call(run, pending) if approval.permits else REJECTED_BY_USER

    async def _work_off(self, run: _Run, calls: Sequence[chat_model.ToolCall]) -> Confirmation | None:
        """Runs the tools in order, up to the first that waits for a decision; the rest is asked for again."""
        for call in calls:
            await run.add(call.turn())
            parameters, tool = call.parameters(), run.tools.get(call.name)
            must_decide = tool and (
                tool.confirm
                or matches(call.name, self._approvals)
                or rule_for(run.request.approval_policy, call.name) is not None
            )
            needs_decision = must_decide and call.name not in run.request.approved_tools
            if parameters is not None and needs_decision:
                return checked_confirmation(call.name, parameters)
            if run.knowledge and call.name == SEARCH:
                await run.add(await run.knowledge.result(call))
            else:
                await run.add(call.result(await self._call(run, call)))
        return None

    async def _call(self, run: _Run, call: chat_model.ToolCall) -> str:
        """The tool's answer. What the model will read of the call is on record before the tool runs, and again
        before the model is asked: neither a crash nor a failure of the model makes it believe anything wrong."""
        tool, parameters = run.tools.get(call.name), call.parameters()
        if tool is None:
            if self._mcp_tools.is_away(call.name):
                return UNREACHABLE
            return f"There is no tool named {call.name}."
        if parameters is None:
            return BAD_ARGUMENTS
        await self._remember(run, call.result(INTERRUPTED))
        run.ran_tool = True
        result = await tool.use(call, parameters, run.request.request_id, run.seconds)
        await self._remember(run, call.result(result))
        return result

    def _turns(self, run: _Run) -> Sequence[Turn]:
        """The conversation, earlier turns within the budget; a tool's result needs the call before it in any case."""
        needs_call = bool(run.added) and run.added[0].role is Role.TOOL_RESULT
        body, call = (run.earlier[:-1], run.earlier[-1:]) if needs_call else (run.earlier, ())
        return [*chat_model.within_budget(body, self._history_tokens), *call, *run.added]


def _undecided_call(earlier: Sequence[Turn], approval: Approval) -> chat_model.ToolCall | None:
    """The latest call that a decision is about and that was left undecided, as somebody wrote in between; as a new
    call."""
    undecided = {
        json.loads(turn.text)["id"]
        for turn in earlier
        if turn.role is Role.TOOL_RESULT and json.loads(turn.text)["content"] == UNDECIDED
    }
    calls = [chat_model.ToolCall.of(turn) for turn in earlier if turn.role is Role.TOOL_CALL]
    for call in reversed(calls):
        if approval.is_about(call.name, call.parameters()):
            return replace(call, id=f"{call.id}-again") if call.id in undecided else None
    return None


def message_text(request: RunRequest) -> str:
    """The message as the model reads it: its context, earlier messages, its text, and the addresses of its files."""
    before = _lines_before(request)
    lines = [
        *before,
        *(["[the message:]"] if before else []),
        *([request.text] if request.text else []),
        *_file_lines(request.files),
    ]
    if request.reaction:
        lines.append(f"[the user reacted with {request.reaction} to an earlier message]")
    if request.approval:
        lines.append(
            f"[the user's decision on the tool {request.approval.tool}: {request.approval.decision}]"
        )
    return "\n".join(lines)


def _lines_before(request: RunRequest) -> list[str]:
    """A line for each key of the context (texts as they are, other values as JSON), and earlier messages, each line
    of them marked as a quotation."""
    lines = []
    for key, value in request.context.items():
        shown = " ".join(value.split()) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        lines.append(f"[{key}: {shown}]")
    if request.thread:
        lines.append("[earlier messages of this thread, which you have not seen:]")
        for earlier in request.thread:
            lines.append(f"> {earlier.author} at {iso_milliseconds(earlier.at)}:")
            lines += _quotation(earlier.text)
    if quoted := request.quoted:
        lines.append(f"[the message replies to this one of {quoted.author or 'somebody'}:]")
        lines += [*_quotation(quoted.text), *_file_lines(quoted.files)]
    return lines


def _quotation(text: str) -> list[str]:
    return [f"> {line}" for line in text.splitlines()]


def _file_lines(files: Sequence[InputFile]) -> list[str]:
    return [f"[file: {file.name} ({file.mime_type}, {file.size} bytes): {file.url}]" for file in files]
