"""What comes of a call: the joined pieces of a streamed answer, or a failure and whether to try again."""

from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing, contextmanager
from typing import cast

from adapters.outbound.downstream.messages import MAX_TEXT, BadAnswer, checked_result
from domain.channels.answers import Choice
from domain.routing.model import Citation, Confirmation, Progress, ResultArtifact, RunDelta, RunResult
from ports.http import HttpAnswer, HttpFailed
from ports.resources import DownstreamFailed

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


async def gathered(deltas: AsyncIterator[RunDelta], progress: Progress | None = None) -> RunResult:
    """The whole result; of confirmations and choices the last count. Raises `DownstreamFailed` over the limits."""
    texts: list[str] = []
    artifacts: list[ResultArtifact] = []
    confirmation: Confirmation | None = None
    choices: tuple[Choice, ...] = ()
    citations: tuple[Citation, ...] = ()
    wants_person, unsearched, size = False, False, 0

    def so_far() -> str:
        return "".join(texts)

    with _usable():
        async with aclosing(cast(AsyncGenerator[RunDelta, None], deltas)) as closing:
            async for delta in closing:
                if delta.replaces:
                    texts.clear()
                texts.append(delta.text)
                artifacts.extend(delta.artifacts)
                confirmation = delta.confirmation or confirmation
                choices = delta.choices or choices
                citations = delta.citations or citations
                wants_person |= delta.wants_person
                unsearched |= delta.unsearched
                size += len(delta.text)
                if size > MAX_TEXT or delta.artifacts:
                    checked_result(RunResult(so_far(), tuple(artifacts)))
                if progress and delta.text:
                    progress(so_far)
        rest = choices, wants_person, citations, unsearched
        return checked_result(RunResult(so_far(), tuple(artifacts), confirmation, *rest))


@contextmanager
def _usable() -> Iterator[None]:
    """Makes a bad answer a failure that no other try mends."""
    try:
        yield
    except BadAnswer as error:
        raise DownstreamFailed(f"the resource's answer is unusable: {error}", retryable=False) from error
