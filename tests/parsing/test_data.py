"""Tables and records: every value is read back, under its name."""

import datetime as dt
import io
import zipfile

import pytest
import xlsxwriter

from domain.knowledge.documents import BlockKind, Format
from tests.parsing.making import SAMPLES, texts

pytestmark = pytest.mark.anyio


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


async def test_xlsx_keeps_comments_whatever_their_part_is_called(parse):
    written = io.BytesIO()
    book = xlsxwriter.Workbook(written)
    sheet = book.add_worksheet("Fees")
    sheet.write("A1", "Fee")
    sheet.write_comment("A1", "Agreed in May")
    book.close()
    renamed = io.BytesIO()
    with zipfile.ZipFile(written) as old, zipfile.ZipFile(renamed, "w") as new:
        for name in old.namelist():
            content = old.read(name).replace(b"comments1.xml", b"comments/comment1.xml")
            new.writestr(name.replace("comments1.xml", "comments/comment1.xml"), content)

    document = await parse(renamed.getvalue(), "fees.xlsx")

    assert texts(document, BlockKind.NOTE) == ["Agreed in May"]


async def test_a_cell_over_several_rows_of_a_workbook_stands_in_each(parse):
    out = io.BytesIO()
    book = xlsxwriter.Workbook(out)
    sheet = book.add_worksheet()
    sheet.merge_range("A2:A4", "North")
    sheet.merge_range("A5:B5", "Total")
    for row, cells in enumerate([("Region", "Depot"), (None, "Kiel"), (None, "Lund"), (None, "Oslo")]):
        sheet.write_row(row, 1, cells[1:])
        if cells[0]:
            sheet.write(row, 0, cells[0])
    book.close()

    document = await parse(out.getvalue(), "depots.xlsx")

    assert [block.text for block in document.blocks] == [
        "Region | Depot",
        "Region: North | Depot: Kiel",
        "Region: North | Depot: Lund",
        "Region: North | Depot: Oslo",
        "Region: Total",
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
