"""What takes long to read keeps nothing else waiting."""

import asyncio
from pathlib import Path

from adapters.outbound.knowledge.parsing.parser import SHORT_BYTES, ParsingOptions, SandboxedParser
from adapters.outbound.knowledge.parsing.sandbox.fork_server import ForkServer
from tests.parsing.making import pdf


async def test_a_text_is_read_while_pictures_take_all_places(fork_server: ForkServer, tmp_path: Path) -> None:
    picture, text = tmp_path / "picture", tmp_path / "text"
    picture.write_bytes(b"GIF89a" + bytes(SHORT_BYTES))
    text.write_text("A short note.")
    parser = SandboxedParser(ParsingOptions(slots=1), fork_server)
    await parser.identify(picture, "picture.gif")
    async with parser.recognising:  # as if a picture were being read
        waiting = asyncio.create_task(parser.parse(picture, "picture.gif"))
        assert (await parser.parse(text, "note.txt")).text == "A short note."
        assert not waiting.done()
        waiting.cancel()


async def test_a_short_file_is_read_while_long_ones_take_all_places(
    fork_server: ForkServer, tmp_path: Path
) -> None:
    long, short = tmp_path / "long", tmp_path / "short"
    long.write_bytes(b"%PDF-1.4" + bytes(SHORT_BYTES))
    short.write_bytes(pdf([["A short page of words."]]))
    parser = SandboxedParser(ParsingOptions(slots=1), fork_server)
    await parser.identify(long, "long.pdf")
    async with parser.recognising:  # as if a book were being read
        waiting = asyncio.create_task(parser.parse(long, "long.pdf"))
        assert (await parser.parse(short, "short.pdf")).text == "A short page of words."
        assert not waiting.done()
        waiting.cancel()
