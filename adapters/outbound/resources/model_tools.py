"""The tools that a model may use, and the words in which it learns of failures."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from hashlib import sha256
from typing import Any

from adapters.outbound.resources.chat_model import ToolCall, ToolOffer
from adapters.outbound.resources.exchanges import call_headers
from adapters.outbound.resources.model_settings import ChatTool
from ports.http import Http, HttpFailed, HttpRequest

MAX_RESULT = 16_000
"""Characters of a tool's answer that go to the model."""

REJECTED_BY_USER = "The user rejected the use of this tool. It was not run."
UNDECIDED = "The user did not decide on this tool. It was not run."
INTERRUPTED = "The use of this tool was interrupted. Whether it was carried out is not known."
UNREACHABLE = "The tool could not be reached."
BAD_ARGUMENTS = "The arguments are not a JSON object."


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool in one run of a model; with `confirm` a person decides before each use. `use` takes the call, its
    parameters, the request id and the seconds that are left, and returns the tool's answer as text, or in words why
    the tool did not answer."""

    offer: ToolOffer
    confirm: bool
    use: Callable[[ToolCall, Mapping[str, Any], str, float], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class RuleTools:
    """Tools of a rule: HTTP endpoints that take the parameters."""

    http: Http
    tools: tuple[ChatTool, ...]

    def all(self) -> dict[str, Tool]:
        return {tool.name: self._tool(tool) for tool in self.tools}

    def _tool(self, tool: ChatTool) -> Tool:
        async def use(call: ToolCall, parameters: Mapping[str, Any], request_id: str, seconds: float) -> str:
            digest = sha256(f"{call.name}\n{call.arguments}".encode()).hexdigest()[:16]
            request = HttpRequest(
                "POST",
                tool.url,
                headers=call_headers(tool.token, {"Idempotency-Key": f"{request_id}-{digest}"}),
                json=parameters,
                timeout=seconds,
                max_bytes=1_000_000,
            )
            try:
                answer = await self.http.send(request)
            except HttpFailed:
                return UNREACHABLE
            text = answer.body.decode("utf-8", "replace")[:MAX_RESULT]
            return text if answer.ok else f"The tool failed with status {answer.status}: {text}"

        return Tool(ToolOffer(tool.name, tool.description, tool.parameters), tool.confirm, use)


def matches(name: str, globs: Sequence[str]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs)
