"""Files that are broken, locked, disguised or made to hurt: each is refused by name, and the next one parses."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import random
import struct
import time
import zipfile
import zlib

import docx
import olefile
import pytest
import xlsxwriter
from PIL import Image

from domain.knowledge.documents import Format
from domain.refusals import TooLarge, Unreadable, Unsupported
from tests.parsing.making import CONTENT_TYPES, SAMPLES, bomb, pdf

pytestmark = pytest.mark.anyio

NOISE = random.Random(7).randbytes(4096)
BINARY_EXTENSIONS = (
    "pdf docx doc pptx ppt xlsx xls jpeg jpg png gif webp bmp mp3 wav ogg".split()  # noqa: SIM905 - reads better
)
TEXT_EXTENSIONS = ("txt", "md", "csv", "json", "xml", "html")


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


def word(*paragraphs: str) -> bytes:
    written, out = docx.Document(), io.BytesIO()
    for paragraph in paragraphs:
        written.add_paragraph(paragraph)
    written.save(out)
    return out.getvalue()


def rezipped(content: bytes, member: str, data: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, data if name == member else old.read(name))
    return out.getvalue()


@pytest.mark.parametrize("extension", [*BINARY_EXTENSIONS, *TEXT_EXTENSIONS])
async def test_an_empty_file(parse, extension):
    with pytest.raises(Unreadable, match=rf"empty\.{extension} is empty"):
        await parse(b"", f"empty.{extension}")


@pytest.mark.parametrize("extension", TEXT_EXTENSIONS)
async def test_blank_text(parse, extension):
    with pytest.raises(Unreadable, match=rf"blank\.{extension} cannot be read"):
        await parse(b" \n\t\n ", f"blank.{extension}")


@pytest.mark.parametrize("extension", BINARY_EXTENSIONS)
async def test_text_under_a_binary_extension(parse, extension):
    with pytest.raises(Unreadable, match=rf"disguised\.{extension} .* it holds plain text"):
        await parse(b"Just some words.\n", f"disguised.{extension}")


@pytest.mark.parametrize("extension", [*BINARY_EXTENSIONS, *TEXT_EXTENSIONS])
async def test_noise_under_any_extension(parse, extension):
    with pytest.raises(Unreadable, match=rf"noise\.{extension}"):
        await parse(NOISE, f"noise.{extension}")


@pytest.mark.parametrize(
    ("content", "name", "what"),
    [
        (NOISE, "noise.bin", "none of them"),
        (b"Just some words.\n", "words.xyz", ".xyz"),
        (b"MZ\x90\x00\x03" + bytes(100), "setup.exe", "Windows program"),
        (gzip.compress(b"words"), "words.gz", "gzip"),
        (b"{\\rtf1 Words}", "words.doc", "RTF"),
        (b"\x00\x00\x00\x18ftypmp42" + bytes(50), "clip.mp3", "MP4"),
        (b"II*\x00" + bytes(50), "scan.png", "TIFF"),
    ],
)
async def test_formats_that_are_not_supported(parse, content, name, what):
    with pytest.raises(Unsupported, match=name) as caught:
        await parse(content, name)
    assert what in caught.value.message


async def test_a_plain_archive_is_not_supported(parse):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("readme.txt", "words")

    with pytest.raises(Unsupported, match="one by one"):
        await parse(out.getvalue(), "files.zip")
    with pytest.raises(Unreadable, match=r"files\.docx .* without the parts of a DOCX"):
        await parse(out.getvalue(), "files.docx")


@pytest.mark.parametrize("name", ["report.txt", "report.docx", "report", "report.xyz"])
async def test_a_supported_binary_under_another_name_is_parsed_as_what_it_is(parse, name):
    document = await parse(pdf([["A page with some words on it."]]), name)

    assert (document.format, document.text) == (Format.PDF, "A page with some words on it.")


async def test_a_docx_under_a_text_name(parse):
    assert (await parse(word("Some words."), "words.txt")).format is Format.DOCX


async def test_text_that_speaks_of_pdf_is_text(parse):
    assert (await parse(b"A file that begins with %PDF-1.4 is a PDF.", "about.txt")).format is Format.TXT


@pytest.mark.parametrize(
    "content",
    [
        pdf([["words"]])[:80],
        b"%PDF-1.7\n" + NOISE,
        b"%PDF-1.4\n%%EOF",
    ],
    ids=["cut", "noise", "hollow"],
)
async def test_broken_pdf(refusal, content):
    assert "cannot be read as PDF" in await refusal(content, "broken.pdf", Unreadable)


async def test_a_pdf_without_any_text(refusal):
    assert "it holds no text" in await refusal(pdf([[], []]), "blank.pdf", Unreadable)


@pytest.mark.parametrize("share", [0.3, 0.9])
@pytest.mark.parametrize("extension", ["docx", "xlsx"])
async def test_cut_office_files(refusal, share, extension):
    content = word("Some words.") if extension == "docx" else _sheet()

    assert "cut off" in await refusal(content[: int(len(content) * share)], f"cut.{extension}", Unreadable)


@pytest.mark.parametrize("name", ["harbour.doc", "cargo.xls", "lighthouse.ppt.gz"])
@pytest.mark.parametrize("share", [0.1, 0.5])
async def test_cut_compound_files(refusal, name, share):
    content = (SAMPLES / name).read_bytes()
    content = gzip.decompress(content) if name.endswith(".gz") else content

    await refusal(content[: int(len(content) * share)], name.removesuffix(".gz"), Unreadable)


@pytest.mark.parametrize("name", ["harbour.doc", "cargo.xls", "lighthouse.ppt.gz"])
async def test_scrambled_compound_files_never_break_the_service(parse, name):
    content = (SAMPLES / name).read_bytes()
    content = bytearray(gzip.decompress(content) if name.endswith(".gz") else content)
    chance = random.Random(3)
    for _ in range(12):
        scrambled = bytearray(content)
        for _ in range(200):
            scrambled[chance.randrange(512, len(scrambled))] = chance.randrange(256)
        with contextlib.suppress(Unreadable, TooLarge, Unsupported):
            assert (await parse(bytes(scrambled), name.removesuffix(".gz"))).text


@pytest.mark.parametrize("extension", ["png", "jpg", "gif", "webp", "bmp"])
async def test_cut_pictures(refusal, extension):
    out = io.BytesIO()
    Image.effect_noise((400, 400), 90).convert("RGB").save(
        out, {"jpg": "JPEG"}.get(extension, extension.upper())
    )

    await refusal(out.getvalue()[: len(out.getvalue()) // 3], f"cut.{extension}", Unreadable)


@pytest.mark.parametrize("extension", ["wav", "ogg", "mp3"])
async def test_broken_sound(refusal, extension):
    head = {
        "wav": b"RIFF\x24\x00\x00\x00WAVE",
        "ogg": b"OggS\x00\x02",
        "mp3": b"ID3\x04\x00\x00\x00\x00\x00\x00",
    }

    await refusal(head[extension] + NOISE, f"broken.{extension}", Unreadable)


@pytest.mark.parametrize("name", ["locked.pdf", "locked.xlsx"])
async def test_locked_files(refusal, name):
    assert "encrypted" in await refusal((SAMPLES / name).read_bytes(), name, Unreadable)


async def test_a_locked_word_97_document(refusal, tmp_path):
    path = tmp_path / "harbour.doc"
    path.write_bytes((SAMPLES / "harbour.doc").read_bytes())
    _patch(path, "WordDocument", 11, 0x01)  # fEncrypted, bit 0x0100 of the FIB's flags

    assert "encrypted" in await refusal(path, "harbour.doc", Unreadable)


async def test_a_locked_powerpoint_97_presentation(refusal, tmp_path):
    path = tmp_path / "lighthouse.ppt"
    path.write_bytes(gzip.decompress((SAMPLES / "lighthouse.ppt.gz").read_bytes()))
    with olefile.OleFileIO(str(path), write_mode=True) as ole:
        data = bytearray(ole.openstream("Current User").read())
        struct.pack_into("<I", data, 12, 0xF3D1C4DF)  # headerToken of an encrypted file, [MS-PPT] 2.3.2
        place = (path.read_bytes()).find(ole.openstream("Current User").read())
    whole = bytearray(path.read_bytes())
    whole[place : place + len(data)] = data
    path.write_bytes(bytes(whole))

    assert "encrypted" in await refusal(path, "lighthouse.ppt", Unreadable)


async def test_a_word_6_document_says_what_to_do(refusal, tmp_path):
    path = tmp_path / "old.doc"
    path.write_bytes((SAMPLES / "harbour.doc").read_bytes())
    _patch(path, "WordDocument", 3, 0)  # the high byte of nFib

    assert "save it as DOCX" in await refusal(path, "old.doc", Unreadable)


@pytest.mark.parametrize("declared", [None, 100], ids=["honest", "lying"])
@pytest.mark.parametrize(
    ("member", "name"),
    [
        ("word/document.xml", "bomb.docx"),
        ("ppt/presentation.xml", "bomb.pptx"),
        ("xl/workbook.xml", "bomb.xlsx"),
    ],
)
async def test_zip_bombs(refusal, tmp_path, member, name, declared):
    path = tmp_path / name
    bomb(path, member, b" " * 1_000_000, 1_000, declared=declared)
    assert path.stat().st_size < 2_000_000

    started = time.process_time()
    assert "inflate" in await refusal(path, name, TooLarge)
    assert time.process_time() - started < 5


async def test_a_workbook_of_sixty_million_cells(refusal, tmp_path):
    row = b"<row>" + b"<c><v>1</v></c>" * 1_000 + b"</row>"
    path = tmp_path / "cells.xlsx"
    bomb(path, "xl/worksheets/sheet1.xml", row, 60_000)

    assert "inflate" in await refusal(path, "cells.xlsx", TooLarge)


async def test_a_workbook_with_two_cells_at_the_far_corners(refusal):
    out = io.BytesIO()
    book = xlsxwriter.Workbook(out)
    sheet = book.add_worksheet()
    sheet.write(0, 0, "first")
    sheet.write(1_048_575, 16_383, "last")
    book.close()

    assert "memory" in await refusal(
        out.getvalue(), "corners.xlsx", TooLarge
    )  # the reader aborts its process


async def test_an_archive_of_too_many_parts(refusal, limited):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("[Content_Types].xml", CONTENT_TYPES)
        for number in range(60):
            archive.writestr(f"word/{number}.xml", b"")

    assert "60" not in await refusal(out.getvalue(), "parts.docx", TooLarge, using=limited(members=50))


async def test_an_encrypted_part(refusal):
    content = bytearray(word("Some words."))
    directory = content.find(b"PK\x01\x02")
    content[directory + 8] |= 1

    assert "encrypted" in await refusal(bytes(content), "part.docx", Unreadable)


async def test_a_part_with_a_broken_stream(refusal):
    content = bytearray(word("Some words. " * 500))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        place = archive.getinfo("word/document.xml").header_offset
    content[place + 60 : place + 90] = NOISE[:30]

    assert "cannot be read as DOCX" in await refusal(bytes(content), "part.docx", Unreadable)


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


@pytest.mark.parametrize("address", ["file:///etc/hostname", "http://127.0.0.1:9/secret"])
async def test_external_entities_are_not_fetched(parse, tmp_path, address):
    source = (
        f'<?xml version="1.0"?><!DOCTYPE r [<!ENTITY x SYSTEM "{address}">]><r><a>before</a><b>&x;</b></r>'
    )
    with open("/etc/hostname", encoding="utf-8") as file:  # noqa: PTH123, ASYNC230
        secret = file.read().strip()

    try:
        text = (await parse(source.encode(), "outside.xml")).text
    except Unreadable as refused:
        text = refused.message

    assert secret not in text


async def test_broken_json_says_where(refusal):
    assert "line 1 column 7" in await refusal(b'{"a": }', "broken.json", Unreadable)


async def test_broken_xml_says_why(refusal):
    assert "not well-formed XML" in await refusal(b"<a><b></a>", "broken.xml", Unreadable)


async def test_a_long_number_in_json_is_kept_as_it_is(parse):
    digits = "9" * 6_000  # int() refuses more than 4300 digits

    assert (
        await parse(json.dumps({"n": 1}).replace("1", digits).encode(), "long.json")
    ).text == f"n: {digits}"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("../../etc/passwd.pdf", "passwd.pdf"),
        ("C:\\Users\\eve\\secret.pdf", "secret.pdf"),
        ("line\nbreak\x00.pdf", "line\N{REPLACEMENT CHARACTER}break"),
        ("\u202egnp.pdf", "\N{REPLACEMENT CHARACTER}gnp.pdf"),
        ("x" * 5_000 + ".pdf", "x" * 50 + ".pdf"),
        ("", "unnamed file"),
        ("/", "unnamed file"),
    ],
)
async def test_names_are_only_shown(parse, tmp_path, name, shown):
    before = set(tmp_path.iterdir())

    with pytest.raises((Unreadable, Unsupported)) as caught:
        await parse(NOISE, name)

    assert shown in caught.value.message
    assert len(caught.value.message) < 600
    assert "Users" not in caught.value.message
    assert {path.name for path in set(tmp_path.iterdir()) - before} == {"upload"}


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


def _sheet() -> bytes:
    out = io.BytesIO()
    book = xlsxwriter.Workbook(out)
    book.add_worksheet().write(0, 0, "words")
    book.close()
    return out.getvalue()


def _patch(path, stream: str, at: int, value: int) -> None:
    with olefile.OleFileIO(str(path), write_mode=True) as ole:
        data = bytearray(ole.openstream(stream).read())
        data[at] = data[at] | value if at == 11 else value
        ole.write_stream(stream, bytes(data))
