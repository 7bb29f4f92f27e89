"""No text is lost: encodings, odd corners of each format, large files."""

import io

import docx
import pptx
import pytest
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.ns import qn
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE

from domain.knowledge.documents import BlockKind
from tests.parsing.making import pdf

pytestmark = pytest.mark.anyio

WORDS = {
    "german": "Die Straße nach Köln führt über viele Brücken. Größe und Übung machen den Meister, sagt Jürgen.",
    "french": "Le café de la gare est fermé à présent, mais il sera rouvert très tôt. Garçon, où êtes-vous allé ?",
    "polish": "Zażółć gęślą jaźń. Książka leży na stole, a ósma godzina właśnie wybiła. Późno już.",
    "czech": "Příliš žluťoučký kůň úpěl ďábelské ódy. Děti běží přes řeku a křičí.",
    "russian": "Москва является столицей России. Погода сегодня хорошая, и мы пойдём гулять в парк.",
    "greek": "Αθήνα, πρωτεύουσα της Ελλάδας. Σήμερα είναι καλός καιρός και πάμε βόλτα μαζί.",
    "japanese": "東京は日本の首都です。今日は天気がいいので、公園を散歩しましょう。カタカナも書きます。",
    "chinese": "北京是中国的首都。今天天气很好,我们去公园散步。知识库可以搜索文件。",
    "korean": "서울은 대한민국의 수도입니다. 오늘은 날씨가 좋아서 공원에 갑니다.",
}
W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
V = 'xmlns:v="urn:schemas-microsoft-com:vml"'
M = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'


@pytest.mark.parametrize(
    ("language", "encoding"),
    [
        *((language, "utf-8") for language in WORDS),
        *((language, "utf-8-sig") for language in ("german", "japanese")),
        *((language, "utf-16") for language in ("french", "russian", "chinese")),
        ("polish", "utf-16-le"),
        ("german", "utf-16-be"),
        ("greek", "utf-32"),
        ("german", "latin-1"),
        ("german", "cp1252"),
        ("french", "cp1252"),
        ("french", "iso-8859-15"),
        ("polish", "cp1250"),
        ("polish", "iso-8859-2"),
        ("czech", "cp1250"),
        ("czech", "iso-8859-2"),
        ("russian", "koi8-r"),
        ("russian", "cp1251"),
        ("greek", "cp1253"),
        ("japanese", "shift_jis"),
        ("japanese", "euc-jp"),
        ("japanese", "iso-2022-jp"),
        ("chinese", "gb18030"),
        ("chinese", "big5"),
        ("korean", "euc-kr"),
    ],
)
async def test_text_in_many_encodings(parse, language, encoding):
    words = WORDS[language]
    if encoding == "big5":
        words = "北京是中國的首都。今天天氣很好,我們去公園散步。知識庫可以搜索文件。"

    document = await parse(words.encode(encoding), "words.txt")

    assert document.text == words


@pytest.mark.parametrize("text", ["アップロード完了。", "会議は三時からです。", "カタカナ"])
async def test_a_few_words_of_japanese(parse, text):
    assert (await parse(text.encode("cp932"), "note.txt")).text == text


async def test_the_encoding_that_a_page_declares(parse):
    source = '<html><head><meta charset="koi8-r"></head><body><p>Погода</p></body></html>'

    document = await parse(source.encode("koi8-r"), "page.html")

    assert document.text == "Погода"


async def test_zero_bytes_in_text_are_left_out(parse):
    document = await parse(b"before\x00after and a good deal more of ordinary text behind it", "zero.txt")

    assert document.text == "beforeafter and a good deal more of ordinary text behind it"


MERGED = [
    "Region | City | Tonnes",
    "Region: North | City: Kiel | Tonnes: 1",
    "Region: North | City: Riga | Tonnes: 2",
    "Region: Sum | Tonnes: 3",
]


async def test_merged_cells_of_html_keep_values_under_their_names(parse):
    source = (
        "<table><tr><th>Region<th>City<th>Tonnes<tr><td rowspan=2>North<td>Kiel<td>1<tr><td>Riga<td>2"
        "<tr><td colspan=2>Sum<td>3</table>"
    )

    document = await parse(source.encode(), "merged.html")

    assert [block.text for block in document.blocks] == MERGED


