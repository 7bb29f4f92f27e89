"""The HTTP port of stored agents: under the outbound policy for addresses that users give, and for tests."""

import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import cast

from adapters.outbound.net.urls import safe_url
from domain.agents.model import AgentExchange
from ports.http import Http, HttpAnswer, HttpFailed, HttpRequest

MAX_SHOWN = 20_000
"""Characters of a body that a test shows."""
MAX_KEPT = 400_000
"""Bytes of an answer that are kept, far more than are shown: no secret may be cut in half."""
MAX_EXCHANGES = 20
HIDDEN = "•••"
_OPEN_HEADERS = frozenset(
    ["accept", "content-type", "content-length", "idempotency-key", "user-agent", "retry-after"]
)
_SHOWN_ANSWER_HEADERS = _OPEN_HEADERS | {"date", "server"}
"""Headers whose values are shown; of others the name alone."""


@dataclass(frozen=True, slots=True)
class UserAddresses:
    """`ports.http.Http` that holds every address against the outbound policy for addresses of users."""

    http: Http

    async def send(self, request: HttpRequest) -> HttpAnswer:
        return await self.http.send(replace(request, user_address=True))

    def stream(self, request: HttpRequest) -> AsyncIterator[bytes]:
        return self.http.stream(replace(request, user_address=True))


@dataclass(frozen=True, slots=True)
class Recorder:
    """`ports.http.Http` that keeps what went out and came back, without secrets and without what may be one. `forms`:
    how the secrets may be written."""

    http: Http
    forms: Collection[str] = field(repr=False)
    exchanges: list[AgentExchange] = field(default_factory=list)

    async def send(self, request: HttpRequest) -> HttpAnswer:
        started = time.monotonic()
        try:
            answer = await self.http.send(request)
        except HttpFailed as error:
            self._keep(request, started, error=str(error), answer=error.answer)
            raise
        self._keep(request, started, answer=answer)
        return answer

    async def stream(self, request: HttpRequest) -> AsyncIterator[bytes]:
        started, head = time.monotonic(), list[HttpAnswer]()
        pieces: list[bytes] = []
        size = 0

        def begin(answer: HttpAnswer) -> None:
            head.append(answer)
            if request.on_head:
                request.on_head(answer)

        error = ""
        refused: HttpAnswer | None = None
        try:
            stream = cast(AsyncGenerator[bytes, None], self.http.stream(replace(request, on_head=begin)))
            async with aclosing(stream) as closing:
                async for piece in closing:
                    if size < MAX_KEPT:
                        pieces.append(piece)
                        size += len(piece)
                    yield piece
        except HttpFailed as failed:
            error, refused = str(failed), failed.answer
            raise
        finally:
            answer = replace(head[0], body=b"".join(pieces)) if head else refused
            self._keep(request, started, error=error, answer=answer)

    def _keep(
        self, request: HttpRequest, started: float, *, answer: HttpAnswer | None, error: str = ""
    ) -> None:
        if len(self.exchanges) >= MAX_EXCHANGES:
            return
        body = json.dumps(request.json, ensure_ascii=False, indent=1) if request.json is not None else ""
        if isinstance(request.content, bytes):
            body = request.content[:MAX_KEPT].decode("utf-8", "replace")
        received = answer.body[:MAX_KEPT].decode("utf-8", "replace") if answer else ""
        self.exchanges.append(
            AgentExchange(
                method=request.method,
                url=self.clean(safe_url(request.url)),
                request_headers=self._headers(request.headers, _OPEN_HEADERS),
                request_body=self.clean(body),
                status=answer.status if answer else 0,
                response_headers=self._headers(answer.headers if answer else {}, _SHOWN_ANSWER_HEADERS),
                response_body=self.clean(received),
                error=self.clean(error),
                seconds=round(time.monotonic() - started, 3),
            )
        )

    def keep_call(self, url: str, request: object, status: int, error: str) -> None:
        """Keeps a gRPC call: its request as JSON, and how it ended."""
        body = self.clean(json.dumps(request, ensure_ascii=False, indent=1))
        self.exchanges.append(AgentExchange("gRPC", url, {}, body, status, error=error))

    def _headers(self, headers: Mapping[str, str], shown: Collection[str]) -> Mapping[str, str]:
        return {name: self.clean(text) if name.lower() in shown else HIDDEN for name, text in headers.items()}

    def clean(self, text: str) -> str:
        """The beginning of a text, without secrets."""
        for form in self.forms:
            text = text.replace(form, HIDDEN)
        return text[:MAX_SHOWN]
