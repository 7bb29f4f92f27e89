"""One fork server for all tests of the parser: each file gets a child of its own anyway."""

import re
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.outbound.knowledge.parsing.parser import ParsingOptions, SandboxedParser
from adapters.outbound.knowledge.parsing.reading import Limits
from adapters.outbound.knowledge.parsing.sandbox.fork_server import ForkServer
from domain.knowledge.documents import Document

Parse = Callable[..., "object"]

PYTHON = re.compile(
    r"[a-z]Error\b|[a-z]Exception\b|Traceback|object at 0x|NoneType|Errno|\(char \d|index out of range|b'|/tmp/"
)
"""What no message for people holds."""
NEVER = 3600.0
"""Seconds without work after which a fork server ends that a test looks into."""


@pytest.fixture(scope="package")
async def fork_server() -> AsyncIterator[ForkServer]:
    fork_server = ForkServer()
    yield fork_server
    fork_server.stop()


@pytest.fixture(scope="package")
async def parser(fork_server: ForkServer) -> AsyncIterator[SandboxedParser]:
    parser = SandboxedParser(ParsingOptions(idle_seconds=NEVER), fork_server)
    yield parser
    await parser.close()


@pytest.fixture
def limited(fork_server: ForkServer) -> Callable[..., SandboxedParser]:
    """A parser with some limits of its own."""

    def make(**limits: int) -> SandboxedParser:
        return SandboxedParser(
            ParsingOptions(limits=replace(Limits(), **limits), idle_seconds=NEVER), fork_server
        )

    return make


@pytest.fixture
def parse(parser: SandboxedParser, tmp_path: Path) -> Callable[..., object]:
    """Parses bytes, or a file that is there, under a name."""

    async def run(content: bytes | Path, name: str, using: SandboxedParser = parser) -> Document:
        if isinstance(content, Path):
            return await using.parse(content, name)
        path = tmp_path / "upload"
        path.write_bytes(content)
        return await using.parse(path, name)

    return run


@pytest.fixture
async def refusal(parse, fork_server, tmp_path):
    """Parses what must be refused: gives the refusal, after checking that nothing stays and the next file parses."""

    async def run(content, name, kind, **keywords):
        with pytest.raises(kind) as caught:
            await parse(content, name, **keywords)
        assert name.replace("\\", "/").rpartition("/")[2][:50] in caught.value.message
        assert not PYTHON.search(caught.value.message)
        assert list(fork_server.scratch.iterdir()) == []
        (tmp_path / "next").write_bytes(b"The next file.")
        assert (await parse(tmp_path / "next", "next.txt")).text == "The next file."
        return caught.value.message

    return run


@pytest.fixture
def own_server() -> ForkServer:
    return ForkServer()


@pytest.fixture
async def own(own_server):
    """A parser with a fork server of its own."""
    parser = SandboxedParser(ParsingOptions(idle_seconds=NEVER), own_server)
    yield parser
    await parser.close()


@pytest.fixture
def note(tmp_path) -> Path:
    path = tmp_path / "note"
    path.write_bytes(b"A short note.")
    return path