async def test_merged_cells_of_docx_keep_values_under_their_names(parse):
    written = docx.Document()
    table = written.add_table(4, 3)
    for cell, text in zip(
        [cell for row in table.rows for cell in row.cells],
        ["Region", "City", "Tonnes", "North", "Kiel", "1", "-", "Riga", "2", "Sum", "-", "3"],
        strict=True,
    ):
        cell.text = text.replace("-", "")
    table.cell(1, 0).merge(table.cell(2, 0))
    table.cell(3, 0).merge(table.cell(3, 1))

    document = await parse(_saved(written), "merged.docx")

    assert [block.text for block in document.blocks] == MERGED


@pytest.mark.parametrize("span", ["999999999", "-1", "0", "x", "1e9", "²"])
async def test_absurd_spans(parse, span):
    cell = f"<td colspan='{span}' rowspan='{span}'>wide</td><td>beside</td>"

    document = await parse(f"<table><tr>{cell}</tr><tr><td>below</td></tr></table>".encode(), "absurd.html")

    assert {"wide", "beside", "below"} <= set(document.text.replace("|", " ").replace(":", " ").split())


@pytest.mark.parametrize("name", ["odd.html", "odd.md"])
async def test_control_characters_in_markup_are_left_out(parse, name):
    source = b"<p>before\x0b and\x00 after&#1;</p><img alt='a\x02 crane'><p>" + b"more words " * 20 + b"</p>"

    document = await parse(source, name)

    assert "before and after" in document.text.replace("\n", "")
    assert "a crane" in document.text


async def test_no_text_holds_what_a_database_cannot_store(parse):
    document = await parse(rb'{"a\u0000b": "x\u0000y", "lone": "\ud800!"}', "odd.json")

    assert "\x00" not in document.text
    document.text.encode()
    assert "xy" in document.text


async def test_docx_keeps_inserted_text_controls_boxes_and_formulas_and_drops_deleted_text(parse):
    written = docx.Document()
    boxed = "<w:p><w:r><w:t>Boxed words.</w:t></w:r></w:p>"
    box = f"<v:shape><v:textbox><w:txbxContent>{boxed}</w:txbxContent></v:textbox></v:shape>"
    for inner in (
        f'<w:ins {W} w:id="1" w:author="a"><w:r><w:t>Inserted words.</w:t></w:r></w:ins>',
        f'<w:del {W} w:id="2" w:author="a"><w:r><w:delText>Deleted words.</w:delText></w:r></w:del>',
        f"<w:sdt {W}><w:sdtContent><w:r><w:t>Controlled words.</w:t></w:r></w:sdtContent></w:sdt>",
        f'<w:fldSimple {W} w:instr="DATE"><w:r><w:t>Field words.</w:t></w:r></w:fldSimple>',
        f"<w:r {W} {V}><w:pict>{box}</w:pict></w:r>",
        f"<m:oMath {M}><m:r><m:t>E=mc2</m:t></m:r></m:oMath>",
    ):
        written.add_paragraph("Around: ")
        written.element.body.p_lst[-1].append(parse_xml(inner))
    block = f"<w:sdt {W}><w:sdtContent><w:p><w:r><w:t>Controlled paragraph.</w:t></w:r></w:p></w:sdtContent></w:sdt>"
    written.element.body.insert(0, parse_xml(block))

    text = (await parse(_saved(written), "odd.docx")).text

    for words in ("Inserted words.", "Controlled words.", "Field words.", "Boxed words.", "E=mc2"):
        assert text.count(words) == 1, words
    assert "Controlled paragraph." in text
    assert "Deleted" not in text


async def test_docx_keeps_comments(parse):
    written = docx.Document()
    run = written.add_paragraph("The fee is 40.").runs[0]
    written.add_comment(run, text="Check this figure", author="Ada", initials="A")

    document = await parse(_saved(written), "commented.docx")

    assert [block.text for block in document.blocks if block.kind is BlockKind.NOTE] == ["Check this figure"]


async def test_docx_keeps_the_words_of_a_link_to_nowhere(parse):
    written = docx.Document()
    written.add_paragraph("See ")
    written.add_paragraph("the annex")
    see, annex = written.element.body.p_lst
    link = OxmlElement("w:hyperlink")
    link.set(qn("r:id"), "rId999")
    link.append(annex.r_lst[0])
    see.append(link)

    assert "See the annex" in (await parse(_saved(written), "linked.docx")).text


async def test_a_word_in_normal_style_is_no_heading(parse):
    written = docx.Document()
    written.add_heading("Real heading", 1)
    written.add_paragraph("Short Words")

    document = await parse(_saved(written), "plain.docx")

    assert [(block.text, block.level) for block in document.blocks] == [
        ("Real heading", 1),
        ("Short Words", None),
    ]


