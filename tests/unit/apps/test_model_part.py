"""Loading the embedding model ahead."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from apps.knowledge import ModelComponent
from domain.refusals import Unavailable


class ChannelDependencies:
    """As much of the container as the part asks for."""

    embedding_preload = True

    def __init__(self, refusal: Unavailable | None = None) -> None:
        self.refusal = refusal
        self.asked = asyncio.Event()

    def settings(self) -> Any:
        return self

    def embedder(self) -> Any:
        return self

    async def prepare(self) -> None:
        self.asked.set()
        if self.refusal:
            raise self.refusal


async def started(dependencies: ChannelDependencies) -> asyncio.Task[None]:
    part: Any = ModelComponent(dependencies)  # type: ignore[arg-type]
    await part.start()
    running = asyncio.create_task(part.run())
    for _ in range(5):  # turns of the event loop: all that it does without waiting
        await asyncio.wait({running}, timeout=0)
    return running


@pytest.mark.parametrize("refusal", [None, Unavailable("not installed")], ids=["loaded", "missing"])
async def test_the_process_goes_on_whether_the_model_is_there_or_not(refusal: Unavailable | None) -> None:
    dependencies = ChannelDependencies(refusal)
    running = await started(dependencies)
    assert dependencies.asked.is_set()
    assert not running.done()
    running.cancel()


async def test_unasked_nothing_is_loaded() -> None:
    dependencies = ChannelDependencies()
    dependencies.embedding_preload = False
    running = await started(dependencies)
    assert not dependencies.asked.is_set()
    assert not running.done()
    running.cancel()
