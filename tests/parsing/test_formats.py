"""Each of the 21 formats: what was written is read back, with its place."""

from __future__ import annotations

import datetime as dt
import gzip
import io
from pathlib import Path

import docx
import pptx
import pytest
import soundfile
import xlsxwriter
from PIL import Image, ImageDraw, ImageFont

from domain.knowledge.documents import BlockKind, Document, Format
from tests.parsing.making import SAMPLES, pdf

pytestmark = pytest.mark.anyio


def texts(document: Document, kind: BlockKind) -> list[str]:
    return [block.text for block in document.blocks if block.kind is kind]


def saved(thing) -> bytes:
    out = io.BytesIO()
    thing.save(out)
    return out.getvalue()


def picture(format_: str) -> bytes:
    image = Image.new("RGB", (760, 220), "white")
    font = ImageFont.load_default(36)
    draw = ImageDraw.Draw(image)
    draw.text((30, 30), "Invoice number 48213", fill="black", font=font)
    draw.text((30, 120), "Total amount 950 EUR", fill="black", font=font)
    out = io.BytesIO()
    image.save(out, format_)
    return out.getvalue()


def speech(format_: str) -> bytes:
    samples, rate = soundfile.read(SAMPLES / "speech.ogg")
    out = io.BytesIO()
    soundfile.write(out, samples, rate, format=format_)
    return out.getvalue()


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


async def test_a_page_without_a_text_layer_is_recognised(parse):
    out = io.BytesIO()
    Image.open(io.BytesIO(picture("PNG"))).save(out, "PDF", resolution=100)

    document = await parse(out.getvalue(), "scan.pdf")

    assert document.engine == "rapidocr"
    assert "48213" in document.text
    assert {block.page for block in document.blocks} == {1}


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
    for cell, text in zip(table._cells, ["Berth", "Price", "North", "40"], strict=True):
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


async def test_csv(parse):
    document = await parse(b'Name;Remark\r\n"Bob; Jr";"two\r\nlines"\r\nEve;;surplus\r\n', "people.csv")

    assert [(b.text, b.row_start, b.header) for b in document.blocks] == [
        ("Name | Remark", 1, None),
        ("Name: Bob; Jr | Remark: two lines", 2, "Name | Remark"),
        ("Name: Eve | surplus", 3, "Name | Remark"),
    ]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
async def test_the_delimiter_of_a_csv_is_found(parse, delimiter):
    rows = [
        ["City", "Country", "Motto"],
        ["Kiel", "Germany", "by the sea, always"],
        ["Bergen", "Norway", "a; b"],
    ]
    content = "\n".join(delimiter.join(f'"{cell}"' for cell in row) for row in rows)

    document = await parse(content.encode(), "cities.csv")

    assert document.blocks[1].text == "City: Kiel | Country: Germany | Motto: by the sea, always"


async def test_a_csv_of_numbers_has_no_header(parse):
    document = await parse(b"1,2\n3,4\n", "numbers.csv")

    assert [(block.text, block.header) for block in document.blocks] == [("1 | 2", None), ("3 | 4", None)]


async def test_json(parse):
    source = b'{"title": "Order", "lines": [{"id": 10000000000000000001, "price": 1.10}], "odd key": null, "e": []}'

    document = await parse(source, "order.json")

    assert document.title == "Order"
    assert document.text.split("\n") == [
        "title: Order",
        "lines[0].id: 10000000000000000001",
        "lines[0].price: 1.10",
        '"odd key": null',
        "e: []",
    ]


async def test_the_records_of_a_json_array_are_blocks_of_their_own(parse):
    document = await parse(b'[{"a": 1, "b": true}, {"a": 2}]', "list.json")

    assert [block.text for block in document.blocks] == ["[0].a: 1\n[0].b: true", "[1].a: 2"]


async def test_json_lines(parse):
    document = await parse(b'{"a": 1}\n{"a": 2}\n', "log.jsonl")

    assert [block.text for block in document.blocks] == ["[0].a: 1", "[1].a: 2"]


