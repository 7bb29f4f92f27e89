"""Files that are empty, or not what their name says."""

import gzip
import io
import zipfile

import pytest

from domain.knowledge.documents import Format
from domain.refusals import Unreadable, Unsupported
from tests.parsing.making import NOISE, pdf, word

pytestmark = pytest.mark.anyio

BINARY_EXTENSIONS = (
    "pdf docx doc pptx ppt xlsx xls jpeg jpg png gif webp bmp mp3 wav ogg rtf odt ods odp epub msg tiff".split()  # noqa: SIM905 - reads better
)


TEXT_EXTENSIONS = ("txt", "md", "csv", "json", "xml", "html", "eml")


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
        (gzip.compress(b"words", mtime=0), "words.gz", "gzip"),
        (b"\x00\x00\x00\x18ftypmp42" + bytes(50), "clip.mp3", "MP4"),
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
