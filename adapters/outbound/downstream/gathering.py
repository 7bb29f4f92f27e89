"""Joins the pieces of a streamed answer."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import cast

from adapters.outbound.downstream.messages import MAX_TEXT, BadAnswer, checked_result
from domain.routing.model import Confirmation, Progress, ResultArtifact, RunDelta, RunResult
from ports.downstream import DownstreamFailed


async def gathered(deltas: AsyncIterator[RunDelta], progress: Progress | None = None) -> RunResult:
    """The whole result; the last confirmation counts. Raises `DownstreamFailed` over the limits."""
    texts: list[str] = []
    artifacts: list[ResultArtifact] = []
    confirmation: Confirmation | None = None
    size = 0
    try:
        async with aclosing(cast(AsyncGenerator[RunDelta, None], deltas)) as closing:
            async for delta in closing:
                texts.append(delta.text)
                artifacts.extend(delta.artifacts)
                confirmation = delta.confirmation or confirmation
                size += len(delta.text)
                if size > MAX_TEXT or delta.artifacts:
                    checked_result(RunResult("".join(texts), tuple(artifacts)))
                if progress and delta.text:
                    progress("".join(texts))
        return RunResult("".join(texts), tuple(artifacts), confirmation)
    except BadAnswer as error:
        raise DownstreamFailed(f"the resource's answer is unusable: {error}", retryable=False) from error
