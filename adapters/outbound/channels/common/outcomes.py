"""Sends requests to a platform and classifies how they ended, where the platform has no rules of its own."""

from collections.abc import Callable
from dataclasses import replace
from sys import float_info

from adapters.outbound.net.oauth import TokenRefused, TokenUnavailable
from domain.channels.messages import Outcome, Sent
from ports.http import AddressRefused, Http, HttpAnswer, HttpFailed, HttpRequest, NoAddress

_WAIT_AND_TRY = frozenset({408, 425})
_MAX_DETAIL = 300


async def send(http: Http, request: HttpRequest, outcome: Callable[[HttpAnswer], Sent] | None = None) -> Sent:
    """Sends a request; `outcome` classifies the answer, by its status where it is None."""
    answer = await exchange(http, request)
    return answer if isinstance(answer, Sent) else (outcome or by_status)(answer)


async def exchange(http: Http, request: HttpRequest) -> HttpAnswer | Sent:
    """The answer to a request, or the outcome of a request without an answer."""
    try:
        return await http.send(request)
    except HttpFailed as error:
        return failed(error)


def failed(error: HttpFailed) -> Sent:
    """The outcome of a request without an answer.

    A request that surely did not go out can be tried again; one that may have arrived is `UNKNOWN`.
    """
    if isinstance(error, (AddressRefused, NoAddress)):
        return Sent(Outcome.PERMANENT, str(error))
    if error.before_request:
        return Sent(Outcome.TRANSIENT, str(error))
    return Sent(Outcome.UNKNOWN, str(error))


def without_token(error: TokenRefused | TokenUnavailable) -> Sent:
    """The outcome of a request for which there is no access token."""
    if isinstance(error, TokenRefused):
        return Sent(Outcome.PERMANENT, str(error))
    outcome = Outcome.TRANSIENT if error.retry_after is None else Outcome.RETRY_AFTER
    return Sent(outcome, str(error), retry_after=error.retry_after)


def repeatable(sent: Sent) -> Sent:
    """The outcome of a request that does no harm when it arrives twice: `UNKNOWN` is tried again."""
    return replace(sent, outcome=Outcome.TRANSIENT) if sent.outcome is Outcome.UNKNOWN else sent


def edited(sent: Sent, ref: str) -> Sent:
    """The outcome of an edit of the message `ref`. Editing twice is harmless, so `UNKNOWN` is tried again."""
    return replace(sent, ref=ref) if sent.outcome is Outcome.SENT else repeatable(sent)


def deleted(sent: Sent, ref: str, gone: tuple[str, ...] = ("HTTP 404",)) -> Sent:
    """The outcome of the deletion of the message `ref`. A message that is gone already counts as deleted: `gone` is
    how the platform's refusal begins then."""
    is_gone = sent.outcome is Outcome.PERMANENT and sent.detail.startswith(gone)
    return Sent(Outcome.SENT, ref=ref) if is_gone else repeatable(sent)


def by_status(answer: HttpAnswer, detail: str = "", ref: str = "") -> Sent:
    """Classifies by status: 2xx sent, 429 and any other failure with Retry-After wait, 5xx try again."""
    if answer.ok:
        return Sent(Outcome.SENT, ref=ref)
    message = f"HTTP {answer.status}: {detail or excerpt(answer)}".rstrip(": ")
    if answer.status == 429 or (answer.status >= 500 and answer.retry_after is not None):
        return Sent(Outcome.RETRY_AFTER, message, retry_after=answer.retry_after)
    if answer.status >= 500 or answer.status in _WAIT_AND_TRY:
        return Sent(Outcome.TRANSIENT, message)
    return Sent(Outcome.PERMANENT, message)


def seconds_in(answer: HttpAnswer, header: str, most: float = float_info.max) -> float | None:
    """The seconds that a header names, None if it is missing, no number, or over `most`."""
    try:
        seconds = float(answer.headers.get(header, ""))
    except ValueError:
        return None
    return seconds if 0 <= seconds <= most else None


def excerpt(answer: HttpAnswer) -> str:
    """The beginning of the body, for an error message."""
    return " ".join(answer.body[: 4 * _MAX_DETAIL].decode("utf-8", "replace").split())[:_MAX_DETAIL]
