"""Which formats there are, and what is missing for them."""

from pathlib import Path

import pytest

from domain.knowledge.documents import Format
from tests.parsing.making import pdf

pytestmark = pytest.mark.anyio


async def test_every_format_is_available(parser):
    support = parser.available()

    assert [entry.format for entry in support] == list(Format)
    assert len(support) == 29
    assert all(entry.available for entry in support)


async def test_a_missing_package_is_named(parser, monkeypatch):
    import importlib.util

    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "pocketsphinx" else found(name)
    )

    missing = {entry.format: entry.how for entry in parser.available() if not entry.available}

    assert set(missing) == {Format.MP3, Format.WAV, Format.OGG}
    assert "pip install pocketsphinx" in missing[Format.WAV]


async def test_the_type_is_known_before_the_file_is_parsed(parser, tmp_path: Path):
    path = tmp_path / "x"
    path.write_bytes(pdf([["A page with words on it."]]))

    found = await parser.identify(path, "renamed.txt")

    assert (found.format, found.mime_type) == (Format.PDF, "application/pdf")
