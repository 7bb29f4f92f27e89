"""What every parser keeps: the real one in its sandbox, and the plain one that other tests use."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from adapters.outbound.knowledge.parsing.parser import SandboxedParser
from adapters.outbound.knowledge.parsing.sandbox.fork_server import ForkServer
from domain.knowledge.documents import Format
from domain.refusals import Unreadable, Unsupported
from ports.indexing import Parser
from tests.support.knowledge import PlainParser

TEXT = "The cooling pump is serviced in March.\n\nSpare seals lie in rack twelve: Žluťoučký kůň, 東京, 🚀.\n"


@pytest.fixture(scope="module", params=["sandboxed", "plain"])
async def parser(request: pytest.FixtureRequest) -> AsyncIterator[Parser]:
    if request.param == "plain":
        yield PlainParser()
        return
    fork_server = ForkServer()
    sandboxed = SandboxedParser(fork_server=fork_server)
    yield sandboxed
    await sandboxed.close()
    fork_server.stop()


@pytest.fixture
def note(tmp_path: Path) -> Path:
    path = tmp_path / "0123abcd"
    path.write_text(TEXT, encoding="utf-8")
    return path


async def test_a_file_is_identified_as_what_it_is_parsed_as(parser: Parser, note: Path) -> None:
    kind = await parser.identify(note, "pumps.txt")
    document = await parser.parse(note, "pumps.txt")
    assert (kind.format, kind.mime_type) == (Format.TXT, "text/plain")
    assert (document.format, document.mime_type) == (kind.format, kind.mime_type)


async def test_no_word_is_lost_and_every_block_stands_where_it_says(parser: Parser, note: Path) -> None:
    document = await parser.parse(note, "pumps.txt")
    assert document.text.split() == TEXT.split()
    for block in document.blocks:
        assert document.text[block.start : block.end] == block.text
    starts = [block.start for block in document.blocks]
    assert starts == sorted(set(starts))


async def test_the_same_file_gives_the_same_document(parser: Parser, note: Path) -> None:
    assert await parser.parse(note, "pumps.txt") == await parser.parse(note, "pumps.txt")


async def test_the_file_stays_as_it_is(parser: Parser, note: Path) -> None:
    await parser.parse(note, "pumps.txt")
    assert note.read_text(encoding="utf-8") == TEXT
    assert list(note.parent.iterdir()) == [note]


async def test_an_empty_file_is_refused_by_name(parser: Parser, tmp_path: Path) -> None:
    path = tmp_path / "empty"
    path.touch()
    with pytest.raises(Unreadable, match=r"nothing\.txt"):
        await parser.identify(path, "nothing.txt")


async def test_what_is_no_format_of_ours_is_refused_by_name(parser: Parser, tmp_path: Path) -> None:
    path = tmp_path / "program"
    path.write_bytes(b"MZ\x90\x00\x03" + bytes(100))
    with pytest.raises(Unsupported, match=r"setup\.exe"):
        await parser.identify(path, "setup.exe")


def test_every_format_of_the_contract_is_listed_once_in_its_order(parser: Parser) -> None:
    listed = parser.available()
    assert [each.format for each in listed] == list(Format)
    assert all(each.how for each in listed)
    assert next(each.available for each in listed if each.format is Format.TXT)


async def test_closing_twice_does_no_harm(parser: Parser) -> None:
    other = type(parser)()
    await other.close()
    await other.close()
