"""The tools that a chat-completions rule offers to its model: HTTP endpoints that take the parameters."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from adapters import trace_context
from adapters.outbound.downstream.chat_wire import ToolCall
from ports.http import Http, HttpFailed, HttpRequest

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
    """What the model is told of the call: the tool's answer as text, or in words why there is none."""
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
