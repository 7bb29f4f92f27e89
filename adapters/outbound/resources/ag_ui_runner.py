"""Runs resources behind an AG-UI endpoint, and keeps the conversation: its messages, state and open interrupts.

https://docs.ag-ui.com/introduction
"""

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, cast
from uuid import uuid4

from ag_ui.core import PROTOCOL_VERSION, RunAgentInput, RunErrorEvent, RunFinishedEvent

from adapters.outbound.resources.ag_ui_agent import AgUiAgent
from adapters.outbound.resources.ag_ui_events import Message, RunReader
from adapters.outbound.resources.ag_ui_interrupts import (
    CANCELLED,
    ON_INTERRUPT,
    Interrupt,
    command_of,
    custom_interrupts,
    interrupts_of,
)
from adapters.outbound.resources.answers import (
    EVENTS,
    GATHER_SECONDS,
    ServerEvents,
    broken_exchange,
    own_words,
    refused_answer,
    usable,
)
from adapters.outbound.resources.exchanges import call_headers
from adapters.outbound.resources.messages import (
    MAX_ANSWER_BYTES,
    MAX_TEXT,
    beside_message,
    checked_result,
    usage_of,
)
from adapters.outbound.resources.model_runner import message_text
from domain.routing.model import RunRequest, RunResult, Usage, summed
from ports.http import Http, HttpAnswer, HttpFailed, HttpRequest
from ports.resources import DownstreamFailed, ResourceStates

MAX_EVENT = 4 * MAX_TEXT
"""Bytes of one event of a stream."""
MAX_HISTORY = 40_000
"""Characters of the messages as JSON that are kept for the next message."""
MAX_CONTENT = 8_000
"""Characters of one of these messages."""
MAX_ANSWERS = 20_000
"""Characters of answers to interrupts as JSON that are kept while further ones are open."""


@dataclass(slots=True)
class Conversation:
    """The state of a conversation that is kept. `answers` to its open interrupts are noted by request, in their
    order, until all can be sent together. `failed`: the agent did not take the answers that it was sent."""

    thread: str
    messages: list[Message] = field(default_factory=list)
    state: Any = field(default_factory=dict)
    interrupts: tuple[Interrupt, ...] = ()
    answers: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    failed: bool = False

    @classmethod
    def of(cls, kept: Mapping[str, Any]) -> "Conversation":
        interrupts = tuple(Interrupt(**interrupt) for interrupt in kept["interrupts"])
        answers = dict(kept["answers"])
        return cls(kept["thread"], kept["messages"], kept["state"], interrupts, answers, kept["failed"])

    def json(self) -> dict[str, Any]:
        return {
            "thread": self.thread,
            "messages": self.messages,
            "state": self.state,
            "interrupts": [interrupt.json() for interrupt in self.interrupts],
            "answers": list(self.answers.items()),
            "failed": self.failed,
        }

    def answer(self, request: RunRequest) -> bool:
        """Notes the answer to the next open interrupt; False if the message does not answer it."""
        self.answers.pop(request.request_id, None)
        if not self.interrupts or self.failed:
            return False
        text = request.text if not request.files else message_text(request)
        answer = self.interrupts[len(self.answers)].answer(text, request.approval)
        if answer is not None:
            self.answers[request.request_id] = answer
        return answer is not None

    def command(self, request: RunRequest) -> Mapping[str, Any]:
        """The `command` beside a message that answers interrupts of `ON_INTERRUPT`, empty for others."""
        if not self.has_custom_interrupts:
            return {}
        return command_of(self.interrupts, list(self.answers.values()), message_text(request))

    @property
    def has_custom_interrupts(self) -> bool:
        return any(interrupt.reason == ON_INTERRUPT for interrupt in self.interrupts)

    def resume(self) -> list[dict[str, Any]]:
        """The entries that answer all open interrupts; they are cancelled unless each has an answer."""
        answers = list(self.answers.values())
        if self.has_custom_interrupts:
            return []
        if len(answers) < len(self.interrupts):
            answers = [CANCELLED] * len(self.interrupts)
        pairs = zip(self.interrupts, answers, strict=True)
        return [{"interruptId": interrupt.id, **answer} for interrupt, answer in pairs]

    def with_message(self, request: RunRequest) -> list[Message]:
        """The messages with that of the request at the end; what an earlier try of it left is gone."""
        earlier = takewhile(lambda message: message["id"] != request.request_id, self.messages)
        return [*earlier, {"id": request.request_id, "role": "user", "content": message_text(request)}]


