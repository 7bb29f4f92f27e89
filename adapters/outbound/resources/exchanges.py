"""Calls to services with protocols of their own: their headers, streamed answers, and failures in the services' own
words, without secrets.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import Any, cast

from adapters import trace_context
from adapters.outbound.resources.answers import (
    ServerEvents,
    broken_exchange,
    is_event_stream,
    own_words,
    refused_answer,
)
from adapters.outbound.resources.messages import MAX_ANSWER_BYTES, BadAnswer
from domain.json_text import loads
from domain.rendering import off_loop
from ports.http import Http, HttpAnswer, HttpFailed, HttpRequest
from ports.resources import DownstreamFailed

_TRY_AGAIN = frozenset({
    "rate_limit_exceeded", "rate_limit_error", "server_error", "internal_server_error", "internal_error",
    "api_error", "overloaded", "overloaded_error", "service_unavailable", "timeout",
    "408", "429", "500", "502", "503", "504", "529",
})  # fmt: skip
"""Codes, types and statuses of errors after which another try may help."""


def call_headers(token: str | None, headers: Mapping[str, str] = {}) -> dict[str, str]:
    """These headers, those of the trace, and the token as a Bearer token where there is one."""
    bearer = {"Authorization": f"Bearer {token}"} if token else {}
    return {**headers, **trace_context.headers(), **bearer}


async def json_events(http: Http, request: HttpRequest) -> AsyncIterator[Any]:
    """The values of the events of an answer, or the value of an answer that is no stream.

    Raises `HttpFailed`, `BadAnswer`.
    """
    heads: list[HttpAnswer] = []
    events, body = ServerEvents(MAX_ANSWER_BYTES), bytearray()
    pieces = http.stream(replace(request, max_bytes=MAX_ANSWER_BYTES, on_head=heads.append))
    async with aclosing(cast(AsyncGenerator[bytes, None], pieces)) as closing:
        async for piece in closing:
            if not is_event_stream(heads[0]):
                body += piece
                continue
            for data in events.feed(piece):
                yield await off_loop(len(data), _value, data)
    if body:
        yield await off_loop(len(body), _value, bytes(body))


def _value(data: bytes) -> Any:
    try:
        return loads(data)
    except ValueError:
        raise BadAnswer("an event or answer is not JSON, or nested too deeply") from None


class ServerError(Exception):
    """A failure that the server tells inside its answer: the error of its protocol, as it came."""

    def __init__(self, error: Any) -> None:
        super().__init__("the server reports an error inside its answer")
        self.error = error


def reported_error(error: Any, secret: str | None) -> DownstreamFailed:
    """The failure behind an error inside an answer."""
    fields = ("code", "type", "status")
    names = {str(error.get(name)) for name in fields} if isinstance(error, dict) else set()
    words = error_words(error, secret) or "no reason is given"
    return DownstreamFailed(f"the server reports an error: {words}", retryable=bool(names & _TRY_AGAIN))


async def failed_exchange(error: HttpFailed, secret: str | None) -> DownstreamFailed:
    """The failure behind an exchange that came to no answer, or to a refusal."""
    if error.answer is None:
        return broken_exchange(error)
    return refused_answer(error.answer, error_words(await _error_of(error.answer), secret))


def error_words(error: Any, secret: str | None) -> str:
    """Code and message of an error as the server says them, without the secret."""
    is_object = isinstance(error, dict)
    parts = [error.get("code") or error.get("type"), error.get("message")] if is_object else [error]
    return own_words(parts, secret)


async def _error_of(answer: HttpAnswer) -> Any:
    """The error in a refusal: the `error` of its object, or the object itself. Google wraps it in a list."""
    body = await off_loop(len(answer.body), answer.json)
    if isinstance(body, list) and body:
        body = body[0]
    return body.get("error") or body if isinstance(body, dict) else None
