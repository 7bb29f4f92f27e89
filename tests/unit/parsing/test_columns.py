"""Columns that were drawn row by row, and what only looks like them."""

from collections.abc import Sequence

from adapters.outbound.knowledge.parsing.pdf.reading_order import Word, in_reading_order

TEXT = (
    "the pilot boards at buoy seven and stays on board until the ship lies at its berth where the harbour master "
    "asks for the length of the ship and for its papers before any of the crew may go on land and before cargo is "
    "moved from the ship to the quay which takes a day or two when the weather is fair and a week when it is not"
)


def column(start: int, rows: int = 6) -> list[str]:
    return [" ".join(TEXT.split()[start + 4 * row : start + 4 * row + 4]) for row in range(rows)]


def words(*rows: Sequence[tuple[float, str]]) -> list[Word]:
    """Rows of `(left, text)`, drawn in this order; a letter is 5 wide, a line 12 high."""
    drawn: list[Word] = []
    for number, row in enumerate(rows):
        for left, text in row:
            for word in text.split():
                right = left + 5 * len(word)
                drawn.append(Word(word, left, right, number * 12.0, 11.0, len(drawn), number))
                left = right + 3
    return drawn


def beside(*columns: Sequence[str], width: float = 180) -> list[list[tuple[float, str]]]:
    return [[(number * width, text) for number, text in enumerate(row)] for row in zip(*columns, strict=True)]


def read(*rows: Sequence[tuple[float, str]]) -> list[str] | None:
    lines = in_reading_order(words(*rows))
    return None if lines is None else [line.text for line in lines]


LEFT, MIDDLE, RIGHT = column(0), column(24), column(12)


def test_two_columns_are_read_one_after_the_other() -> None:
    assert read(*beside(LEFT, RIGHT)) == [*LEFT, *RIGHT]


def test_three_columns() -> None:
    assert read(*beside(LEFT, MIDDLE, RIGHT)) == [*LEFT, *MIDDLE, *RIGHT]


def test_a_heading_and_a_footnote_across_the_columns_stay_above_and_below() -> None:
    heading, footnote = (
        "The rules of the harbour and of all the ships in it",
        "All of this holds from now on for all ships here",
    )
    assert read([(40, heading)], *beside(LEFT, RIGHT), [(0, footnote)]) == [heading, *LEFT, *RIGHT, footnote]


def test_columns_whose_lines_are_not_at_one_height() -> None:
    rows = [
        part for left, right in zip(LEFT, RIGHT, strict=True) for part in ([(0.0, left)], [(180.0, right)])
    ]
    drawn = in_reading_order(words(*rows))
    assert drawn is None  # each line 12 below the last: one column with an indent
    uneven = [
        Word(w.text, w.left, w.right, w.line // 2 * 12.0 + w.line % 2 * 5, w.size, w.place, w.line)
        for w in words(*rows)
    ]
    lines = in_reading_order(uneven)
    assert lines is not None
    assert [line.text for line in lines] == [*LEFT, *RIGHT]


def test_a_word_cut_at_the_end_of_a_column_line_is_whole() -> None:
    left = [*LEFT[:2], "stays here and recog-", "nises the buoy then", *LEFT[4:]]
    lines = read(*beside(left, RIGHT))
    assert lines is not None
    assert "stays here and recognises the buoy then" in lines


def test_a_table_stays_in_rows() -> None:
    names = ["Ship", "Northern Star", "Grey Gull", "Albatross", "Sea Horse", "Old Peter"]
    ports = ["Home port", "Aberwyth", "Port Nowhere", "Hull", "Leith", "Cork"]
    fees = ["Fee", "120", "95", "180", "77", "12"]
    assert read(*beside(names, ports, fees)) is None


def test_a_table_of_texts_stays_in_rows() -> None:
    faults = [
        "The lamp is dark at night",
        "The horn is silent in fog",
        "The door is stuck in frost",
        "The boat leaks a little",
    ]
    helps = [
        "Replace the lamp at once",
        "Clean the horn with oil",
        "Warm the door with care",
        "Call the boat builder now",
    ]
    assert read(*beside(faults, helps)) is None


def test_columns_drawn_one_after_the_other_stay_as_they_are() -> None:
    rows = [[(0.0, text)] for text in LEFT] + [[(180.0, text)] for text in RIGHT]
    drawn = [
        Word(w.text, w.left, w.right, w.line % len(LEFT) * 12.0, w.size, w.place, w.line)
        for w in words(*rows)
    ]
    assert in_reading_order(drawn) is None


def test_one_column_stays_as_it_is() -> None:
    assert read(*([(0.0, f"{left} {right}")] for left, right in zip(LEFT, RIGHT, strict=True))) is None


def test_the_two_parties_of_a_form() -> None:
    seller, buyer = (
        ["Seller:", "Ann Lee", "1 High Street", "Aberwyth"],
        ["Buyer:", "Bob & Co", "5 Low Road", "Leith"],
    )
    assert read(*beside(seller, buyer)) == [*seller, *buyer]


def test_labels_and_values_stay_in_rows() -> None:
    assert (
        read(*beside(["Name:", "Street:", "Town:", "Land:"], ["Ann Lee", "High Street", "Aberwyth", "Wales"]))
        is None
    )
