"""Spreadsheets: cells as they are shown, formulas without values, charts, far cells."""

import datetime as dt
import io
from collections.abc import Callable

import pytest
import xlsxwriter

from domain.knowledge.documents import BlockKind
from tests.parsing.making import SAMPLES, texts
from tests.parsing.making_open import open_document

pytestmark = pytest.mark.anyio

SHOWN = "Code: 00042 | Tax: 19 % | Price: 1.234,50 € | Since: 05.01.2027 | Hours: 36:00"


def workbook(write: Callable[[xlsxwriter.Workbook], None], **options: object) -> bytes:
    out = io.BytesIO()
    book = xlsxwriter.Workbook(out, options)
    write(book)
    book.close()
    return out.getvalue()


def stock(book: xlsxwriter.Workbook) -> None:
    sheet = book.add_worksheet("Stock")
    sheet.merge_range("A1:E1", "Stock of the kelp store")
    sheet.write_row("A3", ["Code", "Tax", "Price", "Since", "Hours"])
    for row in (3, 4):
        since = dt.datetime(2027, 1, 5)  # noqa: DTZ001 - a cell has no zone
        values = {"00000": 42, "0 %": 0.19, "#,##0.00 [$€-407]": 1234.5, "dd.mm.yyyy": since, "[h]:mm": 1.5}
        for column, (code, value) in enumerate(values.items()):
            sheet.write(row, column, value, book.add_format({"num_format": code}))


async def test_cells_of_a_workbook_are_read_as_they_are_shown(parse):
    document = await parse(workbook(stock), "stock.xlsx")

    assert document.title == "Stock of the kelp store"
    assert document.blocks[-1].text == SHOWN
    assert document.blocks[-1].heading_path == ("Stock of the kelp store",)


async def test_cells_of_an_old_workbook_are_read_as_they_are_shown(parse):
    document = await parse(SAMPLES / "stock.xls", "stock.xls")

    assert document.blocks[2].text == SHOWN
    assert document.warnings == ("charts of XLS files are not read, only the cells that they show",)


async def test_cells_of_an_opendocument_sheet_are_read_as_they_are_shown(parse):
    def cell(text: str, attributes: str = "") -> str:
        return (
            f"<table:table-cell {attributes}>{f'<text:p>{text}</text:p>' if text else ''}</table:table-cell>"
        )

    def row(*cells: str, attributes: str = "") -> str:
        return f"<table:table-row {attributes}>{''.join(cells)}</table:table-row>"

    rows = (
        row(cell("Prices", 'table:number-columns-spanned="2"'), "<table:covered-table-cell/>"),
        row(cell("Item"), cell("Price")),
        row(cell("Kelp", 'table:number-rows-spanned="2"'), cell("5,50 €", 'office:value="5.5"')),
        row("<table:covered-table-cell/>", cell("", 'table:formula="of:=[.B3]*2"')),
        row(
            cell("", 'table:number-columns-repeated="16384"'),
            attributes='table:number-rows-repeated="1048000"',
        ),
        row(cell("", 'table:number-columns-repeated="16383"'), cell("far")),
    )
    sheet = f'<table:table table:name="Prices">{"".join(rows)}</table:table>'

    document = await parse(
        open_document(".ods", f"<office:spreadsheet>{sheet}</office:spreadsheet>"), "prices.ods"
    )

    assert [(block.text, block.row_start) for block in document.blocks] == [
        ("Prices", 1),
        ("Item | Price", 2),
        ("Item: Kelp | Price: 5,50 €", 3),
        ("Item: Kelp | Price: not calculated", 4),
        ("far", 1_048_005),
    ]
    (warning,) = document.warnings
    assert "1 formula of the sheet Prices" in warning


@pytest.mark.parametrize("value", ["", 0], ids=["without a value", "with zeros to be calculated"])
async def test_formulas_without_a_stored_value_are_named(parse, value):
    def write(book: xlsxwriter.Workbook) -> None:
        sheet = book.add_worksheet("Bill")
        sheet.write_row(0, 0, ["Net", "Gross"])
        for row in (1, 2):
            sheet.write(row, 0, 5 * row)
            sheet.write_formula(row, 1, f"=A{row + 1}*1.19", None, value)

    document = await parse(workbook(write), "bill.xlsx")

    assert document.blocks[1].text == "Net: 5 | Gross: not calculated (=A2*1.19)"
    (warning,) = document.warnings
    assert "2 formulas of the sheet Bill" in warning