async def test_repeated_names_in_a_json_object_are_all_read(parse):
    document = await parse(b'{"a": "first", "a": "second"}', "twice.json")

    assert document.text == "a: first\na: second"


async def test_xml(parse):
    source = (
        '<?xml version="1.0" encoding="ISO-8859-1"?><library city="K\xf6ln"><!-- no --><book id="b1">'
        "<title>Tea &amp; time</title><note>mixed <b>bold</b> tail</note></book><book id='b2'/></library>"
    )

    document = await parse(source.encode("latin-1"), "books.xml")

    assert [block.text for block in document.blocks] == [
        "library.city: Köln",
        "book.id: b1\ntitle: Tea & time\nnote: mixed bold tail",
        "book.id: b2",
    ]


async def test_xlsx(parse):
    out = io.BytesIO()
    book = xlsxwriter.Workbook(out)
    day = book.add_format({"num_format": "yyyy-mm-dd"})
    sheet = book.add_worksheet("Cargo")
    sheet.write_row(2, 1, ["Container", "Weight", "Loaded", "Sealed"])
    sheet.write_row(3, 1, ["MSKU 1001", 1200])
    sheet.write_datetime(3, 3, dt.datetime(2026, 3, 1), day)  # noqa: DTZ001 - a cell has no zone
    sheet.write_boolean(3, 4, True)
    sheet.write_row(4, 1, ["MSKU 1002", 12.5])
    sheet.write_comment(4, 1, "Smells of fish")
    book.add_worksheet("Notes").write(0, 0, "Crane two is out of order")
    book.close()

    document = await parse(out.getvalue(), "cargo.xlsx")

    assert [(b.text, b.sheet, b.row_start) for b in document.blocks] == [
        ("Container | Weight | Loaded | Sealed", "Cargo", 3),
        ("Container: MSKU 1001 | Weight: 1200 | Loaded: 2026-03-01 | Sealed: TRUE", "Cargo", 4),
        ("Container: MSKU 1002 | Weight: 12.5", "Cargo", 5),
        ("Crane two is out of order", "Notes", 1),
        ("Smells of fish", None, None),
    ]


async def test_xls(parse):
    document = await parse(SAMPLES / "cargo.xls", "cargo.xls")

    assert document.format is Format.XLS
    assert [(block.text, block.sheet) for block in document.blocks] == [
        ("Container | Weight | Loaded", "Cargo"),
        ("Container: MSKU 1001 | Weight: 1200 | Loaded: 2026-03-01", "Cargo"),
        ("Container: MSKU 1002 | Weight: 12.5 | Loaded: 2026-04-02", "Cargo"),
        ("Crane two is out of order", "Notes"),
    ]


@pytest.mark.parametrize(
    ("encoder", "extension", "format_"),
    [
        ("JPEG", "jpg", Format.JPEG),
        ("PNG", "png", Format.PNG),
        ("GIF", "gif", Format.GIF),
        ("WEBP", "webp", Format.WEBP),
        ("BMP", "bmp", Format.BMP),
    ],
)
async def test_pictures(parse, encoder, extension, format_):
    document = await parse(picture(encoder), f"invoice.{extension}")

    assert (document.format, document.engine) == (format_, "rapidocr")
    assert "48213" in document.text
    assert document.text.index("Invoice") < document.text.index("Total")


@pytest.mark.parametrize(
    ("extension", "format_"), [("ogg", Format.OGG), ("wav", Format.WAV), ("mp3", Format.MP3)]
)
async def test_speech(parse, extension, format_):
    document = await parse(speech(extension.upper()), f"harbour.{extension}")

    assert (document.format, document.engine) == (format_, "pocketsphinx en-us")
    assert "people went to the market" in document.text
    segment = document.blocks[-1]
    assert segment.kind is BlockKind.SPEECH
    assert segment.time_start is not None
    assert 4 < (segment.time_end or 0) < 7


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


async def test_every_format_of_the_contract_is_available(parser):
    support = parser.available()

    assert [entry.format for entry in support] == list(Format)
    assert len(support) == 21
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
