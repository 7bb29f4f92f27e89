"""Numbers as a spreadsheet shows them."""

import pytest

from adapters.outbound.knowledge.parsing.number_formats import displayed, with_text

ACCOUNTS = '_-* #,##0.00 "€"_-;-* #,##0.00 "€"_-;_-* "-"?? "€"_-;_-@_-'


@pytest.mark.parametrize(
    ("value", "code", "shown"),
    [
        (0.19, "0%", "19%"),
        (0.19, "0 %", "19 %"),
        (0.195, "0.0%", "19.5%"),
        (42, "00000", "00042"),
        (1234.5, "#,##0.00", "1,234.50"),
        (1234.5, '#,##0.00 "EUR"', "1,234.50 EUR"),
        (1234.5, "#,##0.00 [$€-407]", "1.234,50 €"),
        (1234567, "#,##0 [$€-40C]", "1 234 567 €"),
        (1234.5, "[$$-409]#,##0.00", "$1,234.50"),
        (-1234.5, "#,##0.00;(#,##0.00)", "(1,234.50)"),
        (-5, "0;[Red]-0", "-5"),
        (0, '0;-0;"-"', "-"),
        (12, ACCOUNTS, "12.00 €"),
        (-12, ACCOUNTS, "-12.00 €"),
        (0, ACCOUNTS, "- €"),
        (46082, "yyyy-mm-dd", "2026-03-01"),
        (46082, "dd.mm.yyyy", "01.03.2026"),
        (46082, "[$-407]dddd, d. mmmm yyyy", "Sunday, 1. March 2026"),
        (46082.5, "dd/mm/yy hh:mm", "01/03/26 12:00"),
        (46082.9999999, "yyyy-mm-dd hh:mm", "2026-03-02 00:00"),
        (1.5, "[h]:mm", "36:00"),
        (0.75, "h:mm AM/PM", "6:00 PM"),
        (0.0005, "mm:ss", "00:43"),
        (12345, "0.00E+00", "1.23E+04"),
        (1.5, "# ?/?", "1 1/2"),
        (5551234567, "(000) 000-0000", "(555) 123-4567"),
        (1500000, '0.0,,"M"', "1.5M"),
        (1.005, "0.00", "1.01"),
        (150, '[>100]"high";[<=100]"low"', "high"),
        (5, '0" kg"', "5 kg"),
        (0.1 + 0.2, "General", "0.3"),
        (4006381333931, "General", "4006381333931"),
        (5, ";;;", "5"),
        (-3, "yyyy", "-3"),
    ],
)
def test_a_number_is_shown_as_its_format_says(value: float, code: str, shown: str) -> None:
    assert displayed(float(value), code) == shown


def test_the_calendar_may_begin_in_1904() -> None:
    assert displayed(44620.0, "yyyy-mm-dd", from_1904=True) == "2026-03-01"


def test_a_text_is_shown_as_its_format_says() -> None:
    assert [with_text("7", code) for code in ("@", "General", '"No. "@', '0;0;0;"<"@">"')] == [
        "7",
        "7",
        "No. 7",
        "<7>",
    ]


@pytest.mark.parametrize(
    "code", ["0." + "0" * 1_000_000, "[" * 100_000, '"' * 99_999, ";" * 99_999, "# ?/" * 50_000, "\\"]
)
def test_a_hostile_format_costs_nothing(code: str) -> None:
    for value in (1e308, -1e-300, 0.0, float("inf"), float("nan")):
        displayed(value, code)
