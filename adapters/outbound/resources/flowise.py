"""Runs resources on flows of Flowise.

https://docs.flowiseai.com/using-flowise/prediction
"""

import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, cast
from uuid import NAMESPACE_URL, uuid5

from adapters.outbound.resources.answers import EVENTS, gathered
from adapters.outbound.resources.chat_model import string
from adapters.outbound.resources.exchanges import (
    ServerError,
    call_headers,
    failed_exchange,
    json_events,
    reported_error,
)
from adapters.outbound.resources.messages import BadAnswer, usage_of
from adapters.outbound.resources.model_runner import message_text
from adapters.outbound.resources.targets import Keys, Target
from domain.routing.model import RunDelta, RunRequest, RunResult
from ports.http import Http, HttpFailed, HttpRequest
from ports.resources import DownstreamFailed


@dataclass(frozen=True, slots=True)
class FlowiseTarget(Target):
    """`url`: the whole address of the flow, `.../api/v1/prediction/<id>`."""

    url: str
    token: str | None = field(default=None, repr=False)

    @classmethod
    def read(cls, keys: Keys) -> "FlowiseTarget":
        return cls(keys.url("url"), keys.token())


@dataclass(frozen=True, slots=True)
class FlowiseRunner:
    """Sends each message to the flow; Flowise keeps the conversation of each session."""

    http: Http
    target: FlowiseTarget

    async def run(self, request: RunRequest) -> RunResult:
        return await gathered(self.stream(request), request)

    async def stream(self, request: RunRequest) -> AsyncIterator[RunDelta]:
        """Raises `DownstreamFailed`, `BadAnswer`."""
        session = f"{request.instance_id}/{request.session_id}/{request.resource}"
        call = HttpRequest(
            "POST",
            self.target.url,
            headers=call_headers(self.target.token, {"Accept": f"{EVENTS}, application/json"}),
            json={
                "question": message_text(request),
                "chatId": str(uuid5(NAMESPACE_URL, session)),
                "streaming": True,
            },
            timeout=request.timeout,
        )
        answer = _Answer()
        try:
            async with aclosing(cast(AsyncGenerator[Any, None], json_events(self.http, call))) as events:
                async for event in events:
                    if delta := answer.read(event):
                        yield delta
                    if answer.ended:
                        return
        except ServerError as error:
            raise reported_error(error.error, self.target.token) from error
        except HttpFailed as error:
            raise await failed_exchange(error, self.target.token) from error
        raise DownstreamFailed("the answer of Flowise broke off", retryable=True)


class _Answer:
    """Reads the events of one answer, or the whole one of a flow that does not stream."""

    def __init__(self) -> None:
        self.ended = False

    def read(self, event: Any) -> RunDelta | None:
        """The piece of the answer in an event. Raises `BadAnswer`, `ServerError`."""
        if not isinstance(event, dict):
            raise BadAnswer("an event or answer is not a JSON object")
        match event.get("event"):
            case None:
                self.ended = True
                return RunDelta(_whole_text(event))
            case "token":
                data = event.get("data")
                if not isinstance(data, str):
                    raise BadAnswer("data of a token is not a string")
                return RunDelta(data)
            case "usageMetadata":
                return RunDelta(usage=usage_of(event.get("data"), "input_tokens", "output_tokens"))
            case "error":
                raise ServerError(event.get("data"))
            case "end":
                self.ended = True
        return None


def _whole_text(answer: dict[str, Any]) -> str:
    if isinstance(answer.get("text"), str):
        return string(answer["text"])
    if isinstance(answer.get("json"), dict | list):
        return json.dumps(answer["json"], ensure_ascii=False)
    raise BadAnswer("the answer has neither text nor json")
