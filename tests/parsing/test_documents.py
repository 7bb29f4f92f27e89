"""Documents, slides and pages: what was written is read back, with its place."""

import gzip
import struct

import docx
import olefile
import pptx
import pytest
from pptx.enum.shapes import PP_PLACEHOLDER

from adapters.outbound.knowledge.parsing.text import one_line
from domain.knowledge.documents import BlockKind, Format
from tests.parsing.making import SAMPLES, pdf, saved, texts

pytestmark = pytest.mark.anyio


async def test_each_block_stands_in_the_text_where_it_says(parse):
    document = await parse(
        b"# One\n\nfirst words\n\n- a\n- b\n\n## Two\n\n| x | y |\n|---|---|\n| 1 | 2 |\n", "a.md"
    )

    assert len(document.blocks) == 7
    assert all(document.text[block.start : block.end] == block.text for block in document.blocks)
    assert document.text == "One\n\nfirst words\n\na\nb\n\nTwo\n\nx | y\nx: 1 | y: 2"


async def test_pdf(parse):
    pages = [
        ["Chapter one", "The pilot boards at buoy seven."],
        ["Chapter two", "Mooring costs twelve euros."],
    ]
    content = pdf(pages, outline=[("Chapter one", 0), ("Chapter two", 1)], title="Harbour rules")

    document = await parse(content, "rules.pdf")

    assert (document.title, document.format, document.mime_type) == (
        "Harbour rules",
        Format.PDF,
        "application/pdf",
    )
    assert [(b.kind.value, b.text, b.heading_path, b.page) for b in document.blocks] == [
        ("heading", "Chapter one", ("Chapter one",), 1),
        ("paragraph", "The pilot boards at buoy seven.", ("Chapter one",), 1),
        ("heading", "Chapter two", ("Chapter two",), 2),
        ("paragraph", "Mooring costs twelve euros.", ("Chapter two",), 2),
    ]


async def test_a_word_cut_at_the_end_of_a_line_is_one_word(parse):
    # 0xAD is the soft hyphen of WinAnsiEncoding; PDFium reports it as U+FFFE or U+00AD.
    document = await parse(pdf([["The pilot recog\xad", "nises the buoy."]]), "cut.pdf")

    assert "recognises" in document.text


async def test_docx(parse):
    written = docx.Document()
    written.core_properties.title = "Harbour rules"
    written.add_heading("Arrival", 1)
    written.add_paragraph("Ships enter with a pilot on board.")
    written.add_heading("Fees", 2)
    written.add_paragraph("Fees are due at once", style="List Bullet")
    table = written.add_table(2, 2)
    cells = [cell for row in table.rows for cell in row.cells]
    for cell, text in zip(cells, ["Berth", "Price", "North", "40"], strict=True):
        cell.text = text
    written.sections[0].header.paragraphs[0].text = "Port authority"
    written.sections[0].footer.paragraphs[0].text = "Recycled paper"

    document = await parse(saved(written), "rules.docx")

    assert document.title == "Harbour rules"
    assert [(b.kind.value, b.text, b.heading_path) for b in document.blocks] == [
        ("margin", "Port authority", ()),
        ("heading", "Arrival", ("Arrival",)),
        ("paragraph", "Ships enter with a pilot on board.", ("Arrival",)),
        ("heading", "Fees", ("Arrival", "Fees")),
        ("list_item", "Fees are due at once", ("Arrival", "Fees")),
        ("table_row", "Berth | Price", ("Arrival", "Fees")),
        ("table_row", "Berth: North | Price: 40", ("Arrival", "Fees")),
        ("margin", "Recycled paper", ()),
    ]
    assert document.blocks[6].header == "Berth | Price"


async def test_the_table_of_contents_of_a_docx_is_told_apart(parse):
    written = docx.Document()
    written.add_paragraph("Contents", style="TOC Heading")
    first = written.styles.add_style("toc 1", 1)
    for entry in ("Arrival\t2", "Fees\t3", "Mooring"):
        written.add_paragraph(entry, style=first)
    written.add_heading("Mooring", 1)
    written.add_paragraph("Ships moor at the quay.")

    document = await parse(saved(written), "rules.docx")

    assert [one_line(text) for text in texts(document, BlockKind.CONTENTS)] == [
        "Contents",
        "Arrival 2",
        "Fees 3",
    ]
    assert texts(document, BlockKind.HEADING)[-1] == "Mooring"


