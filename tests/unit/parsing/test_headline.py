"""The title on a first page: its largest line."""

from adapters.outbound.knowledge.parsing.pdf.headline import Line, headline

WORDS = "The pilot boards at buoy seven and leaves at buoy nine, whatever the weather is."


def page(*lines: tuple[str, float]) -> list[Line]:
    placed, top = [], 50.0
    for text, size in (*lines, *((WORDS, 10.0),) * 6):
        placed.append(Line(text, top, size))
        top += size * 1.2
    return placed


def test_the_largest_line_is_the_title() -> None:
    assert (
        headline(page(("Port authority", 12.0), ("Harbour rules", 20.0), ("Edition of 2024", 14.0)))
        == "Harbour rules"
    )


def test_a_title_over_several_lines_is_joined() -> None:
    assert headline(
        page(("Rules of the harbour", 20.0), ("and of its  lighthouse", 20.0), ("Ann Lee", 12.0))
    ) == ("Rules of the harbour and of its lighthouse")


def test_lines_that_are_all_alike_have_no_title_among_them() -> None:
    assert headline(page(("Dear Ann,", 10.0))) == ""


def test_the_name_of_a_journal_is_not_the_title_of_a_paper() -> None:
    journal = ("Journal of Harbour Studies", 24.0)
    assert headline(page(journal, ("On buoys", 18.0))) == "On buoys"
    assert headline(page(journal)) == "Journal of Harbour Studies"
    assert headline(page(("Vol. 12, No. 3", 24.0), ("On buoys", 18.0))) == "On buoys"


def test_text_along_the_edge_is_no_title() -> None:
    stamp = Line("arXiv:2401.00001v1 [cs.CL] 1 Jan 2024", 400.0, 30.0, upright=False)
    assert headline([stamp, *page(("On buoys", 18.0))]) == "On buoys"


def test_numbers_initials_and_general_words_are_no_titles() -> None:
    for word in ("7", "W", "2024", "Contents", "Chapter 3", "1. Einleitung"):
        assert headline(page((word, 30.0), ("On buoys", 18.0)), ["1. Einleitung"]) == "On buoys", word


def test_a_numbered_section_is_no_title() -> None:
    assert headline(page(("1 Introduction to buoys", 20.0)), ["Introduction to buoys"]) == ""
    assert headline(page(("12 Angry Men", 20.0))) == "12 Angry Men"