@dataclass(frozen=True, slots=True)
class AgUiRunner:
    """Sends the whole conversation with each message, as the protocol has it: the agent need not keep any. A run that
    may have begun is not tried again, as the protocol does not say that a repeated run is recognised."""

    http: Http
    states: ResourceStates
    agent: AgUiAgent

    async def run(self, request: RunRequest) -> RunResult:
        saved = await self.states.load(request.instance_id, request.session_id, request.resource)
        conversation = Conversation.of(saved) if saved else Conversation(str(uuid4()))
        if any(interrupt.has_expired() for interrupt in conversation.interrupts):
            conversation.interrupts, conversation.answers = (), {}
        is_answer = conversation.answer(request)
        if is_answer and len(conversation.answers) < len(conversation.interrupts):
            return await self._ask_next(request, conversation)
        if not saved:
            await self._save(request, conversation)
        sent = conversation.messages if is_answer else conversation.with_message(request)
        with usable():
            reader = await self._exchange(request, conversation, sent)
            if isinstance(reader.ended, RunErrorEvent):
                raise await self._run_failed(request, conversation, reader.ended)
            result = self._result(reader, conversation)
        await self._save(request, conversation)
        return result

    async def _ask_next(self, request: RunRequest, conversation: Conversation) -> RunResult:
        """The question in the next interrupt; the answers so far are kept."""
        if len(json.dumps(conversation.json()["answers"], ensure_ascii=False)) > MAX_ANSWERS:
            words = f"the answers to the open interrupts have over {MAX_ANSWERS} characters"
            raise DownstreamFailed(words, retryable=False, begun=False)
        await self._save(request, conversation)
        with usable():
            return conversation.interrupts[len(conversation.answers)].asked(RunResult(""))

    async def _save(self, request: RunRequest, conversation: Conversation) -> None:
        place = request.instance_id, request.session_id, request.resource
        await self.states.save(*place, conversation.json(), request.inbox_id)

    async def _run_failed(
        self, request: RunRequest, conversation: Conversation, error: RunErrorEvent
    ) -> DownstreamFailed:
        """The failure of a run in the agent's words. Interrupts whose answers it did not take are cancelled with the
        next message, and forgotten if that fails, too."""
        if conversation.interrupts:
            if conversation.failed:
                conversation.interrupts = ()
            conversation.answers, conversation.failed = {}, not conversation.failed
            await self._save(request, conversation)
        words = own_words([error.code, error.message], self.agent.token) or "no reason is given"
        return DownstreamFailed(f"the run failed: {words}", retryable=False)

    async def _exchange(
        self, request: RunRequest, conversation: Conversation, sent: Sequence[Message]
    ) -> RunReader:
        """The run, read to its end. Raises `DownstreamFailed`, `BadAnswer`."""
        reader, events = RunReader(sent, conversation.state, request.progress), ServerEvents(MAX_EVENT)
        call = self._call(request, conversation, sent)
        try:
            async with aclosing(cast(AsyncGenerator[bytes, None], self.http.stream(call))) as pieces:
                async for piece in pieces:
                    reader.feed(events.feed(piece))
                    if reader.ended:
                        return reader
        except HttpFailed as error:
            failed = broken_exchange(error) if error.answer is None else self._refused(error.answer)
            if failed.begun:
                failed.retryable = False
            raise failed from error
        raise DownstreamFailed("the agent's answer broke off before the end of the run", retryable=False)

    def _call(self, request: RunRequest, conversation: Conversation, sent: Sequence[Message]) -> HttpRequest:
        run = RunAgentInput.model_validate({
            "threadId": conversation.thread,
            "runId": request.request_id,
            "protocolVersion": PROTOCOL_VERSION,
            "state": conversation.state,
            "messages": _with_pictures(sent, request) if self.agent.images else sent,
            "tools": [],
            "context": [],
            "forwardedProps": {"switchboard": beside_message(request), **conversation.command(request)},
            "resume": conversation.resume() or None,
        })  # fmt: skip
        return HttpRequest(
            "POST",
            self.agent.url,
            headers=call_headers(self.agent.token, {"Accept": EVENTS}),
            json=run.model_dump(mode="json", by_alias=True),
            timeout=request.timeout,
            max_bytes=MAX_ANSWER_BYTES,
            gather_seconds=GATHER_SECONDS,
        )

    def _result(self, reader: RunReader, conversation: Conversation) -> RunResult:
        """The result of a run that ended, with what is kept of it. Raises `DownstreamFailed`, `BadAnswer`."""
        ended = cast(RunFinishedEvent, reader.ended)
        outcome = ended.outcome
        if outcome and outcome.type == "cancelled":
            raise DownstreamFailed("the agent stopped the run before its end", retryable=False)
        conversation.messages, conversation.state = kept(reader.history()), reader.state.kept()
        interrupts = interrupts_of(outcome, reader.calls()) if outcome and outcome.type == "interrupt" else ()
        # It tells more than an outcome beside it.
        if reader.custom_interrupt is not None and len(interrupts) <= 1:
            interrupts = custom_interrupts(reader.custom_interrupt)
        conversation.interrupts, conversation.answers, conversation.failed = interrupts, {}, False
        result = checked_result(RunResult(reader.answer(), usage=_usage(ended)))
        return interrupts[0].asked(result) if interrupts else result

    def _refused(self, answer: HttpAnswer) -> DownstreamFailed:
        body = answer.json()
        parts = [body.get(name) for name in ("error", "detail", "message")] if isinstance(body, dict) else []
        return refused_answer(answer, own_words(parts, self.agent.token))


