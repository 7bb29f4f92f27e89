"""RTF, OpenDocument, books, mail messages, TIFF; recordings that were cut off."""

import io
from pathlib import Path

import pytest
from PIL import Image

from domain.knowledge.documents import BlockKind, Format
from domain.refusals import TooLarge, Unreadable
from tests.parsing.making import bomb, pdf, picture, speech, texts
from tests.parsing.making_open import MIMETYPES, book, container, letter, open_document, outlook

pytestmark = pytest.mark.anyio

ODT = """<office:text>
<text:tracked-changes><text:p>deleted words</text:p></text:tracked-changes>
<text:table-of-content><text:index-body><text:p>Mooring 1</text:p></text:index-body></text:table-of-content>
<text:h text:outline-level="1">Harbour</text:h><text:h text:outline-level="2">Mooring</text:h>
<text:p>Boats<text:s text:c="2"/>wait<!-- aside --> <text:span>at the quay</text:span><text:note><text:note-body>
<text:p>Only by day.</text:p></text:note-body></text:note> in turn.<draw:frame><draw:text-box>
<text:p>In a box</text:p></draw:text-box></draw:frame></text:p>
<text:list><text:list-item><text:p>ropes</text:p></text:list-item></text:list>
<table:table><table:table-row><table:table-cell><text:p>Name</text:p></table:table-cell><table:table-cell>
<text:p>Fee</text:p></table:table-cell></table:table-row><table:table-row><table:table-cell><text:p>Pilot</text:p>
</table:table-cell><table:table-cell><text:p>20</text:p></table:table-cell></table:table-row></table:table>
</office:text>"""


async def test_an_opendocument_text(parse):
    styles = "<style:header><text:p>Port authority</text:p></style:header>"
    document = await parse(
        open_document(".odt", ODT, styles=styles, meta="<dc:title>Rules</dc:title>"), "rules.odt"
    )

    assert (document.format, document.title) == (Format.ODT, "Rules")
    assert texts(document, BlockKind.HEADING) == ["Harbour", "Mooring"]
    assert texts(document, BlockKind.PARAGRAPH) == ["Boats  wait at the quay in turn.", "In a box"]
    assert texts(document, BlockKind.NOTE) == ["Only by day."]
    assert texts(document, BlockKind.LIST_ITEM) == ["ropes"]
    assert texts(document, BlockKind.TABLE_ROW) == ["Name | Fee", "Name: Pilot | Fee: 20"]
    assert texts(document, BlockKind.CONTENTS) == ["Mooring 1"]
    assert texts(document, BlockKind.MARGIN) == ["Port authority"]
    assert document.blocks[-2].heading_path == ("Harbour", "Mooring")
    assert "deleted" not in document.text


async def test_an_opendocument_presentation(parse):
    frame = "<draw:frame{}><draw:text-box><text:p>{}</text:p></draw:text-box></draw:frame>"
    slide = frame.format(' presentation:class="title"', "Plan {0}") + frame.format("", "Step {0}")
    notes = f"<presentation:notes>{frame.format('', 'Say {0}')}</presentation:notes>"
    pages = "".join(f"<draw:page>{(slide + notes).format(number)}</draw:page>" for number in (1, 2))

    document = await parse(
        open_document(".odp", f"<office:presentation>{pages}</office:presentation>"), "plan.odp"
    )

    assert [(block.kind, block.text, block.slide) for block in document.blocks] == [
        (kind, f"{text} {number}", number)
        for number in (1, 2)
        for kind, text in (
            (BlockKind.HEADING, "Plan"),
            (BlockKind.PARAGRAPH, "Step"),
            (BlockKind.NOTE, "Say"),
        )
    ]


async def test_an_opendocument_sheet_of_a_million_empty_rows(parse):
    def cell(text: str, more: str = "") -> str:
        return (
            f'<table:table-cell office:value-type="string"><text:p>{text}</text:p>{more}</table:table-cell>'
        )

    remark = "<office:annotation><text:p>since May</text:p></office:annotation>"
    rows = "".join(
        f"<table:table-row>{row}</table:table-row>"
        for row in (cell("Name") + cell("Fee"), cell("Pilot") + cell("20", remark))
    )
    empty = '<table:table-row table:number-rows-repeated="1048574"><table:table-cell/></table:table-row>'
    sheet = (
        f'<office:spreadsheet><table:table table:name="Fees">{rows}{empty}</table:table></office:spreadsheet>'
    )

    document = await parse(open_document(".ods", sheet), "fees.ods")

    assert texts(document, BlockKind.TABLE_ROW) == ["Name | Fee", "Name: Pilot | Fee: 20"]
    assert {block.sheet for block in document.blocks if block.kind is BlockKind.TABLE_ROW} == {"Fees"}
    assert texts(document, BlockKind.NOTE) == ["since May"]


