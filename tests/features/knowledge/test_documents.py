"""The steps of reading documents."""

import datetime as dt
import io

import xlsxwriter
from pytest_bdd import parsers, scenarios, then, when

from tests.drivers.knowledge import KB, Scene, listed, upload
from tests.drivers.ways import Rest
from tests.parsing.making import assembled

scenarios("documents.feature")

ABOVE = {
    "nothing": "",
    "a title": "Prices of the store\n",
    "a form": "Customer,Ada\nCity,Bremen\nOrder,4711\n\n",
    "a date of export": "Export of 2027-01-05\n\n",
}


def text_of(rest: Rest, scene: Scene) -> str:
    return str(rest.request("GET", f"{KB}/file/{scene.hash}", "ann").json()["file"]["text"])


@when(parsers.parse("ann uploads a table of prices below {what}"))
def uploads_table(rest: Rest, scene: Scene, what: str) -> None:
    rows = "Item,Price,Stock\nKelp,5.50 EUR,4\nAgar,7.20 EUR,1\n"
    upload(rest, scene, [("file", "prices.csv", (ABOVE[what] + rows).encode())])


@when('ann uploads a workbook that shows "00042", "19 %" and "05.01.2027"')
def uploads_workbook(rest: Rest, scene: Scene) -> None:
    out = io.BytesIO()
    book = xlsxwriter.Workbook(out)
    sheet = book.add_worksheet()
    since = dt.datetime(2027, 1, 5)  # noqa: DTZ001 - a cell has no zone
    sheet.write_row(0, 0, ["Code", "Tax", "Since"])
    for column, (code, value) in enumerate({"00000": 42, "0 %": 0.19, "dd.mm.yyyy": since}.items()):
        sheet.write(1, column, value, book.add_format({"num_format": code}))
    book.close()
    upload(rest, scene, [("file", "stock.xlsx", out.getvalue())])


@when("ann uploads a workbook with a formula that nobody has calculated")
def uploads_formula(rest: Rest, scene: Scene) -> None:
    out = io.BytesIO()
    book = xlsxwriter.Workbook(out)
    sheet = book.add_worksheet()
    sheet.write_row(0, 0, ["Net", "Gross"])
    sheet.write(1, 0, 5)
    sheet.write_formula(1, 1, "=A2*1.19", None, "")
    book.close()
    upload(rest, scene, [("file", "bill.xlsx", out.getvalue())])


@when(parsers.parse('ann uploads a form whose page says "{page}" and whose field says "{value}"'))
def uploads_form(rest: Rest, scene: Scene, page: str, value: str) -> None:
    shown = f"BT /F1 12 Tf 72 700 Td ({page}) Tj ET"
    data = (
        '<x:datasets xmlns:x="http://www.xfa.org/schema/xfa-data/1.0/"><x:data><form>'
        f"<Sponsor>{value}</Sponsor></form></x:data></x:datasets>"
    )
    objects = [
        "<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [] /XFA 6 0 R >> /NeedsRendering true >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        ("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 4 0 R >> >> "
        "/Contents 5 0 R >>"),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        f"<< /Length {len(shown)} >>\nstream\n{shown}\nendstream",
        f"<< /Length {len(data)} >>\nstream\n{data}\nendstream",
        "<< >>",
    ]  # fmt: skip
    upload(rest, scene, [("file", "form.pdf", assembled(objects))])


@then(parsers.parse('the file says "{words}"'))
def says(rest: Rest, scene: Scene, words: str) -> None:
    assert words in text_of(rest, scene)


@then(parsers.parse('the file does not say "{words}"'))
def says_not(rest: Rest, scene: Scene, words: str) -> None:
    assert words not in text_of(rest, scene)


@then(parsers.parse('it is ready, with a warning about "{word}"'))
def warns(rest: Rest, scene: Scene, word: str) -> None:
    (file,) = listed(rest, scene)
    assert file["status"] == "ready"
    assert [word in warning for warning in file["warnings"]] == [True]
