"""Where the column names of a table stand: below a title or a form, on one line or on several. Pure.

A row is the text of its filled cells by column.
"""

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice, pairwise

NOT_CALCULATED = "not calculated"
"""Stands in the place of a formula whose value is not stored."""
Row = Mapping[int, str]
Spans = Mapping[int, Sequence[tuple[int, int]]]
"""For the index of a row, the first and the last column of each of its merged cells."""

_NUMBER = re.compile(
    r"[-+(]?\s*(?:[A-Z]{3}\s|[^\w\s.,()+-]\s?)?[-+]?\d[\d\s.,:/'\u2019_-]*(?:[eE][-+]?\d+)?\s?(?:%|‰|[A-Z]{3}|[^\w\s.,()+-])?\)?"
)
_DATE = re.compile(
    r"(?:\d{4}[-/.]\d{1,2}(?:[-/.]\d{1,2})?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})(?:[ T]\d{1,2}:\d{2}(?::\d{2})?)?"
    r"|\d{1,2}:\d{2}(?::\d{2})?"
)
_EMPTY = re.compile(
    r"(?=.{0,15}\Z)\W*(?:[^\W\d]{1,2}|n\W?/?\W?a|k\W?\s?a|nan|null|none|#\w+[/\w]*)?\W*", re.IGNORECASE
)
"""What stands in the place of a value that is missing."""
_YEAR_OR_DATE = re.compile(rf"(?:19|20|21)\d\d|{_DATE.pattern}")
_SENTENCE_ENDS = ".?!\u3002\uff1f"
_LONGEST_NAME, _LONGEST_NUMBER = 100, 50
_SCANNED = 30
"""So many rows are looked at below a row that may hold the names, and above the table."""
_MOSTLY, _FITTING, _COVERED = 2 / 3, 1 / 2, 0.9
_LARGEST_FORM, _LEAST_DATA_ROWS, _PAIR = 15, 3, 2
_MOST_LINES = 3


class Kind(StrEnum):
    TEXT = "text"
    NUMBER = "number"
    DATE = "date"


@dataclass(frozen=True, slots=True)
class Header:
    """The rows `first` to `last` hold the names of the columns; `values` are the columns of numbers and dates."""

    first: int
    last: int
    names: Mapping[int, str]
    values: frozenset[int]


def kind_of(cell: str) -> Kind:
    if cell.startswith(NOT_CALCULATED):
        return Kind.NUMBER
    if len(cell) > _LONGEST_NUMBER:
        return Kind.TEXT
    if _DATE.fullmatch(cell):
        return Kind.DATE
    return Kind.NUMBER if _NUMBER.fullmatch(cell) else Kind.TEXT


def find_header(
    rows: Sequence[Row], spans: Spans, *, marked: Container[int] = (), most_below: int = 0
) -> Header | None:
    """The header of a block of rows, None if it has none.

    `marked` are the rows that the file itself shows as names. `most_below` is the number of cells in the widest row
    further below: a short block above a wider one is a form or a preamble rather than a table.
    """
    kinds = [{column: kind_of(cell) for column, cell in row.items()} for row in rows]
    columns = [_values_below(kinds, index) for index in range(min(len(rows), _SCANNED))]
    place = _place_of_names(rows, kinds, columns, marked, most_below)
    if place is None:
        return None
    first = last = place
    while last - first < _MOST_LINES - 1 and _goes_on(rows, kinds, columns, spans, first, last + 1):
        last += 1
    while last - first < _MOST_LINES - 1 and first and _is_group(rows, spans, first - 1, last):
        first -= 1
    names = _names(rows[first : last + 1], {index - first: cells for index, cells in spans.items()})
    return Header(first, last, names, columns[last])


def _place_of_names(
    rows: Sequence[Row],
    kinds: Sequence[Mapping[int, Kind]],
    columns: Sequence[frozenset[int]],
    marked: Container[int],
    most_below: int,
) -> int | None:
    """The row of names that the file marks, else one with values below, else one of words alone."""
    for index in range(len(columns) - (len(columns) == len(rows))):
        if index in marked and _is_widest(rows, index):
            return index
    # Names with numbers or dates below some of them, which name as many cells as any.
    named = {
        index: covered
        for index in range(min(len(rows) - 1, _SCANNED))
        if (covered := _covered(rows, index)) >= _FITTING
        and _may_name(rows[index], kinds[index])
        and not columns[index].isdisjoint(rows[index])
        and _is_widest(rows, index)
    }
    most = max(named.values(), default=0.0)
    place = next((index for index, covered in named.items() if covered >= most * _COVERED), None)
    if _is_form(rows, kinds, place, most_below):
        return None
    return _of_words_alone(rows, kinds) if place is None else place


def _is_form(
    rows: Sequence[Row], kinds: Sequence[Mapping[int, Kind]], names: int | None, most_below: int
) -> bool:
    """Return True for labels and values: a form, whose first line names no columns."""
    labels = sum({cell.endswith(":") for cell in row.values()} == {True, False} for row in rows)
    if labels * 2 >= len(rows):
        return True
    widest = max(map(len, rows))
    if len(rows) > _LARGEST_FORM:
        return False
    pairs = filter(lambda pair: len(pair[0]) == _PAIR, zip(rows, kinds, strict=True))
    values = [of[max(row)] for row, of in islice(pairs, 1, None) if not _EMPTY.fullmatch(row[max(row)])]
    if widest == _PAIR and values and max(map(values.count, Kind)) < len(values) * _COVERED:
        return True
    return most_below > widest and (names is None or len(rows) - names <= _LEAST_DATA_ROWS)


