"""What an exchange with a platform means for the part sent, where the platform has no words of its own."""

from __future__ import annotations

from domain.channels.messages import Outcome, Sent
from ports.http import AddressRefused, Http, HttpAnswer, HttpFailed, HttpRequest, NoAddress

_WAIT_AND_TRY = frozenset({408, 425})
_MAX_DETAIL = 300


async def exchange(http: Http, request: HttpRequest) -> HttpAnswer | Sent:
    """The answer to a request, or how sending ended when there is none."""
    try:
        return await http.send(request)
    except HttpFailed as error:
        return failed(error)


def failed(error: HttpFailed) -> Sent:
    """An exchange that came to no answer.

    A request that surely did not go out can be tried again; one that may have arrived is `UNKNOWN`.
    """
    if isinstance(error, (AddressRefused, NoAddress)):
        return Sent(Outcome.PERMANENT, str(error))
    if error.before_request:
        return Sent(Outcome.TRANSIENT, str(error))
    return Sent(Outcome.UNKNOWN, str(error))


def by_status(answer: HttpAnswer, detail: str = "", ref: str = "") -> Sent:
    """Classifies by status: 2xx sent, 429 and any other failure with Retry-After wait, 5xx try again."""
    if answer.ok:
        return Sent(Outcome.SENT, ref=ref)
    words = f"HTTP {answer.status}: {detail or excerpt(answer)}".rstrip(": ")
    if answer.status == 429 or (answer.status >= 500 and answer.retry_after is not None):
        return Sent(Outcome.RETRY_AFTER, words, retry_after=answer.retry_after)
    if answer.status >= 500 or answer.status in _WAIT_AND_TRY:
        return Sent(Outcome.TRANSIENT, words)
    return Sent(Outcome.PERMANENT, words)


def excerpt(answer: HttpAnswer) -> str:
    """The beginning of the body, as words for an error message."""
    return " ".join(answer.body[: 4 * _MAX_DETAIL].decode("utf-8", "replace").split())[:_MAX_DETAIL]
