"""Tables of contents and indexes: lists whose numbers lead to their words."""

from adapters.outbound.knowledge.parsing.pdf.pages import contents

SECTIONS = ("Arrival", "Mooring", "Fees", "Fines", "Departure")
BODY = [
    [f"{number} {title}", f"All about {title.lower()} in many words."]
    for number, title in enumerate(SECTIONS, 1)
]


def test_numbers_that_lead_to_headings_make_contents() -> None:
    plain = [f"{number} {title} {number + 1}" for number, title in enumerate(SECTIONS, 1)]
    dotted = [f"{title} . . . . . . {number}" for number, title in enumerate(SECTIONS, 1)]
    for listed in (plain, dotted):
        assert contents([["What is in here", *listed], *BODY]) == {0: [range(1, 6)]}


def test_the_title_above_belongs_to_them() -> None:
    listed = [f"{title} ..... {number}" for number, title in enumerate(SECTIONS, 1)]
    assert contents([["Harbour rules", "Inhaltsverzeichnis", *listed], *BODY]) == {0: [range(1, 7)]}


def test_under_their_title_dots_and_growing_numbers_are_enough() -> None:
    listed = [f"{title} ..... {number * 7}" for number, title in enumerate(SECTIONS, 1)]
    assert contents([["Contents", *listed], ["Something else."]]) == {0: [range(6)]}


def test_a_price_list_with_dots_is_none() -> None:
    prices = [
        f"{thing} ......... {price}"
        for thing, price in (("Rope", 12), ("Anchor", 90), ("Flag", 7), ("Oil", 3))
    ]
    assert contents([["Price list", *prices], ["We sell ropes."], ["Anchor"], ["Oil"]]) == {}


def test_a_table_of_numbers_is_none() -> None:
    rows = [f"{title} 17 568 14 530 {number}" for number, title in enumerate(SECTIONS, 1)]
    assert contents([rows, *BODY]) == {}


def test_clauses_with_numbers_are_none() -> None:
    clauses = [f"Ships pay the fee that is set out in section {number}" for number in range(1, 9)]
    assert contents([clauses, *BODY]) == {}


def words(page: int) -> list[str]:
    names = ("anchor", "berth", "crane", "dock", "engine", "flag", "gangway", "harbour", "inlet", "jetty")
    return [f"Here the {names[page]} is told of.", f"Nothing else stands on page {page}."]


INDEX = [
    "Anchor, 1",
    "berth, 2",
    "Crane, 3, 5",
    "dock, 4",
    "Engine, 5\u20136",
    "flag, 6",
    "Gangway, 7",
    "harbour, 8",
]


def test_an_index_leads_to_words_in_the_text() -> None:
    pages = [words(page) for page in range(10)]
    assert contents([["Cover"], *pages, INDEX]) == {11: [range(8)]}


def test_a_list_of_names_with_numbers_is_no_index() -> None:
    pages = [words(page) for page in range(10)]
    extensions = [
        f"{name}, {number}" for name, number in zip("ABCDEFGH", (12, 17, 9, 44, 31, 5, 28, 60), strict=True)
    ]
    assert contents([*pages, [f"Dr. {line}" for line in extensions]]) == {}
