"""Preparing and loading the embedding model ahead."""

import asyncio
from typing import Any

import pytest

from apps.processes.knowledge import ModelComponent
from domain.refusals import Unavailable


class Installation:
    """As much of the container as the part asks for."""

    def __init__(
        self, *, preload: bool = False, at_start: bool = True, refusal: Unavailable | None = None
    ) -> None:
        self.embedding_preload = preload
        self.embedding_prepare_at_start = at_start
        self.refusal = refusal
        self.asked: list[str] = []

    def settings(self) -> Any:
        return self

    def embedder(self) -> Any:
        return self

    async def prepare(self) -> None:
        self._ask("load")

    async def ensure_prepared(self) -> bool:
        self._ask("prepare")
        return False

    def _ask(self, what: str) -> None:
        self.asked.append(what)
        if self.refusal:
            raise self.refusal


async def runs(installation: Installation) -> bool:
    """Whether the part goes on beside the rest of the process."""
    part = ModelComponent(installation)  # type: ignore[arg-type]
    await part.start()
    assert not installation.asked, "the model does not hold up the start"
    running = asyncio.create_task(part.run())
    for _ in range(5):  # turns of the event loop: all that it does without waiting
        await asyncio.wait({running}, timeout=0)
    goes_on = not running.done()
    running.cancel()
    return goes_on


@pytest.mark.parametrize(
    ("preload", "at_start", "asked"),
    [(False, True, ["prepare"]), (True, True, ["load"]), (True, False, ["load"]), (False, False, [])],
)
async def test_the_model_is_prepared_or_loaded_at_the_start_as_the_settings_say(
    preload: bool, at_start: bool, asked: list[str]
) -> None:
    installation = Installation(preload=preload, at_start=at_start)
    assert await runs(installation)
    assert installation.asked == asked


@pytest.mark.parametrize("preload", [True, False])
async def test_the_process_goes_on_without_a_model_and_the_log_says_why(
    preload: bool, caplog: pytest.LogCaptureFixture
) -> None:
    assert await runs(Installation(preload=preload, refusal=Unavailable("it is not installed; install it")))
    assert "the embedding model cannot be used: it is not installed; install it" in caplog.text
