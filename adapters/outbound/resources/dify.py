"""Runs resources on apps of Dify: chatbots, agents and chatflows.

https://docs.dify.ai/api-reference/chat/send-chat-message
"""

import asyncio
import mimetypes
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from posixpath import basename
from typing import Any, cast
from urllib.parse import urljoin, urlsplit

from adapters.outbound.resources.answers import EVENTS, gathered
from adapters.outbound.resources.chat_model import string
from adapters.outbound.resources.exchanges import (
    ServerError,
    call_headers,
    failed_exchange,
    json_events,
    reported_error,
)
from adapters.outbound.resources.messages import BadAnswer, checked_artifact, usage_of
from adapters.outbound.resources.model_runner import message_text
from adapters.outbound.resources.targets import Keys, Target
from domain.routing.model import InputFile, ResultArtifact, RunDelta, RunRequest, RunResult
from ports.http import Http, HttpFailed, HttpRequest
from ports.resources import DownstreamFailed, ResourceStates

STOP_SECONDS = 2.0
"""For the request that ends an answer which nobody waits for any more."""
_CONVERSATION = "conversation_id"
_MAX_ID = 200
"""Characters of an id of Dify; it has 36."""


@dataclass(frozen=True, slots=True)
class DifyTarget(Target):
    """`url`: the address of the API, up to and with `/v1`. `inputs`: values of the variables of the app. `files`: the
    app takes files, which Dify fetches from their signed addresses."""

    url: str
    inputs: Mapping[str, Any] = field(default_factory=dict)
    files: bool = False
    token: str | None = field(default=None, repr=False)

    @classmethod
    def read(cls, keys: Keys) -> "DifyTarget":
        files = keys.flag("files", default=False)
        return cls(keys.url("url"), keys.json_table("inputs"), files, keys.token())


class DifyRunner:
    """Sends each message to the app, in the conversation that Dify has for the session."""

    def __init__(self, http: Http, states: ResourceStates, target: DifyTarget) -> None:
        self._http = http
        self._states = states
        self._target = target
        self._stopping: set[asyncio.Task[None]] = set()

    async def run(self, request: RunRequest) -> RunResult:
        return await gathered(self.stream(request), request)

    async def stream(self, request: RunRequest) -> AsyncIterator[RunDelta]:
        """Raises `DownstreamFailed`, `BadAnswer`."""
        place = request.instance_id, request.session_id, request.resource
        conversation = string((await self._states.load(*place)).get(_CONVERSATION))
        answer = _Answer(self._target.url)
        try:
            async for delta in self._answered(request, answer, conversation):
                yield delta
        except ServerError as error:
            raise reported_error(error.error, self._target.token) from error
        except HttpFailed as error:
            raise await failed_exchange(error, self._target.token) from error
        finally:
            if answer.task and not answer.ended:
                self._stop_soon(request, answer.task)
        if not answer.ended:
            raise DownstreamFailed("the answer of Dify broke off", retryable=True)
        if answer.conversation and answer.conversation != conversation:
            state = {_CONVERSATION: answer.conversation}
            await self._states.save(*place, state, request.inbox_id)

    async def _answered(
        self, request: RunRequest, answer: "_Answer", conversation: str
    ) -> AsyncIterator[RunDelta]:
        """The pieces of the answer. A conversation that was deleted in Dify is followed by a new one."""
        try:
            async for delta in self._asked(request, answer, conversation):
                yield delta
        except HttpFailed as error:
            if not conversation or error.answer is None or error.answer.status != 404:
                raise
        else:
            return
        async for delta in self._asked(request, answer, ""):
            yield delta

    async def _asked(
        self, request: RunRequest, answer: "_Answer", conversation: str
    ) -> AsyncIterator[RunDelta]:
        body = {
            "query": message_text(request),
            "inputs": dict(self._target.inputs),
            "response_mode": "streaming",
            _CONVERSATION: conversation,
            "user": _user(request),
            "files": [_file(file) for file in request.files] if self._target.files else [],
            "auto_generate_name": False,
        }
        call = self._call("/chat-messages", body, request.timeout)
        events = cast(AsyncGenerator[Any, None], json_events(self._http, call))
        async with aclosing(events) as closing:
            async for event in closing:
                if delta := answer.read(event):
                    yield delta
                if answer.ended:
                    return

    def _stop_soon(self, request: RunRequest, task: str) -> None:
        """Has Dify end an answer: it goes on, and costs, after the connection was closed. Whoever gives the answer up
        does not wait for that."""
        stopping = asyncio.create_task(self._stop(request, task))
        self._stopping.add(stopping)
        stopping.add_done_callback(self._stopping.discard)

    async def _stop(self, request: RunRequest, task: str) -> None:
        call = self._call(f"/chat-messages/{task}/stop", {"user": _user(request)}, STOP_SECONDS)
        try:
            await self._http.send(call)
        except HttpFailed:
            return  # it ends by itself

    def _call(self, path: str, body: Mapping[str, Any], seconds: float) -> HttpRequest:
        return HttpRequest(
            "POST",
            self._target.url.rstrip("/") + path,
            headers=call_headers(self._target.token, {"Accept": f"{EVENTS}, application/json"}),
            json=body,
            timeout=seconds,
        )