async def test_an_encrypted_opendocument(parse):
    content = container(
        MIMETYPES[".odt"],
        {"content.xml": b"\x00\x01", "META-INF/manifest.xml": "<m><encryption-data/></m>"},
    )

    with pytest.raises(Unreadable, match=r"secret\.odt .* encrypted"):
        await parse(content, "secret.odt")


async def test_a_book(parse):
    chapters = {
        "cover.xhtml": '<html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body/></html>',
        "one.xhtml": '<html xmlns="http://www.w3.org/1999/xhtml"><head><title/><script/></head>'
        "<body><h1>Tides</h1><p>Water rises.</p></body></html>",
        "two.xhtml": "<html><body><h1>Winds</h1><p>Caf&eacute; &mdash; closed.</p></body></html>",
    }

    document = await parse(book("The sea", chapters), "sea.epub")

    assert (document.format, document.title) == (Format.EPUB, "The sea")
    assert document.text == "Tides\n\nWater rises.\n\nWinds\n\nCafé — closed."


@pytest.mark.parametrize(
    ("algorithm", "locked"), [("http://www.idpf.org/2008/embedding", False), ("urn:of-a-shop", True)]
)
async def test_a_book_with_hidden_parts(parse, algorithm, locked):
    parts = {"META-INF/encryption.xml": f'<e><EncryptionMethod Algorithm="{algorithm}"/></e>'}
    content = book("The sea", {"one.xhtml": "<html><body><p>Water rises.</p></body></html>"}, **parts)

    if locked:
        with pytest.raises(Unreadable, match="protected against copying"):
            await parse(content, "sea.epub")
    else:
        assert (await parse(content, "sea.epub")).text == "Water rises."


async def test_rich_text(parse):
    content = (
        rb"{\rtf1\ansi\ansicpg1250{\fonttbl{\f0 Arial;}}{\info{\title Harbour \'8a}}{\header Port authority\par}"
        rb"\pard First \b bold\b0  word\'e8.\par \u1076? too{\footnote Only by day.}\par"
        rb"\trowd Name\cell Fee\cell\row\trowd Pilot\cell 20\cell\row {\pict\bin5 {}{}}}Last\par{\pict 00ff}}"
    )

    document = await parse(content, "rules.rtf")

    assert (document.format, document.title) == (Format.RTF, "Harbour Š")
    assert texts(document, BlockKind.PARAGRAPH) == ["First bold wordč.", "д too", "Last"]
    assert texts(document, BlockKind.TABLE_ROW) == ["Name | Fee", "Name: Pilot | Fee: 20"]
    assert texts(document, BlockKind.NOTE) == ["Only by day."]
    assert texts(document, BlockKind.MARGIN) == ["Port authority"]
    with pytest.raises(Unreadable, match="cut off"):
        await parse(content[:-20], "rules.rtf")


async def test_a_mail_message_with_its_attachments(parse):
    message = letter(
        "Offer", "Hello,\n\nsee the offer.\n", [("offer.pdf", pdf([["Pump for 950 EUR, new."]]))]
    )
    message.add_attachment(b"\0\1" * 99, maintype="application", subtype="x", filename="tool.bin")
    message.add_attachment(letter("Older", "The old text."))

    document = await parse(message.as_bytes(), "offer.eml")

    assert (document.format, document.title) == (Format.EML, "Offer")
    assert texts(document, BlockKind.PARAGRAPH) == [
        "Hello,",
        "see the offer.",
        "Pump for 950 EUR, new.",
        "The old text.",
    ]
    assert texts(document, BlockKind.FIELD)[0].startswith(
        "From: ann@example.com\nTo: bob@example.com\nDate: "
    )
    assert texts(document, BlockKind.NOTE) == ["tool.bin was not read"]
    places = {block.text: (block.heading_path, block.page) for block in document.blocks}
    assert places["Pump for 950 EUR, new."] == (("offer.pdf",), 1)
    assert places["The old text."] == (("Older",), None)


async def test_the_header_of_a_mail_message_is_decoded(parse):
    content = b"From: =?utf-8?q?J=C3=B6rg?= <j@example.com>\nSubject: =?utf-8?b?!!!?=\n\nText\n"

    assert texts(await parse(content, "a.eml"), BlockKind.FIELD)[0].startswith("From: Jörg <j@example.com>")


async def test_a_mail_message_in_another_charset_than_it_says(parse):
    words = "Здравствуйте, пришлите счёт"
    content = f"Subject: {words}\nContent-Type: text/plain; charset=utf-8\n\n{words}\n".encode("cp1251")

    document = await parse(content, "a.eml")

    assert document.title == words
    assert texts(document, BlockKind.PARAGRAPH) == [words]