async def test_cells_of_an_old_workbook_stand_in_their_columns_and_formulas_without_a_value_are_named(parse):
    document = await parse(SAMPLES / "uncalculated.xls", "rates.xls")

    assert [block.text for block in document.blocks] == [
        "Name | Satz | Q | F | T | B",
        "Name: A | Satz: 19% | Q: 1 | F: not calculated | T: not calculated | B: not calculated",
        "Name: B | Satz: 7% | Q: 2 | F: not calculated | T: x | B: FALSE",
    ]
    (warning,) = document.warnings
    assert "4 formulas of the sheet S" in warning


async def test_cells_of_an_opendocument_sheet_without_a_text_are_read_by_their_value(parse):
    cells = (
        ('office:value-type="percentage" office:value="0.125"', "12.5%"),
        ('office:value-type="date" office:date-value="2027-01-05"', "2027-01-05"),
        ('office:value-type="date" office:date-value="2027-01-05T10:30:00"', "2027-01-05T10:30:00"),
        ('office:value-type="time" office:time-value="PT7H30M00S"', "07:30:00"),
        ('office:value-type="boolean" office:boolean-value="true"', "TRUE"),
        ('office:value-type="currency" office:currency="EUR" office:value="12.5"', "12.5 EUR"),
        ('office:value-type="float" office:value="42.0"', "42"),
        ('office:value-type="string" office:string-value="kelp"', "kelp"),
    )
    rows = "".join(
        f"<table:table-row><table:table-cell {attributes}/></table:table-row>" for attributes, _ in cells
    )
    sheet = f'<office:spreadsheet><table:table table:name="S">{rows}</table:table></office:spreadsheet>'

    document = await parse(open_document(".ods", sheet), "values.ods")

    assert [block.text for block in document.blocks] == [text for _, text in cells]


async def test_a_chart_is_read_by_its_categories(parse):
    def write(book: xlsxwriter.Workbook) -> None:
        sheet = book.add_worksheet("Sales")
        for row, cells in enumerate([("Region", "Tonnes", "Ships"), ("East", 1.5, 3), ("West", 2, 4)]):
            sheet.write_row(row, 0, cells)
        chart = book.add_chart({"type": "column"})
        for column in "BC":
            names = {"name": f"=Sales!${column}$1", "categories": "=Sales!$A$2:$A$3"}
            chart.add_series({**names, "values": f"=Sales!${column}$2:${column}$3"})
        chart.set_title({"name": "Sales of the year"})
        book.add_chartsheet("Picture").set_chart(chart)

    document = await parse(workbook(write), "sales.xlsx")

    assert texts(document, BlockKind.NOTE) == [
        "Sales of the year",
        "East: Tonnes 1.5, Ships 3",
        "West: Tonnes 2, Ships 4",
    ]


async def test_far_cells_cost_nothing(parse):
    def write(book: xlsxwriter.Workbook) -> None:
        sheet = book.add_worksheet()
        for row, column, text in ((0, 0, "first"), (5, 16_000, "far"), (1_048_575, 16_383, "last")):
            sheet.write(row, column, text)

    document = await parse(workbook(write), "corners.xlsx")

    assert [(b.text, b.row_start) for b in document.blocks] == [("first", 1), ("far", 6), ("last", 1_048_576)]


async def test_a_table_of_the_sheet_and_a_bold_line_tell_the_names(parse):
    def write(book: xlsxwriter.Workbook) -> None:
        sheet = book.add_worksheet()
        sheet.add_table(
            "A1:B2", {"data": [["Kelp", 5]], "columns": [{"header": "Item"}, {"header": "Price"}]}
        )
        sheet.write_row(3, 0, ["City", "Depot"], book.add_format({"bold": True}))
        sheet.write_row(4, 0, ["Kiel", "North"])
        sheet.write_row(6, 0, ["Name", "Born", "Died"])
        sheet.write_row(7, 0, ["Ada", 1815, 1852])
        sheet.write_row(8, 0, ["Bob", 1900, 1950])

    document = await parse(workbook(write), "tables.xlsx")

    assert [block.text for block in document.blocks][1::2] == [
        "Item: Kelp | Price: 5",
        "City: Kiel | Depot: North",
        "Name: Ada | Born: 1815 | Died: 1852",
    ]