def _user(request: RunRequest) -> str:
    """The id of the user at Dify. Conversations belong to one user there, so it is that of the session."""
    return f"switchboard-{request.instance_id}-{request.session_id}"[:255]


def _file(file: InputFile) -> dict[str, str]:
    kind = file.mime_type.partition("/")[0]
    kind = kind if kind in ("image", "audio", "video") else "document"
    return {"type": kind, "transfer_method": "remote_url", "url": file.url}


class _Answer:
    """Reads the events of one answer. `task` and `conversation`: the ids that Dify gave them."""

    def __init__(self, url: str) -> None:
        self._url = url
        self.task = ""
        self.conversation = ""
        self.ended = False

    def read(self, event: Any) -> RunDelta | None:
        """The piece of the answer in an event. Raises `BadAnswer`, `ServerError`, `DownstreamFailed`."""
        if not isinstance(event, dict):
            raise BadAnswer("an event is not a JSON object")
        self.conversation = _id(event, _CONVERSATION) or self.conversation
        self.task = _id(event, "task_id") or self.task
        match event.get("event"):
            case "message" | "agent_message":
                return RunDelta(_text(event))
            case "message_replace":
                return RunDelta(_text(event), replaces=True)
            case "message_file" if event.get("belongs_to") == "assistant":
                return RunDelta(artifacts=(self._artifact(event),))
            case "message_end":
                self.ended = True
                metadata = event.get("metadata")
                usage = metadata.get("usage") if isinstance(metadata, dict) else None
                return RunDelta(usage=usage_of(usage, "prompt_tokens", "completion_tokens"))
            case "error":
                raise ServerError(event)
            case "workflow_paused":
                raise DownstreamFailed(
                    "the workflow waits for the input of a person in Dify, which is not supported",
                    retryable=False,
                )
        return None

    def _artifact(self, event: Mapping[str, Any]) -> ResultArtifact:
        """A file that the app made; its address may be relative to that of Dify."""
        try:
            address = urljoin(self._url, string(event.get("url")))
            name = basename(urlsplit(address).path)
        except ValueError:
            raise BadAnswer("message_file.url cannot be read as an address") from None
        mime_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
        return checked_artifact(name or "file", mime_type, address, None, "message_file")


def _text(event: Mapping[str, Any]) -> str:
    text = event.get("answer")
    if not isinstance(text, str):
        raise BadAnswer("answer is not a string")
    return text


def _id(event: Mapping[str, Any], name: str) -> str:
    """An id of Dify; empty if it is missing or could not stand in an address."""
    value = string(event.get(name))
    return value if len(value) <= _MAX_ID and value.replace("-", "").isalnum() and value.isascii() else ""