def kept(messages: Sequence[Message]) -> list[Message]:
    """The latest messages that fit, each cut to its first characters, from a message of the user on. Activities are
    for screens, and addresses of pictures expire: they are left out."""
    shortened = [_shortened(message) for message in messages if message["role"] != "activity"]
    left, start = MAX_HISTORY, len(shortened)
    for at in range(len(shortened) - 1, -1, -1):
        left -= len(json.dumps(shortened[at], ensure_ascii=False))
        if left < 0:
            break
        if shortened[at]["role"] == "user":
            start = at
    return shortened[start:]


def _shortened(message: Message) -> Message:
    content = message.get("content")
    if isinstance(content, list):
        content = "".join(part.get("text", "") for part in content)
    return {**message, "content": content[:MAX_CONTENT]} if isinstance(content, str) else message


def _with_pictures(sent: Sequence[Message], request: RunRequest) -> list[Message]:
    """The messages with the pictures of the request as parts of its own message."""
    pictures = [
        {"type": "image", "source": {"type": "url", "value": file.url, "mimeType": file.mime_type}}
        for file in request.files
        if file.mime_type.startswith("image/")
    ]
    if not pictures:
        return list(sent)
    return [
        {**message, "content": [{"type": "text", "text": message["content"]}, *pictures]}
        if message["id"] == request.request_id
        else message
        for message in sent
    ]


def _usage(ended: RunFinishedEvent) -> Usage | None:
    counts = [usage.model_dump(by_alias=True) for usage in ended.usage or ()]
    return summed(*(usage_of(count, "inputTokens", "outputTokens") for count in counts))
