"""A part that is broken, missing or spelled in another way costs that part at most."""

import io
import re
import zipfile
import zlib
from collections.abc import Callable

import docx
import pptx
import pytest
import xlsxwriter
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from PIL import Image
from pptx.enum.shapes import PP_PLACEHOLDER
from pypdf import PdfWriter

from domain.refusals import Unreadable
from tests.parsing.making import assembled, pdf, saved
from tests.parsing.making_open import book, open_document

pytestmark = pytest.mark.anyio

Change = Callable[[str, bytes], tuple[str, bytes] | None]


def changed(content: bytes, change: Change) -> bytes:
    """A package with each of its parts, by name and content, changed or left out."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            if part := change(name, old.read(name)):
                new.writestr(*part)
    return out.getvalue()


def strict(name: str, data: bytes) -> tuple[str, bytes]:
    usual = rb"http://schemas.openxmlformats.org/(\w+ml|officeDocument)/2006/"
    return name, re.sub(usual, rb"http://purl.oclc.org/ooxml/\1/", data)


def backslashes(name: str, data: bytes) -> tuple[str, bytes]:
    return name.replace("/", "\\"), data


def capitals(name: str, data: bytes) -> tuple[str, bytes]:
    return (name if name.startswith("[") else name.upper()), data


def cut(part: str, share: float = 0.5) -> Change:
    return lambda name, data: (name, data[: int(len(data) * share)] if name.endswith(part) else data)


def without(part: str) -> Change:
    return lambda name, data: None if part in name else (name, data)


def garbage(part: str) -> Change:
    return lambda name, data: (name, b"\0none" if name.endswith(part) else data)


def written() -> bytes:
    document = docx.Document()
    document.add_heading("Boats", 1)
    document.add_paragraph("Boats moor at dusk.")
    document.add_picture(picture())
    document.sections[0].header.paragraphs[0].text = "Port authority"
    return saved(document)


def picture() -> io.BytesIO:
    out = io.BytesIO()
    Image.new("RGB", (20, 20), "red").save(out, "PNG")
    out.seek(0)
    return out


def deck() -> bytes:
    slides = pptx.Presentation()
    for number, word in enumerate(("First", "Second", "Third"), start=1):
        slide = slides.slides.add_slide(slides.slide_layouts[1])
        slide.shapes.title.text, slide.placeholders[1].text = word, f"words {number}"
    return saved(slides)


def sheets() -> bytes:
    out = io.BytesIO()
    workbook = xlsxwriter.Workbook(out)
    for name in ("Cargo", "Fees"):
        sheet = workbook.add_worksheet(name)
        for row in range(60):
            sheet.write_row(row, 0, ["Item", "Price"] if not row else [f"{name} {row}", row])
    sheet.write_comment("A1", "a remark")
    workbook.close()
    return out.getvalue()


@pytest.mark.parametrize("change", [strict, backslashes, capitals])
@pytest.mark.parametrize("make", [written, deck, sheets])
async def test_other_spellings_are_read_like_the_usual_one(parse, make, change):
    name = {written: "a.docx", deck: "a.pptx", sheets: "a.xlsx"}[make]
    usual = await parse(make(), name)

    other = await parse(changed(make(), change), name)

    assert (other.title, other.text, other.warnings) == (usual.title, usual.text, ())


@pytest.mark.parametrize(
    ("make", "change", "read", "warning"),
    [
        (written, without("media/"), "Boats moor at dusk.\n\n", None),
        (written, cut("header1.xml", 0.3), "Boats moor at dusk.", "header1.xml is damaged"),
        (written, cut("styles.xml"), "Boats moor at dusk.", "styles.xml is damaged"),
        (written, cut("document.xml", 0.6), "Boats\n\nBoats moor", "document.xml is damaged"),
        (written, garbage("core.xml"), "Boats moor at dusk.", "core.xml is damaged"),
        (written, without("numbering"), "Boats moor at dusk.", None),
        (deck, garbage("slide2.xml"), "First\n\nwords 1\n\nThird", "slide 2 is missing or damaged"),
        (deck, without("slide2.xml"), "First\n\nwords 1\n\nThird", "slide 2 is missing"),
        (deck, without("slideLayout2"), "First\n\nwords 1\n\nSecond", None),
        (deck, cut("slide2.xml", 0.8), "First\n\nwords 1\n\nSecond\n\nThird", "slide2.xml is damaged"),
        (sheets, cut("sheet1.xml", 0.9), "Item: Cargo 1 | Price: 1", "the rest of the sheet Cargo is damaged"),
        (sheets, without("sheet1.xml"), "Item: Fees 59 | Price: 59", "the sheet Cargo is missing"),
        (sheets, garbage("styles.xml"), "Item: Cargo 1 | Price: 1", "formats of numbers is damaged"),
        (sheets, cut("comments1.xml"), "Item: Cargo 1 | Price: 1", "comments1.xml is damaged"),
    ],
)  # fmt: skip
async def test_a_damaged_or_missing_part_costs_that_part(parse, make, change, read, warning):
    name = {written: "a.docx", deck: "a.pptx", sheets: "a.xlsx"}[make]

    document = await parse(changed(make(), change), name)

    assert read.strip() in document.text
    assert any(warning in told for told in document.warnings) if warning else document.warnings == ()


async def test_a_part_whose_bytes_were_changed_costs_that_part(parse):
    content = bytearray(written())
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        place = archive.getinfo("word/theme/theme1.xml").header_offset
    content[place + 100 : place + 140] = bytes(40)

    document = await parse(bytes(content), "a.docx")

    assert "Boats moor at dusk." in document.text
    (warning,) = document.warnings
    assert "theme1.xml is damaged" in warning


async def test_a_picture_in_the_place_of_a_title_has_no_text(parse):
    slides = pptx.Presentation()
    slide = slides.slides.add_slide(slides.slide_layouts[8])
    frames = {shape.placeholder_format.type: shape for shape in slide.placeholders}
    frames[PP_PLACEHOLDER.PICTURE].insert_picture(picture())
    frames[PP_PLACEHOLDER.BODY].text_frame.text = "Below the picture"
    content = changed(
        saved(slides),
        lambda name, data: (
            name,
            data.replace(b'type="title"', b'type="dt"').replace(b'type="pic" idx="1"', b'type="title"'),
        ),
    )

    document = await parse(content, "picture.pptx")

    assert "Below the picture" in document.text


INSERTED = {
    "text/html": b"<p>The <b>bilby</b> digs.</p>",
    "text/plain": b"The bilby digs.",
    "application/rtf": rb"{\rtf1\ansi The bilby digs.\par}",
    "message/rfc822": b"MIME-Version: 1.0\nContent-Type: text/html\n\n<p>The bilby digs.</p>",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml": b"",
}


@pytest.mark.parametrize("kind", INSERTED)
async def test_a_document_inserted_as_it_is_stands_in_its_place(parse, kind):
    document = docx.Document()
    document.add_heading("Before", 1)
    inner = docx.Document()
    inner.add_paragraph("The bilby digs.")
    part = Part(PackURI("/word/inserted.bin"), kind, INSERTED[kind] or saved(inner), document.part.package)
    insertion = OxmlElement("w:altChunk")
    relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/aFChunk"
    insertion.set(qn("r:id"), document.part.relate_to(part, relation))
    document.element.body.insert(1, insertion)
    document.add_paragraph("After.")

    read = await parse(saved(document), "chunk.docx")

    assert read.text == "Before\n\nThe bilby digs.\n\nAfter."
    assert read.blocks[1].heading_path == ("Before",)


async def test_a_page_that_is_no_page_costs_that_page(parse):
    content = pdf([["The first page of words."], ["The second page of words."], ["The third page of words."]])
    content = content.replace(b"4 0 R 6 0 R 8 0 R", b"4 0 R 3 0 R 8 0 R")

    document = await parse(content, "pages.pdf")

    assert document.text == "The first page of words.\n\nThe third page of words."
    (warning,) = document.warnings
    assert "page 2" in warning


DAMAGES = {
    "garbage": b"no packed content at all, whatever it says".ljust(60),
    "cut off": zlib.compress(
        b"BT /F1 12 Tf 72 700 Td (Kelp and agar, dulse and nori, all in the hall.) Tj ET"
    )[:60],
}


@pytest.mark.parametrize(
    ("contents", "attributes", "content"),
    [
        ("6 0 R", "/Filter /FlateDecode", DAMAGES["garbage"]),
        ("6 0 R", "/Filter /FlateDecode", DAMAGES["cut off"]),
        ("6 0 R", "/Filter /Unheard", DAMAGES["garbage"]),
        ("[/None]", "", DAMAGES["garbage"]),
    ],
    ids=["garbage", "cut off", "of an unknown kind", "that is none"],
)
async def test_a_page_whose_content_is_damaged_is_named(parse, contents, attributes, content):
    page = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 5 0 R >> >>"
    words = "BT /F1 12 Tf 72 700 Td (The second page has all of its words.) Tj ET"
    whole = assembled(
        [
            "<< /Type /Catalog /Pages 2 0 R >>",
            "<< /Type /Pages /Kids [3 0 R 4 0 R] /Count 2 >>",
            f"{page} /Contents {contents} >>",
            f"{page} /Contents 7 0 R >>",
            "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
            f"<< /Length 60 {attributes} >>\nstream\n{'X' * 60}\nendstream",
            f"<< /Length {len(words)} >>\nstream\n{words}\nendstream",
            "<< >>",
        ]
    )

    document = await parse(whole.replace(b"X" * 60, content), "pages.pdf")

    assert [(block.text, block.page) for block in document.blocks] == [
        ("The second page has all of its words.", 2)
    ]
    assert document.warnings == ("the content of page 1 is damaged and could not be read",)


async def test_an_empty_page_is_no_damage(parse):
    writer = PdfWriter(clone_from=io.BytesIO(pdf([["The first page of words."], ["The second page."]])))
    writer.insert_blank_page(index=1)
    written = io.BytesIO()
    writer.write(written)

    assert (await parse(written.getvalue(), "pages.pdf")).warnings == ()


async def test_a_damaged_chapter_of_a_book_costs_that_chapter(parse):
    chapters = {
        "1.xhtml": "<html><body><p>One</p></body></html>",
        "2.xhtml": "<html><body><p>Two</p></body></html>",
    }
    content = bytearray(book("Tales", chapters))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        place = archive.getinfo("text/1.xhtml").header_offset
    content[place + 46 : place + 60] = bytes(14)

    document = await parse(bytes(content), "tales.epub")

    assert document.text == "Two"
    (warning,) = document.warnings
    assert "1.xhtml" in warning


async def test_an_opendocument_text_is_read_up_to_its_damage(parse):
    content = open_document(
        ".odt", "<office:text><text:p>First</text:p><text:p>Second</text:p></office:text>"
    )

    document = await parse(changed(content, cut("content.xml", 0.95)), "cut.odt")

    assert document.text.startswith("First")
    assert document.warnings == ("the part content.xml is damaged, so that not all of it was read",)


@pytest.mark.parametrize(
    ("make", "part"), [(written, "document.xml"), (deck, "presentation.xml"), (sheets, "workbook.xml")]
)
async def test_a_file_without_its_main_part_is_refused(refusal, make, part):
    name = {written: "a.docx", deck: "a.pptx", sheets: "a.xlsx"}[make]

    await refusal(changed(make(), garbage(part)), name, Unreadable)