def _values_below(kinds: Sequence[Mapping[int, Kind]], index: int) -> frozenset[int]:
    """The columns that hold mostly numbers and dates in the next rows."""
    counts: dict[int, list[int]] = {}
    for row in kinds[index + 1 : index + 1 + _SCANNED]:
        for column, kind in row.items():
            count = counts.setdefault(column, [0, 0])
            count[0] += kind is not Kind.TEXT
            count[1] += 1
    return frozenset(column for column, (values, cells) in counts.items() if values >= cells * _MOSTLY)


def _is_widest(rows: Sequence[Row], index: int) -> bool:
    """Return True for a row of several cells that has more of them than any row above."""
    return len(rows[index]) > 1 and all(len(row) < len(rows[index]) for row in rows[:index])


def _of_words_alone(rows: Sequence[Row], kinds: Sequence[Mapping[int, Kind]]) -> int | None:
    """The first row with several cells, where it may name those below; questions and sentences name nothing."""
    place = next((index for index, row in enumerate(rows) if len(row) > 1), len(rows))
    if place >= len(rows) - 1 or place >= _SCANNED:
        return None
    row = rows[place]
    for column, cell in row.items():
        below = [other[column][-1] for other in rows[place + 1 : place + 1 + _SCANNED] if column in other]
        if cell[-1] in _SENTENCE_ENDS and below.count(cell[-1]) * 2 > len(below):
            return None
    are_different = len(set(row.values())) == len(row)
    may_name = are_different and _may_name(row, kinds[place]) and _covered(rows, place) >= _FITTING
    return place if may_name else None


def _may_name(row: Row, kinds: Mapping[int, Kind]) -> bool:
    """Return True for at least two short cells of words, or for words and years or dates that rise or fall."""
    if len(row) < 2 or any(len(cell) > _LONGEST_NAME for cell in row.values()):
        return False
    values = [row[column] for column in sorted(row) if kinds[column] is not Kind.TEXT]
    if not values:
        return True
    is_run = all(a < b for a, b in pairwise(values)) or all(a > b for a, b in pairwise(values))
    are_dates = all(map(_YEAR_OR_DATE.fullmatch, values))
    return are_dates and is_run and len(values) > 1 and kinds[min(row)] is Kind.TEXT


def _covered(rows: Sequence[Row], index: int) -> float:
    """The share of the cells in the next rows that stand below a name."""
    below = [column for row in rows[index + 1 : index + 1 + _SCANNED] for column in row]
    return sum(column in rows[index] for column in below) / len(below) if below else 0.0


def _goes_on(
    rows: Sequence[Row],
    kinds: Sequence[Mapping[int, Kind]],
    columns: Sequence[frozenset[int]],
    spans: Spans,
    first: int,
    index: int,
) -> bool:
    """Return True for a further line of names: words below a merged name, or above numbers and dates alone."""
    if index >= min(len(rows) - 1, _SCANNED) or set(kinds[index].values()) != {Kind.TEXT}:
        return False
    above = rows[index - 1]
    wide = _wide(spans, first, index)
    fresh = [column for column, cell in rows[index].items() if above.get(column) != cell]
    if not fresh:
        return False
    if all(any(left <= column <= right for left, right in wide) for column in fresh):
        return True
    return min(above) not in fresh and all(column in columns[index] for column in fresh)


def _wide(spans: Spans, first: int, behind: int) -> list[tuple[int, int]]:
    """The merged cells over several columns in the rows from `first` up to `behind`."""
    return [span for row in range(first, behind) for span in spans.get(row, ()) if span[1] > span[0]]


def _is_group(rows: Sequence[Row], spans: Spans, index: int, last: int) -> bool:
    """Return True for a row above the names that names groups of columns; a title stands above all of them."""
    names, row = rows[last], rows[index]
    left, right = min(names), max(names)
    if len(row) >= len(names) or any(cell.endswith(":") for cell in row.values()):
        return False
    wide = _wide(spans, index, index + 1)
    if any(begin <= left and end >= right for begin, end in wide):
        return False
    repeats = len(set(names.values())) < len(names)
    return (repeats or bool(wide) or _names_others(rows, index, last)) and (len(row) > 1 or min(row) > left)


def _names_others(rows: Sequence[Row], index: int, last: int) -> bool:
    """Return True for a row that names columns of the table for which the line of names has nothing."""
    others = rows[index].keys() - rows[last].keys()
    below = {column for row in rows[last + 1 : last + 1 + _SCANNED] for column in row}
    return bool(others) and others <= below


def _names(lines: Sequence[Row], spans: Spans) -> dict[int, str]:
    """The names of all lines together; a merged name, or one with empty cells beside it, holds for several."""
    names: dict[int, list[str]] = {}
    leftmost = min(column for line in lines for column in line)
    for number, line in enumerate(lines):
        below = {column for other in lines[number + 1 :] for column in other if column > leftmost}
        for column, cell in _spread(line, below, spans.get(number, ()), leftmost):
            parts = names.setdefault(column, [])
            if cell not in parts:
                parts.append(cell)
    return {column: " ".join(names[column]) for column in sorted(names)}


def _spread(
    line: Row, below: Iterable[int], spans: Sequence[tuple[int, int]], leftmost: int
) -> Iterable[tuple[int, str]]:
    """The cells of a line; in all columns of a merged one, or up to the next one where names stand below."""
    merged = {
        column: line[left] for left, right in spans if left in line for column in range(left, right + 1)
    }
    cells = {**line, **merged}
    if not spans:
        for column in set(below) - line.keys():
            before = max((other for other in line if leftmost < other < column), default=None)
            if before is not None:
                cells[column] = line[before]
    return cells.items()
