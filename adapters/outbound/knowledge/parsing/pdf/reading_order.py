"""Lines of a page in reading order: text drawn row by row across columns, and lines drawn late. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby, pairwise, zip_longest
from operator import attrgetter
from statistics import fmean, median

_GAP, _BLANK = 0.7, 0.3
"""From this share of the letters' size on, a gap may be one between columns."""
_NEAR, _SIDEWAYS_SHARE = 1.5, 0.2
_LEAST_LINES, _MOST_COLUMNS, _MOST_CELLS = 4, 5, 3_000
_STEP, _PEAK = 2.0, 0.5
_LEAST_CHARS, _LEAST_WORDS = 16, 2.5
_LETTERS, _FULL_LINE, _GOES_ON, _CLOSE = 0.75, 0.6, 0.25, 0.75
_PITCH, _MAIN_SHARE = 1.8, 0.5


@dataclass(frozen=True, slots=True)
class Word:
    """A word in the order of drawing; `place` tells its first character, `line` the line that it is on."""

    text: str
    left: float
    right: float
    top: float
    size: float
    place: int
    line: int


Cell = Word
"""Words of one line without a wide gap between them."""


def in_reading_order(words: Sequence[Word]) -> list[Cell] | None:
    """The lines of the page; None if no text is drawn across columns, so that the order of drawing stands."""
    cells = _cells(words)
    if not _LEAST_LINES < len(cells) <= _MOST_CELLS or _sideways(cells) < len(cells) * _SIDEWAYS_SHARE:
        return None
    middles = _middles(cells)
    if not 0 < len(middles) < _MOST_COLUMNS:
        return None
    cells = _cells(words, middles)
    lines: list[Cell] = []
    across = 0
    for band in _bands(cells, middles):
        columns = _columns(band, middles)
        if _are_read_down(columns) and _alternates(band, middles):
            across += len(band)
            lines += chain.from_iterable(map(_joined, columns))
        else:
            drawn = groupby(sorted(band, key=attrgetter("place")), key=attrgetter("line"))
            lines += [_as_one(list(line)) for _, line in drawn]
    return lines if across > len(cells) * _MAIN_SHARE else None


def _sideways(cells: Sequence[Cell]) -> int:
    """How often the drawing goes on beside what was drawn last instead of below it."""
    return sum(
        abs(after.top - before.top) < after.size * _NEAR
        and (after.left > before.right + after.size * _GAP or after.right < before.left)
        for before, after in pairwise(cells)
    )


def _cells(words: Sequence[Word], middles: Sequence[float] = ()) -> list[Cell]:
    """Words of a line up to a wide gap, or to one that is wider than a blank and lies between known columns."""
    groups: list[list[Word]] = []
    for word in words:
        last = groups[-1][-1] if groups else None
        goes_on = False
        if last and word.line == last.line:
            gap = word.left - last.right
            is_between = any(last.right <= middle <= word.left for middle in middles)
            is_narrow = gap <= word.size * _BLANK or not is_between
            goes_on = is_narrow and -word.size < gap < word.size * _GAP
        if goes_on:
            groups[-1].append(word)
        else:
            groups.append([word])
    return [_as_one(group) for group in groups]


def _as_one(words: Sequence[Word]) -> Cell:
    if len(words) == 1:
        return words[0]
    right = max(word.right for word in words)
    return replace(words[0], text=" ".join(word.text for word in words), right=right)


def _middles(cells: Sequence[Cell]) -> list[float]:
    """The middles of the gaps between columns, from the left: where most cells have a gap before the next one."""
    beside = list(_gaps_beside(cells))
    if len(beside) < _LEAST_LINES:
        return []
    first = min(left for left, _ in beside)
    counts = [0] * (int((max(right for _, right in beside) - first) / _STEP) + 2)
    for left, right in beside:
        for step in range(int((left - first) / _STEP) + 1, int((right - first) / _STEP) + 1):
            counts[step] += 1
    least = max(_LEAST_LINES, max(counts) * _PEAK)
    peaks = groupby(range(len(counts)), key=lambda step: counts[step] >= least)
    runs = [list(run) for is_peak, run in peaks if is_peak]
    size = median(map(attrgetter("size"), cells))
    edges = [(first + run[0] * _STEP, first + (run[-1] + 1) * _STEP) for run in runs]
    return [(left + right) / 2 for left, right in edges if right - left >= size * _GAP / 2]


def _bands(cells: Sequence[Cell], middles: Sequence[float]) -> Iterator[list[Cell]]:
    """From the top: runs of cells within columns, and runs of cells across them."""
    ordered = sorted(cells, key=lambda cell: (round(cell.top), cell.left))
    for _, band in groupby(
        ordered, key=lambda cell: any(cell.left < middle < cell.right for middle in middles)
    ):
        yield list(band)