async def test_the_footer_and_the_number_of_a_slide_are_told_apart(parse):
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text, slide.placeholders[1].text = "Lighthouse", "Lamp replaced"
    for layout in slide.slide_layout.placeholders:
        if layout.placeholder_format.type in (PP_PLACEHOLDER.FOOTER, PP_PLACEHOLDER.SLIDE_NUMBER):
            slide.shapes.clone_placeholder(layout)
    for shape in list(slide.placeholders)[2:]:
        shape.text_frame.text = f"Port authority {shape.placeholder_format.idx}"

    document = await parse(saved(deck), "review.pptx")

    assert texts(document, BlockKind.PARAGRAPH) == ["Lamp replaced"]
    assert texts(document, BlockKind.MARGIN) == ["Port authority 11", "Port authority 12"]


async def test_doc(parse):
    document = await parse(SAMPLES / "harbour.doc", "harbour.doc")

    assert (document.title, document.format) == ("Harbour rules", Format.DOC)
    assert texts(document, BlockKind.HEADING) == ["Harbour rules", "Fees and fines"]
    assert "payable “in advance”. Žluťoučký kůň and Ελλάδα" in document.text
    assert texts(document, BlockKind.TABLE_ROW) == [
        "Berth | Length | Price",
        "Berth: North | Length: 120 | Price: 40",
        "Berth: South | Price: 55",
    ]
    assert texts(document, BlockKind.MARGIN) == ["Port authority circular", "Printed on recycled paper"]
    assert document.blocks[-3].heading_path == ("Harbour rules", "Fees and fines")


async def test_titles_headings_and_contents_of_an_old_document_by_their_styles(parse):
    document = await parse(SAMPLES / "keeper.doc", "keeper.doc")

    assert document.title == "Keeper handbook"
    assert [(block.text, block.level) for block in document.blocks if block.kind is BlockKind.HEADING] == [
        ("Keeper handbook", 1),
        ("Feeding", 1),
        ("Night rounds", 2),
    ]
    assert [one_line(text) for text in texts(document, BlockKind.CONTENTS)] == [
        "Contents",
        "Feeding 2",
        "Night rounds 3",
    ]


@pytest.mark.parametrize(
    ("page", "title"),
    [
        (932, "飼育の手引"),
        (1251, "Справочник"),
        (1253, "Εγχειρίδιο"),
        (949, "사육사 안내서"),
        (65001, "Größe €"),
    ],
)
async def test_the_title_of_an_old_file_is_in_its_own_code_page(parse, tmp_path, page, title):
    path = tmp_path / "harbour.doc"
    path.write_bytes((SAMPLES / "harbour.doc").read_bytes())
    name = f"cp{page}" if page != 65001 else "utf-8"
    with olefile.OleFileIO(str(path), write_mode=True) as ole:
        properties = bytearray(ole.openstream("\x05SummaryInformation").read())
        at = properties.find(b"Harbour rules\0")
        place = properties.find(struct.pack("<HH", 2, 0) + struct.pack("<H", 65001))
        struct.pack_into("<H", properties, place + 4, page)
        properties[at : at + 14] = title.encode(name)[:14].ljust(14, b"\0")
        ole.write_stream("\x05SummaryInformation", bytes(properties))

    document = await parse(path, "harbour.doc")

    assert document.title == title.encode(name)[:14].decode(name)


