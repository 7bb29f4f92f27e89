"""What takes long to read keeps nothing else waiting."""

from __future__ import annotations

import asyncio
from pathlib import Path

from adapters.outbound.parsing.fence.service_side import ForkServer
from adapters.outbound.parsing.parser import FencedParser, ParsingOptions


async def test_a_text_is_read_while_pictures_take_all_places(nursery: ForkServer, tmp_path: Path) -> None:
    picture, text = tmp_path / "picture", tmp_path / "text"
    picture.write_bytes(b"GIF89a" + bytes(20))
    text.write_text("A short note.")
    parser = FencedParser(ParsingOptions(slots=1), nursery)
    await parser.identify(picture, "picture.gif")
    async with parser._recognising:  # as if a picture were being read
        waiting = asyncio.create_task(parser.parse(picture, "picture.gif"))
        assert (await parser.parse(text, "note.txt")).text == "A short note."
        assert not waiting.done()
        waiting.cancel()