async def test_a_mail_message_packed_by_outlook(parse):
    message = letter("Offer", "")
    packed = Path("adapters/outbound/mail/tests/fixtures/winmail.dat").read_bytes()
    message.add_attachment(packed, maintype="application", subtype="ms-tnef", filename="winmail.dat")

    document = await parse(message.as_bytes(), "offer.eml")

    assert texts(document, BlockKind.PARAGRAPH)[:2] == ["Please send the offer for 12 kettles.", "Offer 55"]


async def test_a_mail_message_in_html(parse):
    message = letter("Offer", "")
    message.set_content('<p>See the <b>offer</b>.</p><img src="cid:logo">', subtype="html")
    message.add_attachment(picture("PNG"), maintype="image", subtype="png", cid="<logo>", filename="logo.png")

    assert (await parse(message.as_bytes(), "offer.eml")).text.endswith("Subject: Offer\n\nSee the offer.")


async def test_a_mail_message_in_html_that_cannot_be_read_says_so(parse):
    message = letter("Offer", "")
    message.set_content("<div>" * 5_000 + "deep words", subtype="html")

    assert "nested too deeply" in (await parse(message.as_bytes(), "offer.eml")).text


async def test_messages_in_messages_have_an_end(parse):
    message = letter("Innermost", "deep text")
    for number in range(8):
        outer = letter(f"Outer {number}", f"text {number}")
        outer.add_attachment(message)
        message = outer

    document = await parse(message.as_bytes(), "deep.eml")

    assert "text 2" in document.text
    assert "deep text" not in document.text
    assert "more than 5 deep" in document.text


async def test_a_bomb_in_a_message_is_told_and_the_rest_is_read(parse, tmp_path):
    bomb(tmp_path / "bomb", "word/document.xml", b" " * 1_000_000, 300)
    packed = (tmp_path / "bomb").read_bytes()

    document = await parse(letter("Offer", "Hello.", [("bomb.docx", packed)]).as_bytes(), "offer.eml")

    assert "Hello." in document.text
    assert "bomb.docx is too large" in document.text


async def test_an_outlook_message(parse):
    content = outlook(
        "Angebot", "Grüße,\r\n\r\nsiehe Anlage.", [("offer.pdf", pdf([["Pump for 950 EUR, new."]]))]
    )

    document = await parse(content, "angebot.msg")

    assert (document.format, document.title) == (Format.MSG, "Angebot")
    header = "From: Ann Müller <ann@example.com>\nTo: Bob <bob@example.com>\nSubject: Angebot"
    assert texts(document, BlockKind.FIELD) == [header]
    assert texts(document, BlockKind.PARAGRAPH) == ["Grüße,", "siehe Anlage.", "Pump for 950 EUR, new."]


async def test_every_page_of_a_tiff(parse, refusal, limited):
    page, out = Image.open(io.BytesIO(picture("PNG"))), io.BytesIO()
    page.save(out, "TIFF", save_all=True, append_images=[page], compression="tiff_lzw")

    document = await parse(out.getvalue(), "scan.tiff")

    assert document.format is Format.TIFF
    assert [block.page for block in document.blocks if "48213" in block.text] == [1, 2]
    assert "2 pages" in await refusal(out.getvalue(), "scan.tiff", TooLarge, using=limited(pages=1))
    assert "damaged" in await refusal(out.getvalue()[:5_000], "scan.tiff", Unreadable)


@pytest.mark.parametrize("format_", ["WAV", "OGG", "MP3"])
@pytest.mark.parametrize("left", [0.5, 0.9])
async def test_a_recording_that_was_cut_off(parse, format_, left):
    whole = speech(format_)

    with pytest.raises(Unreadable, match="cut off"):
        await parse(whole[: int(len(whole) * left)], f"harbour.{format_.lower()}")


async def test_no_part_of_a_document_brings_in_another_file(parse, tmp_path):
    (tmp_path / "other").write_text("stolen words")
    address = (tmp_path / "other").as_uri()
    head = f'<!DOCTYPE d [<!ENTITY x SYSTEM "{address}">]>'
    body = "<office:text><text:p>Here &x; there</text:p></office:text>"
    page = "<html><body><p>Here &x; there</p></body></html>"
    chapter = f'<?xml version="1.0"?>{head.replace("DOCTYPE d", "DOCTYPE html")}{page}'

    for content, name in (
        (open_document(".odt", body, head=head), "a.odt"),
        (book("B", {"one.xhtml": chapter}), "a.epub"),
    ):
        assert "stolen" not in (await parse(content, name)).text