MENUS = {
    "a list of languages": '<div id="p-lang"><span>60 languages</span><ul>{}</ul></div>',
    "a menu without a name": "<div><ul>{}</ul></div>",
    "a menu of buttons": '<div class="navbar"><ul>{}</ul></div>',
    "a notice about cookies": '<div class="cookie-banner">We use Nav0 cookies. <button>Accept</button></div>',
    "a notice about cookies that its words tell": (
        "<div><div><p>We use cookies for Nav0.</p></div><button>Accept</button></div>"
    ),
    "a notice about cookies that its label tells": '<div role="dialog" aria-label="cookieconsent">Nav0</div>',
    "a foot of two links": '<footer><a href="/i">Nav0</a> | <a href="/p">Privacy</a></footer>',
    "a path": '<p class="breadcrumb"><a href="/">Nav0</a> &gt; Tales</p>',
}
LINKS = "".join(f'<li><a href="/{number}">Nav{number}</a></li>' for number in range(8))


@pytest.mark.parametrize("menu", MENUS)
async def test_menus_of_a_page_are_left_out(parse, menu):
    text = "<h1>Quokka</h1><p>The quokka is small and eats grass.</p>"
    listed = f"<h2>See</h2><ul>{LINKS.replace('Nav', 'Island ')}</ul>"
    page = f'{MENUS[menu].format(LINKS)}<div id="content">{text}{listed}</div>{MENUS[menu].format(LINKS)}'

    document = await parse(f"<html><body>{page}</body></html>".encode(), "quokka.html")

    assert "Nav0" not in document.text
    assert "The quokka is small and eats grass." in document.text
    assert "Island 7" in document.text


@pytest.mark.parametrize(
    ("name", "table"),
    [
        ("t.html", "<table><tr><th>Size<th>38<th>40</tr><tr><td>Chest<td>88<td>92</tr></table>"),
        ("t.md", "| Size | 38 | 40 |\n|---|---|---|\n| Chest | 88 | 92 |\n"),
    ],
)  # fmt: skip
async def test_names_of_columns_that_the_file_shows_as_such_may_be_numbers(parse, name, table):
    document = await parse(f"# Sizes\n\n{table}".encode(), name)

    assert document.blocks[-1].text == "Size: Chest | 38: 88 | 40: 92"


async def test_a_table_that_places_the_parts_of_a_page_is_read_as_a_page(parse):
    data = "<table><tr><th>Item</th><th>Price</th></tr><tr><td>Kelp</td><td>5</td></tr></table>"
    text = f"<h1>Quokka</h1><p>The quokka is small.</p><h2>Food</h2><p>It eats grass.</p>{data}"

    document = await parse(
        f"<html><body><table><tr><td>Left</td><td>{text}</td></tr></table></body></html>".encode(), "q.html"
    )

    assert [(block.text, block.heading_path) for block in document.blocks] == [
        ("Left", ()),
        ("Quokka", ("Quokka",)),
        ("The quokka is small.", ("Quokka",)),
        ("Food", ("Quokka", "Food")),
        ("It eats grass.", ("Quokka", "Food")),
        ("Item | Price", ("Quokka", "Food")),
        ("Item: Kelp | Price: 5", ("Quokka", "Food")),
    ]


async def test_what_is_sold_is_no_notice_about_cookies(parse):
    text = "<p>The quokka eats grass, and is active at night, when it is cool on the island.</p>"
    page = f"{text}<div><h3>Oat cookie</h3><p>Baked daily.</p><button>Add to basket</button></div>"

    assert "Baked daily." in (await parse(f"<html><body>{page}</body></html>".encode(), "shop.html")).text


async def test_a_page_that_is_nothing_but_links_keeps_them(parse):
    document = await parse(f"<html><body><ul>{LINKS}</ul></body></html>".encode(), "links.html")

    assert "Nav7" in document.text


async def test_pptx(parse):
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "Lighthouse"
    slide.placeholders[1].text = "Lamp replaced\nHorn silent"
    slide.notes_slide.notes_text_frame.text = "Thank the keeper"
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "Budget"
    grid = slide.shapes.add_table(2, 2, 0, 0, 900000, 900000).table
    for row, line in enumerate([("Item", "Cost"), ("Paint", "900")]):
        for column, text in enumerate(line):
            grid.cell(row, column).text = text

    document = await parse(saved(deck), "review.pptx")

    assert [(b.kind.value, b.text, b.slide) for b in document.blocks] == [
        ("heading", "Lighthouse", 1),
        ("paragraph", "Lamp replaced", 1),
        ("paragraph", "Horn silent", 1),
        ("note", "Thank the keeper", 1),
        ("heading", "Budget", 2),
        ("table_row", "Item | Cost", 2),
        ("table_row", "Item: Paint | Cost: 900", 2),
    ]
    assert {block.heading_path for block in document.blocks} == {("Lighthouse",), ("Budget",)}


