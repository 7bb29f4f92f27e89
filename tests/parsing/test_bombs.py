"""Files made to hurt: bombs, depths and widths; each is refused, and the next one parses."""

import io
import json
import struct
import time
import zipfile
import zlib

import pytest
from PIL import Image

from domain.refusals import TooLarge, Unreadable
from tests.parsing.making import CONTENT_TYPES, NOISE, SAMPLES, bomb, pdf, word
from tests.parsing.making_open import MIMETYPES

pytestmark = pytest.mark.anyio


def rezipped(content: bytes, member: str, data: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, data if name == member else old.read(name))
    return out.getvalue()


@pytest.mark.parametrize("declared", [None, 100], ids=["honest", "lying"])
@pytest.mark.parametrize(
    ("member", "name"),
    [
        ("word/document.xml", "bomb.docx"),
        ("ppt/presentation.xml", "bomb.pptx"),
        ("xl/workbook.xml", "bomb.xlsx"),
        ("content.xml", "bomb.odt"),
        ("content.xml", "bomb.ods"),
        ("content.xml", "bomb.odp"),
        ("chapter.xhtml", "bomb.epub"),
    ],
)
async def test_zip_bombs(refusal, tmp_path, member, name, declared):
    path = tmp_path / name
    bomb(path, member, b" " * 1_000_000, 1_000, declared=declared, mimetype=MIMETYPES.get(path.suffix))
    assert path.stat().st_size < 2_000_000

    started = time.process_time()
    assert "inflate" in await refusal(path, name, TooLarge)
    assert time.process_time() - started < 5


async def test_a_workbook_of_sixty_million_cells(refusal, tmp_path):
    row = b"<row>" + b"<c><v>1</v></c>" * 1_000 + b"</row>"
    path = tmp_path / "cells.xlsx"
    bomb(path, "xl/worksheets/sheet1.xml", row, 60_000)

    assert "inflate" in await refusal(path, "cells.xlsx", TooLarge)


async def test_an_archive_of_too_many_parts(refusal, limited):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("[Content_Types].xml", CONTENT_TYPES)
        for number in range(60):
            archive.writestr(f"word/{number}.xml", b"")

    assert "60" not in await refusal(out.getvalue(), "parts.docx", TooLarge, using=limited(members=50))


async def test_a_picture_of_too_many_pixels(refusal):
    out = io.BytesIO()
    Image.new("1", (8_000, 8_000)).save(out, "PNG")
    assert len(out.getvalue()) < 20_000

    assert "8000 x 8000 pixels" in await refusal(out.getvalue(), "huge.png", TooLarge)


async def test_a_picture_that_claims_to_be_enormous(refusal):
    body = struct.pack(">IIBBBBB", 2**31 - 1, 2**31 - 1, 8, 2, 0, 0, 0)
    chunk = struct.pack(">I", len(body)) + b"IHDR" + body + struct.pack(">I", zlib.crc32(b"IHDR" + body))

    await refusal(b"\x89PNG\r\n\x1a\n" + chunk + NOISE[:50], "enormous.png", (TooLarge, Unreadable))


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"[" * 100_000 + b"]" * 100_000, "deep.json"),
        (b"[" * 500 + b"1" + b"]" * 500, "deep.json"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "deep.json"),
        (b"<a>" * 100_000 + b"x" + b"</a>" * 100_000, "deep.xml"),
        (b"<a>" * 240 + b"x<b/>" + b"</a>" * 240, "deep.xml"),
        (b"<div>" * 50_000 + b"x" + b"</div>" * 50_000, "deep.html"),
        (b"> " * 5_000 + b"words", "deep.md"),
    ],
    ids=["arrays", "some arrays", "objects", "elements", "some elements", "divs", "quotes"],
)
async def test_deep_nesting(refusal, content, name):
    await refusal(content, name, Unreadable)


LAUGHS = (
    b'<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "haha">'
    + b"".join(
        b'<!ENTITY %c "%s">' % (letter, b"&%c;" % (letter - 1) * 50) for letter in range(ord("b"), ord("k"))
    )
    + b"]>"
)


async def test_billion_laughs(refusal):
    assert "well-formed" in await refusal(LAUGHS + b"<l>&j;</l>", "laughs.xml", Unreadable)


async def test_billion_laughs_in_a_docx(refusal):
    with zipfile.ZipFile(io.BytesIO(word("LAUGH"))) as archive:
        inner = archive.read("word/document.xml").partition(b"?>")[2].replace(b"LAUGH", b"&j;")

    await refusal(rezipped(word("LAUGH"), "word/document.xml", LAUGHS + inner), "laughs.docx", Unreadable)


@pytest.mark.parametrize("address", ["", "http://127.0.0.1:9/secret"], ids=["file", "http"])
async def test_external_entities_are_not_fetched(parse, tmp_path, address):
    secret = "what stands in another file"
    other = tmp_path / "other"
    other.write_text(secret)
    source = (
        f'<?xml version="1.0"?><!DOCTYPE r [<!ENTITY x SYSTEM "{address or other.as_uri()}">]>'
        "<r><a>before</a><b>&x;</b></r>"
    )

    try:
        text = (await parse(source.encode(), "outside.xml")).text
    except Unreadable as refused:
        text = refused.message

    assert secret not in text


async def test_a_long_number_in_json_is_kept_as_it_is(parse):
    digits = "9" * 6_000  # int() refuses more than 4300 digits

    assert (
        await parse(json.dumps({"n": 1}).replace("1", digits).encode(), "long.json")
    ).text == f"n: {digits}"


@pytest.mark.parametrize(
    ("limits", "content", "name", "said"),
    [
        ({"pages": 3}, pdf([["words on a page"]] * 4), "pages.pdf", "4 pages, 3 are allowed"),
        ({"rows": 10}, b"a,b\n" * 11, "rows.csv", "more than 10 rows"),
        ({"text_chars": 1_000}, b"word " * 250, "long.txt", "more than 1,000 characters"),
        ({"blocks": 20}, b"word\n\n" * 30, "many.txt", "more than 20 paragraphs"),
        ({"audio_seconds": 2}, (SAMPLES / "speech.ogg").read_bytes(), "long.ogg", "minutes"),
        ({"pixels": 100}, b"", "dots.png", "11 x 10 pixels"),
    ],
)
async def test_limits_name_the_file_and_the_limit(refusal, limited, limits, content, name, said):
    if not content:
        out = io.BytesIO()
        Image.new("RGB", (11, 10)).save(out, "PNG")
        content = out.getvalue()

    assert said in await refusal(content, name, TooLarge, using=limited(**limits))
