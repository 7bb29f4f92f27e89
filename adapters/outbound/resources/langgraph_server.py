"""The endpoints of a LangGraph server that the runs of a conversation need.

https://docs.langchain.com/langsmith/server-api-ref
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from adapters.outbound.resources.answers import GATHER_SECONDS, broken_exchange, own_words, refused_answer
from adapters.outbound.resources.exchanges import call_headers
from adapters.outbound.resources.messages import MAX_ANSWER_BYTES, BadAnswer
from adapters.outbound.resources.targets import Keys, Target
from domain.rendering import off_loop
from ports.http import Http, HttpAnswer, HttpFailed, HttpRequest
from ports.resources import DownstreamFailed

REQUEST = "switchboard_request"
"""The key of a run's metadata that holds the id of the request that it answers."""
MAX_STREAM_BYTES = 200_000_000
"""Bytes of all events of a run: each token of a model comes with a kilobyte of metadata."""
CANCEL_SECONDS = 2.0
MAX_RUNS = 20
"""The latest runs of a thread among which those of a request are looked for."""
_RUN_ID = re.compile(r"[0-9A-Fa-f-]{36}")


@dataclass(frozen=True, slots=True)
class LangGraphAgent(Target):
    """An assistant (its id, or the name of its graph) of a LangGraph server; `url` is the server's base address.

    `stream`: the texts of models are shown while they are made. `images`: pictures go along as content blocks.
    `bearer`: the token goes as `Authorization: Bearer` in place of `x-api-key`.
    """

    url: str
    assistant: str
    stream: bool = False
    images: bool = False
    bearer: bool = False
    token: str | None = field(default=None, repr=False)

    @classmethod
    def read(cls, keys: Keys) -> LangGraphAgent:
        return cls(
            url=keys.url("url"),
            assistant=keys.text("assistant"),
            stream=keys.flag("stream", default=False),
            images=keys.flag("images", default=False),
            bearer=keys.flag("bearer", default=False),
            token=keys.token(),
        )

    def details(self) -> Mapping[str, Any]:
        return {"model": self.assistant}


@dataclass(frozen=True, slots=True)
class Run:
    """A run of a thread. `status` is pending, running, success, error, timeout or interrupted; a run that was
    cancelled is interrupted, too."""

    id: str
    status: str


@dataclass(frozen=True, slots=True)
class LangGraphServer:
    http: Http
    agent: LangGraphAgent

    async def runs_of(self, thread: str, request_ids: Sequence[str], seconds: float) -> Sequence[Run]:
        """The runs that answer these requests, the newest first; none where there is no such thread.

        Raises `DownstreamFailed`, `BadAnswer`.
        """
        fields = "&".join(f"select={name}" for name in ("run_id", "status", "metadata"))
        listed = await self._send("GET", f"/threads/{thread}/runs?limit={MAX_RUNS}&{fields}", seconds)
        if listed is None:
            return []
        if not isinstance(listed, list) or not all(isinstance(run, dict) for run in listed):
            raise BadAnswer("the runs of the thread are not an array of objects")
        runs = []
        for run in listed:
            metadata = run.get("metadata")
            if isinstance(metadata, dict) and metadata.get(REQUEST) in request_ids:
                runs.append(Run(run_id(run.get("run_id")), str(run.get("status"))))
        return runs

    def stream(
        self, thread: str, body: Mapping[str, Any], on_head: Callable[[HttpAnswer], None], seconds: float
    ) -> AsyncIterator[bytes]:
        """Begins a run, which goes on if the connection ends, and gives its events. Raises `HttpFailed`."""
        agent = self.agent
        options = {
            "assistant_id": agent.assistant,
            "if_not_exists": "create",
            "multitask_strategy": "enqueue",
            "on_disconnect": "continue",
            "stream_mode": ["messages-tuple" if agent.stream else "custom"],
        }
        path = f"/threads/{thread}/runs/stream"
        request = self._request("POST", path, seconds, {**options, **body}, MAX_STREAM_BYTES, on_head)
        return self.http.stream(request)

    async def join(self, thread: str, run: str, seconds: float) -> None:
        """Waits for the end of a run. Raises `DownstreamFailed` for one that failed."""
        ended = await self._send("GET", f"/threads/{thread}/runs/{run}/join", seconds)
        if isinstance(ended, dict) and "__error__" in ended:
            raise self.run_failed(ended["__error__"])

    async def state(self, thread: str, seconds: float) -> Mapping[str, Any] | None:
        """The latest state of a thread, None where there is no such thread.

        Raises `DownstreamFailed`, `BadAnswer`.
        """
        state = await self._send("GET", f"/threads/{thread}/state", seconds)
        if state is not None and not isinstance(state, dict):
            raise BadAnswer("the state of the thread is not an object")
        return state

    async def cancel(self, thread: str, run: str) -> None:
        """Raises `DownstreamFailed`; a run that has ended stays as it is."""
        path = f"/threads/{thread}/runs/{run}/cancel?wait=false&action=interrupt"
        await self._send("POST", path, CANCEL_SECONDS)

    def failure_of(self, error: HttpFailed) -> DownstreamFailed:
        """The failure behind an exchange that came to no usable answer."""
        return self._refused(error.answer) if error.answer is not None else broken_exchange(error)

    def run_failed(self, error: Any) -> DownstreamFailed:
        """The failure of a run by what the server says of it: `{error, message}`. It is not tried again, as the agent
        may have done something."""
        parts = [error.get("error"), error.get("message")] if isinstance(error, dict) else [error]
        words = own_words(parts, self.agent.token) or "no reason is given"
        return DownstreamFailed(f"the run failed: {words}", retryable=False)

    def _refused(self, answer: HttpAnswer) -> DownstreamFailed:
        body = answer.json()
        detail = body.get("detail") if isinstance(body, dict) else None
        return refused_answer(answer, own_words([detail], self.agent.token))

    async def _send(self, method: str, path: str, seconds: float) -> Any:
        """The JSON of an answer, None for status 404."""
        try:
            answer = await self.http.send(self._request(method, path, seconds, None, MAX_ANSWER_BYTES))
        except HttpFailed as error:
            raise self.failure_of(error) from error
        if answer.status == 404:
            return None
        if not answer.ok:
            raise self._refused(answer)
        return await off_loop(len(answer.body), answer.json)

    def _request(
        self,
        method: str,
        path: str,
        seconds: float,
        json: Any,
        max_bytes: int,
        on_head: Callable[[HttpAnswer], None] | None = None,
    ) -> HttpRequest:
        agent = self.agent
        if agent.bearer or not agent.token:
            headers = call_headers(agent.token)
        else:
            headers = call_headers(None, {"x-api-key": agent.token})
        return HttpRequest(
            method,
            agent.url.rstrip("/") + path,
            headers=headers,
            json=json,
            timeout=seconds,
            max_bytes=max_bytes,
            gather_seconds=GATHER_SECONDS if on_head else 0.0,
            on_head=on_head,
        )


def run_id(id: Any) -> str:
    """An id of a run that may stand in an address. Raises `BadAnswer`."""
    if not isinstance(id, str) or not _RUN_ID.fullmatch(id):
        raise BadAnswer("the id of a run is not a UUID")
    return id
