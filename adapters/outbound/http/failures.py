"""Turns what goes wrong below into `HttpFailed`, in words that hold no secret."""

import ssl

from adapters.outbound.http.addresses import Forbidden, NameNotFound, refused
from adapters.outbound.http.redaction import safe_url
from adapters.outbound.http.wire import Unreadable
from adapters.system_errors import system_reason
from ports.http import AddressRefused, HttpAnswer, HttpFailed, HttpRequest


def failure(error: Exception, request: HttpRequest, sent: bool, source: Exception | None) -> HttpFailed:
    """The failure behind `error`. `sent`: the first byte may have left; `source`: what broke the content."""
    if isinstance(source, HttpFailed):
        return source
    if source is not None:
        return HttpFailed("the content to send cannot be read", before_request=False)
    if isinstance(error, Forbidden) or isinstance(getattr(error, "os_error", None), Forbidden):
        return refused(_host(request.url))
    return HttpFailed(f"{safe_url(request.url)} {_words(error, request, sent)}", before_request=not sent)


def outcome_of(end: int | HttpFailed) -> str:
    """A short word for metrics: the class of the status, or how the exchange broke."""
    if isinstance(end, int):
        return "429" if end == 429 else f"{end // 100}xx"
    if isinstance(end, AddressRefused):
        return "address_refused"
    if end.answer is not None:
        return outcome_of(end.answer.status)
    return "not_sent" if end.before_request else "broken"


def too_large(url: str, limit: int) -> HttpFailed:
    return HttpFailed(f"{safe_url(url)} answers with over {limit} bytes", before_request=False)


def unwanted(url: str, answer: HttpAnswer) -> HttpFailed:
    return HttpFailed(
        f"{safe_url(url)} answers with status {answer.status}", before_request=False, answer=answer
    )


def _words(error: Exception, request: HttpRequest, sent: bool) -> str:
    if isinstance(error, TimeoutError):
        what = "does not answer" if sent else "cannot be connected to"
        return f"{what} within {request.timeout:g} s"
    if isinstance(error, NameNotFound | UnicodeError):
        return "cannot be reached: the host name is not found"
    if isinstance(error, ssl.SSLCertVerificationError):
        return "cannot be trusted: its TLS certificate is not valid for it"
    if isinstance(error, ssl.SSLError):
        return "does not speak TLS as we do"
    if isinstance(error, OSError) and (not sent or hasattr(error, "os_error")):
        return f"cannot be connected to: {system_reason(error) or 'connection failed'}"
    if isinstance(error, Unreadable):
        return f"does not answer as HTTP/1.1 wants it: {error}"
    if isinstance(error, ConnectionError):
        return "broke the connection before the answer was whole"
    return "cannot be called: the connection failed"


def _host(url: str) -> str:
    return safe_url(url).split("//", 1)[-1].split("/", 1)[0]
