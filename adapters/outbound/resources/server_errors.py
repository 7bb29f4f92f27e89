"""Failures of servers in their own words, without secrets."""

from typing import Any

from adapters.outbound.resources.answers import broken_exchange, own_words, refused_answer
from domain.rendering import off_loop
from ports.http import HttpAnswer, HttpFailed
from ports.resources import DownstreamFailed

_TRY_AGAIN = frozenset({
    "rate_limit_exceeded", "rate_limit_error", "server_error", "internal_server_error", "internal_error",
    "api_error", "overloaded", "overloaded_error", "service_unavailable", "timeout",
    "408", "429", "500", "502", "503", "504", "529",
})  # fmt: skip
"""Codes, types and statuses of errors after which another try may help."""


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