@pytest.mark.parametrize("declared", ["iso-8859-1", "latin1", "windows-1252"])
async def test_a_charset_stands_for_its_superset_as_in_browsers(parse, declared):
    page = f'<html><head><meta charset="{declared}"></head><body><p>25,75 € „Größe“</p></body></html>'

    document = await parse(page.encode("cp1252"), "price.html")

    assert document.text == "25,75 € „Größe“"


async def test_pptx_keeps_groups_and_charts(parse):
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "Figures"
    slide.shapes.add_group_shape().shapes.add_textbox(0, 0, 9, 9).text_frame.text = "Grouped words"
    data = CategoryChartData()
    data.categories = ["East", "West"]
    data.add_series("Tonnes", (1.5, 2))
    slide.shapes.add_chart(XL_CHART_TYPE.PIE, 0, 0, 900000, 900000, data)

    document = await parse(_saved(deck), "figures.pptx")

    for words in ("Grouped words", "East: Tonnes 1.5", "West: Tonnes 2"):
        assert words in document.text
    assert {block.slide for block in document.blocks} == {1}


async def test_values_of_pdf_form_fields_are_read(parse):
    content = pdf([["Please fill in:"]]).replace(
        b"/Contents 5 0 R >>",
        b"/Contents 5 0 R /Annots [<< /Type /Annot /Subtype /FreeText /Rect [72 600 300 620] /Contents (Ada) "
        b"/DA (/Helv 12 Tf) /F 4 /AP << /N 8 0 R >> >>] >>",
    )
    appearance = b"BT /F1 12 Tf 2 5 Td (Ada Lovelace) Tj ET"
    form = (
        b"8 0 obj\n<< /Type /XObject /Subtype /Form /BBox [0 0 228 20] /Resources << /Font << /F1 3 0 R >> >> "
        b"/Length %d >>\nstream\n%s\nendstream\nendobj\n" % (len(appearance), appearance)
    )
    content = content.replace(
        b"xref\n", form + b"xref\n", 1
    )  # the places are now wrong: readers rebuild them

    document = await parse(content, "form.pdf")

    assert "Ada Lovelace" in document.text
    assert "Please fill in:" in document.text


async def test_notes_that_open_on_a_pdf_page_are_read(parse):
    notes = (
        b"/Annots [<< /Type /Annot /Subtype /Text /Rect [72 600 90 620] /Contents (Ask the harbour master) >> "
        b"<< /Type /Annot /Subtype /Highlight /Rect [72 500 90 520] /Contents <FEFF006D00FC0064006500> >> "
        b"<< /Type /Annot /Subtype /Link /Rect [1 1 2 2] /Contents (a link) >> "
        b"<< /Type /Annot /Subtype /Text /Rect [72 600 90 620] >>]"
    )
    content = pdf([["The gate opens at seven."]]).replace(
        b"/Contents 5 0 R >>", b"/Contents 5 0 R " + notes + b" >>"
    )

    document = await parse(content, "noted.pdf")

    assert [(block.text, block.page) for block in document.blocks if block.kind is BlockKind.NOTE] == [
        ("Ask the harbour master", 1),
        ("m\u00fcde", 1),
    ]


async def test_every_line_of_a_long_pdf_is_there(parse):
    pages = [[f"Marker {page:03}-{line:02} stands here." for line in range(30)] for page in range(40)]

    document = await parse(pdf(pages), "long.pdf")

    found = [(block.page, line) for block in document.blocks for line in block.text.split("\n")]
    assert found == [(page + 1, line) for page, lines in enumerate(pages) for line in lines]


async def test_every_row_of_a_long_csv_is_there(parse):
    rows = [f"{number},name {number}," for number in range(20_000)]

    document = await parse(("id,name,note\n" + "\n".join(rows)).encode(), "long.csv")

    assert len(document.blocks) == 20_001
    assert document.blocks[-1].text == "id: 19999 | name: name 19999"
    assert document.blocks[-1].row_end == 20_001


async def test_every_paragraph_of_a_long_text_is_there(parse):
    paragraphs = [f"Paragraph {number} says something." for number in range(80_000)]

    document = await parse("\n\n".join(paragraphs).encode(), "long.txt")

    assert document.text.split("\n\n") == paragraphs


async def test_progress_is_told_and_grows(parser, tmp_path):
    path = tmp_path / "x"
    path.write_bytes(pdf([["A line of text on a page of its own."]] * 20))
    told: list[float] = []

    await parser.parse(path, "long.pdf", told.append)

    assert told == sorted(told)
    assert told[-1] == 1.0


def _saved(thing) -> bytes:
    out = io.BytesIO()
    thing.save(out)
    return out.getvalue()
