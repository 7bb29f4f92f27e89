"""The names of columns: below titles and forms, on several lines, merged; of several tables on a sheet."""

import csv
import io
import time

import pytest

from adapters.outbound.knowledge.parsing.tables import rows_to_blocks
from domain.knowledge.documents import BlockKind


def texts(table: str, **options: object) -> list[str]:
    rows = enumerate(csv.reader(io.StringIO(table)), start=1)
    return [block.text for block in rows_to_blocks(rows, **options)]  # type: ignore[arg-type]


ITEMS = "Item,Qty,Price\nKelp,4,5.50\nAgar,1,7.20"
NAMED = ["Item | Qty | Price", "Item: Kelp | Qty: 4 | Price: 5.50", "Item: Agar | Qty: 1 | Price: 7.20"]

ABOVE = {
    "nothing": ("", []),
    "a title": ("Prices of the store\n", ["Prices of the store"]),
    "a title and an empty row": ("Prices of the store\n\n", ["Prices of the store"]),
    "a form": ("Customer,Ada\nCity,Bremen\n\n", ["Customer | Ada", "City | Bremen"]),
    "a form without an empty row": (
        "Customer,Ada\nDate,2027-01-05\nOrder,4711\n",
        ["Customer | Ada", "Date | 2027-01-05", "Order | 4711"],
    ),
    "a form with colons": ("Customer:,Ada,,No:,4711\n\n", ["Customer: Ada | No: 4711"]),
    "a preamble of several widths": (
        "Report\nMade by,Tool\nBetween,2027-01-01,2027-01-31\n\n",
        ["Report", "Made by | Tool", "Between | 2027-01-01 | 2027-01-31"],
    ),
    "a date of export": ("Export of 2027-01-05\n\n", ["Export of 2027-01-05"]),
}


@pytest.mark.parametrize("above", ABOVE)
def test_names_stand_below(above: str) -> None:
    rows, read = ABOVE[above]
    four_columns = "Between" in rows
    table = ITEMS.replace("\n", ",x\n") + ",x" if four_columns else ITEMS

    assert [text.replace(" | x: x", "").replace(" | x", "") for text in texts(rows + table)] == [
        *read,
        *NAMED,
    ]


@pytest.mark.parametrize(
    ("table", "last"),
    [
        (",2026,,2027,\nItem,Net,Gross,Net,Gross\nKelp,5,6,7,8\nAgar,1,2,3,4", "2026 Gross: 2 | 2027 Net: 3"),
        ("Item,Price,,Stock\n,net,gross,\nKelp,5,6,7\nAgar,1,2,3", "Price net: 1 | Price gross: 2 | Stock: 3"),
        ("Item,Net price,Stock\n,EUR,pcs\nKelp,5,6\nAgar,1,2", "Item: Agar | Net price EUR: 1 | Stock pcs: 2"),
        ("Region,2026,,2027,\n,Plan,Actual,Plan,Actual\nNorth,5,6,7,8\nEast,1,2,3,4", "2026 Actual: 2 | 2027 P"),
        ("Region,Sales,,Staff,\n,EUR,pcs,all,new\nNorth,5,6,7,8\nSouth,1,2,3,4", "Sales EUR: 1 | Sales pcs: 2"),
        ("Region,2024,2025,2026\nNorth,5,6,7\nSouth,8,9,10", "Region: South | 2024: 8 | 2025: 9 | 2026: 10"),
        ("Name,Born\nAda,1815-12-10\nBob,1900-01-01", "Name: Bob | Born: 1900-01-01"),
        ('Item,Price\nKelp,5.50 EUR\nAgar,"1.234,50 €"', "Item: Agar | Price: 1.234,50 €"),
        ("Depot,Load,State\nKiel,n/a,open\nLund,5,open\nOslo,7,shut", "Depot: Oslo | Load: 7 | State: shut"),
        ("Item,Ratio\nKelp,#DIV/0!\nAgar,0.5\nNori,#N/A", "Item: Nori | Ratio: #N/A"),
        ("Term,Meaning\nKelp,A brown alga\nDulse,A red alga", "Term: Dulse | Meaning: A red alga"),
        (",Name,Age\n0,Ada,36\n1,Bob,40", "1 | Name: Bob | Age: 40"),
    ],
)  # fmt: skip
def test_names_on_one_line_or_two(table: str, last: str) -> None:
    assert last in texts(table)[-1]


