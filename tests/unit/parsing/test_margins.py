"""Running headers, footers and page numbers: by what returns at the same height of many pages."""

from collections.abc import Sequence

from adapters.outbound.knowledge.parsing.pdf.margins import Edge, margins

BODY = (0.14, 0.16, 0.18)


def edges(
    pages: int, *margin: tuple[float, str], body: Sequence[float] = BODY, size: float = 0.015
) -> list[Edge]:
    """`{}` in a margin's text is the page's printed number, three ahead of its place."""
    found = []
    for page in range(pages):
        texts = [(height, text.format(page + 3)) for height, text in margin]
        texts += [(height, f"words of page {'abcdefgh'[page % 8]} at {height}") for height in body]
        found += [Edge(page, line, text, height, size) for line, (height, text) in enumerate(texts)]
    return found


def lines(found: set[tuple[int, int]]) -> set[int]:
    return {line for _, line in found}


def test_headers_and_page_numbers_are_found_on_all_pages() -> None:
    for text in ("Harbour rules", "{}", "Page {} of 10", "- {} -", "Harbour rules {}", "{} Harbour rules"):
        found = margins(edges(4, (0.06, text)))
        assert found == {(page, 0) for page in range(4)}, text


def test_two_pages_are_too_few() -> None:
    assert margins(edges(2, (0.06, "Harbour rules"), (0.95, "{}"))) == set()


def test_headers_that_differ_on_even_and_odd_pages() -> None:
    made = edges(8, (0.06, "{}"))
    turned = [
        Edge(
            e.page,
            e.line,
            f"{e.text} HARBOUR RULES" if e.page % 2 else f"1.2 FEES {e.text}",
            e.height,
            e.size,
        )
        if e.line == 0
        else e
        for e in made
    ]
    assert margins(turned) == {(page, 0) for page in range(8)}


def test_roman_numbers_count_pages_too() -> None:
    made = [
        Edge(page, 0, text, 0.95, 0.015) for page, text in enumerate(("i", "ii", "iii", "iv", "v"))
    ] + edges(5)
    assert margins(made) == {(page, 0) for page in range(5)}


def test_a_chapter_too_short_to_return_is_known_by_its_page_number() -> None:
    made = edges(6, (0.06, "Chapter 2 Mooring {}"))
    short = [
        Edge(e.page, e.line, "Chapter 3 Fees 5", e.height, e.size) if (e.page, e.line) == (2, 0) else e
        for e in made
    ]
    assert margins(short) == {(page, 0) for page in range(6)}


def test_the_head_of_a_table_on_each_page_stays() -> None:
    assert margins(edges(5, (0.12, "Berth | Length | Price"))) == set()


def test_rows_of_a_table_that_return_beside_others_stay() -> None:
    assert (
        margins(
            [*edges(5, (0.06, "paid")), *(Edge(p, 9, f"Ship {'abcde'[p]}", 0.06, 0.015) for p in range(5))]
        )
        == set()
    )


def test_headings_that_count_up_on_each_page_stay() -> None:
    titles = ("Arrival", "Mooring", "Fees", "Fines", "Departure")
    made = [Edge(page, 0, f"{page + 1} {title}", 0.1, 0.015) for page, title in enumerate(titles)] + edges(5)
    assert margins(made) == set()


def test_captions_that_count_up_on_each_page_stay() -> None:
    assert margins(edges(5, (0.08, "Table {}"))) == set()


def test_numbers_that_do_not_count_the_pages_stay() -> None:
    made = [
        Edge(page, 0, number, 0.06, 0.015) for page, number in enumerate(("17", "4", "99", "23"))
    ] + edges(4)
    assert margins(made) == set()


def test_what_returns_in_the_middle_of_the_page_stays() -> None:
    assert margins(edges(5, (0.4, "The berth is free."), body=(0.5, 0.52))) == set()


def test_a_large_line_is_the_title_of_a_slide() -> None:
    made = edges(5)
    titles = [Edge(page, 9, "Results", 0.06, 0.04) for page in range(5)]
    assert margins([*made, *titles]) == set()


def test_a_line_that_returns_now_and_then_stays() -> None:
    made = [*edges(40), *(Edge(page, 9, "Signature", 0.95, 0.015) for page in (0, 18, 39))]
    assert margins(made) == set()


def test_several_lines_of_header_and_footer() -> None:
    made = edges(4, (0.04, "Port authority"), (0.06, "Harbour rules"), (0.93, "Recycled paper"), (0.96, "{}"))
    assert lines(margins(made)) == {0, 1, 2, 3}
