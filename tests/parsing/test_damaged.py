"""Files that are broken, cut off or locked: each is refused with the reason, and the next one parses."""

import contextlib
import gzip
import io
import random
import struct
import zipfile

import olefile
import pytest
import xlsxwriter
from PIL import Image

from domain.refusals import TooLarge, Unreadable, Unsupported
from tests.parsing.making import NOISE, SAMPLES, pdf, word

pytestmark = pytest.mark.anyio


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


async def test_broken_json_says_where(refusal):
    assert "line 1, column 7" in await refusal(b'{"a": }', "broken.json", Unreadable)


async def test_broken_xml_says_why(refusal):
    assert "not well-formed XML" in await refusal(b"<a><b></a>", "broken.xml", Unreadable)


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