async def test_ppt(parse):
    content = gzip.decompress((SAMPLES / "lighthouse.ppt.gz").read_bytes())

    document = await parse(content, "lighthouse.ppt")

    assert [(b.kind.value, b.text, b.slide) for b in document.blocks] == [
        ("heading", "Lighthouse review", 1),
        ("paragraph", "Lamp replaced in March", 1),
        ("paragraph", "Fog horn still silent", 1),
        ("note", "Remember to thank the keeper", 1),
        ("heading", "Budget", 2),
        ("paragraph", "Paint costs 900 € – Ελλάδα", 2),  # noqa: RUF001
    ]


async def test_txt(parse):
    document = await parse(b"First paragraph,\nsecond line.\r\n\r\nSecond paragraph.\n", "notes.txt")

    assert texts(document, BlockKind.PARAGRAPH) == ["First paragraph,\nsecond line.", "Second paragraph."]
    assert (document.title, document.mime_type) == ("notes", "text/plain")


async def test_markdown(parse):
    source = (
        "---\ntitle: The rules\nauthor: Ada\n---\n# Top\n\nSome *marked* words.\n\n```python\nx = 1\n```\n\n"
        "## Below\n\n1. one\n   - nested\n2. two\n\n| Name | Age |\n|---|---|\n| Bob | 42 |\n\n"
        "<details>hidden</details>\n"
    )

    document = await parse(source.encode(), "rules.md")

    assert document.title == "The rules"
    assert [(b.kind.value, b.text) for b in document.blocks] == [
        ("code", "title: The rules\nauthor: Ada"),
        ("heading", "Top"),
        ("paragraph", "Some marked words."),
        ("code", "x = 1"),
        ("heading", "Below"),
        ("list_item", "one"),
        ("list_item", "nested"),
        ("list_item", "two"),
        ("table_row", "Name | Age"),
        ("table_row", "Name: Bob | Age: 42"),
        ("paragraph", "hidden"),
    ]


async def test_html_with_very_many_marks_in_one_paragraph(parse):
    marks = "".join(f"<b>{number}</b> and <svg></svg><i>on</i> " for number in range(30_000))

    document = await parse(f"<p>{marks}</p><pre>a <b>x</b>\n y</pre>".encode(), "marked.html")

    assert document.blocks[0].text.startswith("0 and on 1 and on 2")
    assert document.text.count("and on") == 30_000
    assert document.text.endswith("29999 and on\n\na x\n y")


async def test_html(parse):
    source = (
        "<!doctype html><html><head><title>Harbour</title><style>p{}</style><script>alert(1)</script></head><body>"
        "<nav>Home</nav><header>Above all</header><main><h1>Rules</h1><p>Words <b>in bold</b>.</p>loose words"
        "<ul><li>one</li><li>two</li></ul><table><caption>Prices</caption><tr><th>Berth</th><th>Fee</th></tr>"
        "<tr><td>North</td><td>40</td></tr></table><pre>  code\n    here</pre><details><summary>More</summary>inside"
        "</details><img src=x alt='A crane'></main><footer>Below all</footer></body></html>"
    )

    document = await parse(source.encode(), "harbour.html")

    assert document.title == "Harbour"
    assert [(b.kind.value, b.text) for b in document.blocks] == [
        ("paragraph", "Above all"),
        ("heading", "Rules"),
        ("paragraph", "Words in bold."),
        ("paragraph", "loose words"),
        ("list_item", "one"),
        ("list_item", "two"),
        ("paragraph", "Prices"),
        ("table_row", "Berth | Fee"),
        ("table_row", "Berth: North | Fee: 40"),
        ("code", "  code\n    here"),
        ("paragraph", "More"),
        ("paragraph", "inside"),
        ("paragraph", "A crane"),
        ("paragraph", "Below all"),
    ]
