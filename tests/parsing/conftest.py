"""One nursery for all tests of the parser: each file gets a child of its own anyway."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.outbound.parsing.fence.service_side import ForkServer
from adapters.outbound.parsing.limits import Limits
from adapters.outbound.parsing.parser import FencedParser, ParsingOptions
from domain.knowledge.documents import Document

Parse = Callable[..., "object"]

NEVER = 3600.0
"""Seconds without work after which a nursery ends that a test looks into."""


@pytest.fixture(scope="package")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="package")
async def nursery() -> AsyncIterator[ForkServer]:
    nursery = ForkServer()
    yield nursery
    nursery.stop()


@pytest.fixture(scope="package")
async def parser(nursery: ForkServer) -> AsyncIterator[FencedParser]:
    parser = FencedParser(ParsingOptions(idle_seconds=NEVER), nursery)
    yield parser
    await parser.close()


@pytest.fixture
def limited(nursery: ForkServer) -> Callable[..., FencedParser]:
    """A parser with some limits of its own."""

    def make(**limits: int) -> FencedParser:
        return FencedParser(ParsingOptions(limits=replace(Limits(), **limits), idle_seconds=NEVER), nursery)

    return make


@pytest.fixture
def parse(parser: FencedParser, tmp_path: Path) -> Callable[..., object]:
    """Parses bytes, or a file that is there, under a name."""

    async def run(content: bytes | Path, name: str, using: FencedParser = parser) -> Document:
        if isinstance(content, Path):
            return await using.parse(content, name)
        path = tmp_path / "upload"
        path.write_bytes(content)
        return await using.parse(path, name)

    return run


@pytest.fixture
async def refusal(parse, nursery, tmp_path):
    """Parses what must be refused: gives the refusal, after checking that nothing stays and the next file parses."""

    async def run(content, name, kind, **keywords):
        with pytest.raises(kind) as caught:
            await parse(content, name, **keywords)
        assert name.replace("\\", "/").rpartition("/")[2][:50] in caught.value.message
        assert list(nursery.scratch.iterdir()) == []
        (tmp_path / "next").write_bytes(b"The next file.")
        assert (await parse(tmp_path / "next", "next.txt")).text == "The next file."
        return caught.value.message

    return run


@pytest.fixture
async def own(tmp_path):
    """A parser with a nursery of its own."""
    parser = FencedParser(ParsingOptions(idle_seconds=NEVER))
    yield parser
    await parser.close()


@pytest.fixture
def note(tmp_path) -> Path:
    path = tmp_path / "note"
    path.write_bytes(b"A short note.")
    return path
