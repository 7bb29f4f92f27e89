"""Which failures of a resource over HTTP are worth another try. Pure."""

from ports.downstream import DownstreamFailed
from ports.http import HttpAnswer, HttpFailed

_TRY_AGAIN = frozenset({408, 425, 429})


def refused_answer(answer: HttpAnswer) -> DownstreamFailed:
    """The failure behind an answer that is not 2xx; 5xx, 429 and their like are worth another try.

    A resource that answers with 503 (RFC 9110, 15.6.4) or with 4xx did not work on the request.
    """
    retryable = answer.status >= 500 or answer.status in _TRY_AGAIN
    return DownstreamFailed(
        f"the resource answers with status {answer.status}",
        retryable=retryable,
        retry_after=answer.retry_after if retryable else None,
        begun=answer.status >= 500 and answer.status != 503,
    )


def broken_exchange(error: HttpFailed) -> DownstreamFailed:
    """The failure behind an exchange that came to no usable answer; a connection may hold the next time."""
    if error.answer is not None:
        return refused_answer(error.answer)
    return DownstreamFailed(str(error), retryable=True, begun=not error.before_request)