@pytest.mark.parametrize(
    "form",
    [
        "Customer,Ada Quill\nDate,2027-01-05\nOrder no,4711\nPaid,no",
        "Customer:,Ada Quill\nCity:,Bremen\nContact:,Bob",
        "1,2\n3,4",
        "Name,Ada Quill\nAge,36\nCity,Bremen\nSalary,50000",
        "Where is the depot?,In Kiel.\nWho pays?,The customer.\nWhen?,In May.",
    ],
)
def test_a_form_has_no_names_of_columns(form: str) -> None:
    assert texts(form) == [line.replace(":,", ": ").replace(",", " | ") for line in form.splitlines()]


def test_merged_names_hold_for_all_their_columns() -> None:
    rows = [(1, ["Sales", "", "", "", ""]), (3, ["", "Q1", "", "Q2", ""])]
    rows += [(4, ["Region", "Plan", "Actual", "Plan", "Actual"]), (5, ["North", "1", "2", "3", "4"])]
    merged = {1: [(0, 4)], 3: [(1, 2), (3, 4)]}

    blocks = list(rows_to_blocks(rows, sheet="Sales", merged=merged))

    assert blocks[-1].text == "Region: North | Q1 Plan: 1 | Q1 Actual: 2 | Q2 Plan: 3 | Q2 Actual: 4"
    assert (blocks[0].kind, blocks[-1].heading_path) == (BlockKind.HEADING, ("Sales",))


def test_tables_of_a_sheet_have_names_of_their_own() -> None:
    assert (
        texts(f"{ITEMS}\nDulse,3,9\n\nCity,Depot\nKiel,North\nOslo,Fjord")[-1] == "City: Oslo | Depot: Fjord"
    )


@pytest.mark.parametrize("first", ["", "Prices\n"])
def test_a_table_right_below_another_has_names_of_its_own(first: str) -> None:
    assert texts(f"{first}{ITEMS}\nDepots\nCity,Depot,Staff\nKiel,North,12\nOslo,Fjord,4")[-4:] == [
        "Depots",
        "City | Depot | Staff",
        "City: Kiel | Depot: North | Staff: 12",
        "City: Oslo | Depot: Fjord | Staff: 4",
    ]


def test_a_group_of_rows_stays_in_its_table() -> None:
    assert texts(f"{ITEMS}\nRed ones\nDulse,3,9\nNori,1,2")[-2:] == [
        "Item: Dulse | Qty: 3 | Price: 9",
        "Item: Nori | Qty: 1 | Price: 2",
    ]


def test_the_first_line_above_a_table_is_its_title() -> None:
    table = f"Store of kelp\nAs of: 5 May\nMade by: Ada\n\n{ITEMS}"

    headings = [
        block.text
        for block in rows_to_blocks(enumerate(csv.reader(io.StringIO(table)), start=1), sheet="Store")
        if block.kind is BlockKind.HEADING
    ]

    assert headings == ["Store of kelp"]


def test_rows_below_an_empty_one_keep_the_names_that_fit() -> None:
    below = texts(f"{ITEMS}\n\nDulse,3,9\nNori,1,2\n\nSource: ministry\n\nPrepared by,Ada\n\nTotal,,12.70")

    assert below[3:] == [
        "Item: Dulse | Qty: 3 | Price: 9",
        "Item: Nori | Qty: 1 | Price: 2",
        "Source: ministry",
        "Prepared by | Ada",
        "Item: Total | Price: 12.70",
    ]


def test_a_row_that_the_file_shows_as_names_is_believed() -> None:
    two_tables = "Item,Price\nKelp,5\n\nCity,Depot,Staff\nKiel,North,12\nOslo,Fjord,4"

    assert texts(two_tables)[1] == "Kelp | 5"
    assert texts(two_tables, marked={1})[1] == "Item: Kelp | Price: 5"


def test_thousands_of_rows_apart_are_read_in_a_moment() -> None:
    rows = [(2 * number, [f"a{number}", "b", "c"]) for number in range(20_000)]

    assert len(list(rows_to_blocks(rows))) == 20_000


def test_a_long_cell_costs_no_time() -> None:
    began = time.process_time()
    assert len(texts(f"Item,Price\nKelp,{'-' * 100_000}34\nAgar,5\nNori,{'#a' * 50_000}")) == 4
    assert time.process_time() - began < 5
