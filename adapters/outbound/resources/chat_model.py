"""A model behind a server that speaks the chat-completions protocol, its client, and the tools that a rule offers to
it: HTTP endpoints that take the parameters."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from adapters import trace_context
from adapters.outbound.resources.answers import broken_exchange, refused_answer
from adapters.outbound.resources.chat_wire import EventStream, Reply, ToolCall, message_of, reply_of
from adapters.outbound.resources.messages import MAX_ANSWER_BYTES
from domain.rendering import off_loop
from ports.http import Http, HttpFailed, HttpRequest
from ports.resources import DownstreamFailed, Turn

MAX_RESULT = 16_000
"""Characters of a tool's answer that go to the model."""

REJECTED_BY_USER = "The user rejected the use of this tool. It was not run."
UNDECIDED = "The user did not decide on this tool. It was not run."
INTERRUPTED = "The use of this tool was interrupted. Whether it was carried out is not known."


@dataclass(frozen=True, slots=True)
class ChatTool:
    """A tool: `parameters` is its JSON Schema, `url` takes them by POST; with `confirm` a person decides."""

    name: str
    url: str
    description: str = ""
    parameters: Mapping[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})
    confirm: bool = True
    token: str | None = field(default=None, repr=False)

    def offer(self) -> dict[str, Any]:
        """The tool as the protocol describes it to the model."""
        function = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return {"type": "function", "function": function}


async def call_tool(
    http: Http, tool: ChatTool | None, call: ToolCall, request_id: str, seconds: float
) -> str:
    """The result for the model: the tool's answer as text, or in words why the tool gave no answer."""
    if tool is None:
        return f"There is no tool named {call.name}."
    parameters = call.parameters()
    if parameters is None:
        return "The arguments are not a JSON object."
    digest = sha256(f"{call.name}\n{call.arguments}".encode()).hexdigest()[:16]
    headers = {"Idempotency-Key": f"{request_id}-{digest}", **trace_context.headers()}
    if tool.token:
        headers["Authorization"] = f"Bearer {tool.token}"
    request = HttpRequest(
        "POST", tool.url, headers=headers, json=parameters, timeout=seconds, max_bytes=1_000_000
    )
    try:
        answer = await http.send(request)
    except HttpFailed:
        return "The tool could not be reached."
    text = answer.body.decode("utf-8", "replace")[:MAX_RESULT]
    return text if answer.ok else f"The tool failed with status {answer.status}: {text}"


@dataclass(frozen=True, slots=True)
class ChatModel:
    """A model behind a server; `url` is the base address up to and without `/chat/completions`. `knowledge`: the ids
    of bases that it may search."""

    url: str
    model: str
    system: str = ""
    history_tokens: int = 4000
    stream: bool = False
    temperature: float | None = None
    max_tokens: int | None = None
    tools: tuple[ChatTool, ...] = ()
    knowledge: tuple[int, ...] = ()
    token: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Extra:
    """What a run adds to its rule: an instruction and tools. `closed`: no tool may be asked for any more."""

    instruction: str = ""
    tools: tuple[dict[str, Any], ...] = ()
    closed: bool = False


@dataclass(frozen=True, slots=True)
class ModelClient:
    """Asks the model for one reply at a time."""

    http: Http
    model: ChatModel

    async def ask(
        self, turns: Sequence[Turn], seconds: float, reply: Reply, extra: Extra
    ) -> AsyncIterator[str]:
        """The texts of one reply; `reply` holds all of it afterwards. Raises `DownstreamFailed`, `BadAnswer`."""
        request, has_text = self._request(turns, seconds, extra), False
        try:
            if self.model.stream:
                events = EventStream()
                async for piece in self.http.stream(request):
                    for text in events.feed(piece):
                        has_text = True
                        yield text
                complete = events.close()
                if not complete.ended:
                    raise DownstreamFailed("the model's answer broke off", retryable=True)
            else:
                answer = await self.http.send(request)
                if not answer.ok:
                    raise refused_answer(answer)
                complete = reply_of(await off_loop(len(answer.body), answer.json))
        except HttpFailed as error:
            raise broken_exchange(error) from error
        reply.text, reply.calls = complete.text, complete.calls
        if complete.text and not has_text:
            yield complete.text

    def _request(self, turns: Sequence[Turn], seconds: float, extra: Extra) -> HttpRequest:
        model = self.model
        headers = {"Accept": "text/event-stream" if model.stream else "application/json"}
        headers |= trace_context.headers()
        if model.token:
            headers["Authorization"] = f"Bearer {model.token}"
        system = "\n\n".join(filter(None, (model.system, extra.instruction)))
        messages = [{"role": "system", "content": system}] if system else []
        messages += [message_of(turn) for turn in turns]
        optional = {
            "stream": model.stream or None,
            "temperature": model.temperature,
            "max_tokens": model.max_tokens,
            "tools": [*(tool.offer() for tool in model.tools), *extra.tools] or None,
            "tool_choice": "none" if extra.closed else None,
        }
        set_options = {name: value for name, value in optional.items() if value is not None}
        return HttpRequest(
            "POST",
            model.url.rstrip("/") + "/chat/completions",
            headers=headers,
            json={"model": model.model, "messages": messages, **set_options},
            timeout=seconds,
            max_bytes=MAX_ANSWER_BYTES,
        )