def _gaps_beside(cells: Sequence[Cell]) -> Iterator[tuple[float, float]]:
    """For each cell the gap up to the nearest one at its right."""
    ordered = sorted(cells, key=lambda cell: cell.top)
    for place, cell in enumerate(ordered):
        nearest = None
        for step in (-1, 1):
            at = place + step
            while 0 <= at < len(ordered) and abs(ordered[at].top - cell.top) < cell.size:
                left = ordered[at].left
                if left >= cell.right and (nearest is None or left < nearest):
                    nearest = left
                at += step
        if nearest is not None and nearest - cell.right >= cell.size * _GAP:
            yield cell.right, nearest


def _alternates(band: Sequence[Cell], middles: Sequence[float]) -> bool:
    """Return True if the drawing goes from column to column and back, instead of down one and then the next."""
    drawn = sorted(band, key=attrgetter("place"))
    columns = [sum(cell.left > middle for middle in middles) for cell in drawn]
    switches = sum(before != after for before, after in pairwise(columns))
    return switches >= len(drawn) * _SIDEWAYS_SHARE


def _columns(band: Sequence[Cell], middles: Sequence[float]) -> list[list[Cell]]:
    """The cells of each column that has some, from the top; those of one line together."""
    columns: list[list[Cell]] = []
    for left, right in pairwise((float("-inf"), *middles, float("inf"))):
        lines: list[Cell] = []
        for cell in (cell for cell in band if left <= cell.left < right):
            if lines and abs(cell.top - lines[-1].top) < cell.size / 2 and cell.left >= lines[-1].left:
                lines[-1] = replace(lines[-1], text=f"{lines[-1].text} {cell.text}", right=cell.right)
            else:
                lines.append(cell)
        if lines:
            columns.append(lines)
    return columns


def _are_read_down(columns: Sequence[Sequence[Cell]]) -> bool:
    """Return True if the columns hold prose or a label each; a table's cells do not."""
    if len(columns) < 2 or all(map(_is_prose, columns)):
        return len(columns) > 1
    # Each column has a label at its top and none below, as the parties of an invoice have.
    cells = [[line.text for line in column] for column in columns]
    labelled = all(column[0].endswith(":") and len(column) > 1 for column in cells)
    return labelled and not any(":" in text for column in cells for text in column[1:])


def _is_prose(lines: Sequence[Cell]) -> bool:
    """Return True for text that goes on from line to line; a table's cells do not."""
    texts = [line.text for line in lines]
    letters = "".join(texts).replace(" ", "")
    width = max(map(attrgetter("right"), lines)) - min(map(attrgetter("left"), lines))
    if (
        len(lines) < _LEAST_LINES
        or fmean(map(len, texts)) < _LEAST_CHARS
        or sum(map(str.isalpha, letters)) < len(letters) * _LETTERS
        or median(line.right - line.left for line in lines) < width * _FULL_LINE
        or not _are_close(lines)
    ):
        return False
    starts = [text[0] for text in texts[1:]]
    has_case = any(map(str.islower, letters)) or any(map(str.isupper, letters))
    words = fmean(len(text.split()) for text in texts)
    return not has_case or (words >= _LEAST_WORDS and sum(map(str.islower, starts)) >= len(starts) * _GOES_ON)


def _are_close(lines: Sequence[Cell]) -> bool:
    """Return True if most lines follow at the distance of lines; a row's cells begin where the longest has ended."""
    steps = [after.top - before.top for before, after in pairwise(lines)]
    pitch = min(median(steps), lines[0].size * _PITCH)
    return sum(step <= pitch * _NEAR for step in steps) >= len(steps) * _CLOSE


def _joined(lines: Sequence[Cell]) -> Iterator[Cell]:
    """Lines of a column; a word that is cut at the end of one stands in the next."""
    carried: Cell | None = None
    for line, following in zip_longest(lines, lines[1:]):
        cell = replace(line, text=carried.text[:-1] + line.text, place=carried.place) if carried else line
        is_cut = cell.text.endswith("-") and cell.text[-2:-1].isalpha()
        carried = cell if is_cut and following and following.text[:1].islower() else None
        if not carried:
            yield cell


_OVERLAP, _BELOW = 0.5, 0.5
_MOST_LINES = 2_000


@dataclass(frozen=True, slots=True)
class Extent:
    """Where a line stands: its baseline from the top, its edges, and the size of its letters."""

    top: float
    left: float
    right: float
    size: float


def late_lines_moved(lines: Sequence[Extent]) -> list[int] | None:
    """The lines by their places in the order of drawing, late ones in front of what they stand above; None if no
    line is late. Lines beside each other keep their order, so that columns are read as they were drawn."""
    if len(lines) > _MOST_LINES:
        return None
    order: list[int] = []
    lowest = float("-inf")
    for place, line in enumerate(lines):
        at = len(order)
        if line.top < lowest - line.size * _BELOW:
            above = (index for index, other in enumerate(order) if _stands_above(line, lines[other]))
            at = next(above, at)
        order.insert(at, place)
        lowest = max(lowest, line.top)
    return None if order == list(range(len(lines))) else order


def _stands_above(line: Extent, other: Extent) -> bool:
    shared = min(line.right, other.right) - max(line.left, other.left)
    narrower = min(line.right - line.left, other.right - other.left)
    return line.top < other.top - line.size * _BELOW and shared > narrower * _OVERLAP
