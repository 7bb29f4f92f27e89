"""Lines of a page in reading order: text drawn row by row across columns, and lines drawn late. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
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
Gap = tuple[float, float]


def in_reading_order(words: Sequence[Word]) -> list[Cell] | None:
    """The lines of the page; None where no text is drawn across columns and the order of drawing stands."""
    cells = _cells(words)
    if not _LEAST_LINES < len(cells) <= _MOST_CELLS or _sideways(cells) < len(cells) * _SIDEWAYS_SHARE:
        return None
    gaps = _gaps(cells)
    if not 0 < len(gaps) < _MOST_COLUMNS:
        return None
    cells = _cells(words, gaps)
    lines: list[Cell] = []
    across = 0
    for band in _bands(cells, gaps):
        columns = _columns(band, gaps)
        if _are_read_down(columns) and _alternates(band, gaps):
            across += len(band)
            lines += [line for column in columns for line in _joined(column)]
        else:
            lines += _as_drawn(band)
    return lines if across > len(cells) * _MAIN_SHARE else None


def _sideways(cells: Sequence[Cell]) -> int:
    """How often the drawing goes on beside what was drawn last instead of below it."""
    return sum(
        abs(after.top - before.top) < after.size * _NEAR
        and (after.left > before.right + after.size * _GAP or after.right < before.left)
        for before, after in pairwise(cells)
    )


def _cells(words: Sequence[Word], gaps: Sequence[Gap] = ()) -> list[Cell]:
    """Words of a line up to a wide gap, or to one that is wider than a blank and lies between known columns."""
    groups: list[list[Word]] = []
    for word in words:
        last = groups[-1][-1] if groups else None
        if last and word.line == last.line and not _parts(last, word, gaps):
            groups[-1].append(word)
        else:
            groups.append([word])
    return [_as_one(group) for group in groups]


def _as_one(words: Sequence[Word]) -> Cell:
    if len(words) == 1:
        return words[0]
    right = max(word.right for word in words)
    return replace(words[0], text=" ".join(word.text for word in words), right=right)


def _parts(cell: Cell, word: Word, gaps: Sequence[Gap]) -> bool:
    wide = word.left - cell.right
    if not -word.size < wide < word.size * _GAP:
        return True
    return wide > word.size * _BLANK and any(cell.right <= sum(gap) / 2 <= word.left for gap in gaps)


def _gaps(cells: Sequence[Cell]) -> list[Gap]:
    """The gaps between columns, from the left: where most cells have a gap before the next one beside them."""
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
    size = median(cell.size for cell in cells)
    edges = [(first + run[0] * _STEP, first + (run[-1] + 1) * _STEP) for run in runs]
    return [(left, right) for left, right in edges if right - left >= size * _GAP / 2]


def _gaps_beside(cells: Sequence[Cell]) -> Iterator[Gap]:
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


def _bands(cells: Sequence[Cell], gaps: Sequence[Gap]) -> Iterator[list[Cell]]:
    """From the top: runs of cells within columns, and runs of cells across them."""
    ordered = sorted(cells, key=lambda cell: (round(cell.top), cell.left))
    for _, band in groupby(ordered, key=lambda cell: any(_crosses(cell, gap) for gap in gaps)):
        yield list(band)


def _crosses(cell: Cell, gap: Gap) -> bool:
    middle = (gap[0] + gap[1]) / 2
    return cell.left < middle < cell.right


def _alternates(band: Sequence[Cell], gaps: Sequence[Gap]) -> bool:
    """Whether the drawing goes from column to column and back, instead of down one and then the next."""
    drawn = sorted(band, key=lambda cell: cell.place)
    columns = [sum(cell.left > (left + right) / 2 for left, right in gaps) for cell in drawn]
    switches = sum(before != after for before, after in pairwise(columns))
    return switches >= len(drawn) * _SIDEWAYS_SHARE


def _columns(band: Sequence[Cell], gaps: Sequence[Gap]) -> list[list[Cell]]:
    """The cells of each column, from the top; those of one line together."""
    edges = [float("-inf"), *((left + right) / 2 for left, right in gaps), float("inf")]
    parts = [[cell for cell in band if left <= cell.left < right] for left, right in pairwise(edges)]
    return [_in_lines(part) for part in parts if part]


def _in_lines(cells: Sequence[Cell]) -> list[Cell]:
    lines: list[Cell] = []
    for cell in cells:
        if lines and abs(cell.top - lines[-1].top) < cell.size / 2 and cell.left >= lines[-1].left:
            lines[-1] = replace(lines[-1], text=f"{lines[-1].text} {cell.text}", right=cell.right)
        else:
            lines.append(cell)
    return lines


def _are_read_down(columns: Sequence[Sequence[Cell]]) -> bool:
    """Whether the columns hold text that goes on from line to line, or a label each; a table's cells do not."""
    if len(columns) < 2:
        return False
    return all(_goes_on(column) for column in columns) or _are_labelled(columns)


def _goes_on(lines: Sequence[Cell]) -> bool:
    texts = [line.text for line in lines]
    letters = "".join(texts).replace(" ", "")
    width = max(line.right for line in lines) - min(line.left for line in lines)
    if (
        len(lines) < _LEAST_LINES
        or fmean(map(len, texts)) < _LEAST_CHARS
        or sum(map(str.isalpha, letters)) < len(letters) * _LETTERS
        or median(line.right - line.left for line in lines) < width * _FULL_LINE
        or not _are_close(lines)
    ):
        return False
    starts = [text[0] for text in texts[1:]]
    has_case = any(char.islower() or char.isupper() for char in letters)
    words = fmean(len(text.split()) for text in texts)
    return not has_case or (words >= _LEAST_WORDS and sum(map(str.islower, starts)) >= len(starts) * _GOES_ON)


def _are_close(lines: Sequence[Cell]) -> bool:
    """Whether most lines follow at the distance of lines; the cells of a row begin where the longest has ended."""
    steps = [after.top - before.top for before, after in pairwise(lines)]
    pitch = min(median(steps), lines[0].size * _PITCH)
    return sum(step <= pitch * _NEAR for step in steps) >= len(steps) * _CLOSE


def _are_labelled(columns: Sequence[Sequence[Cell]]) -> bool:
    """Whether each column has a label at its top and none below, as the parties of an invoice have."""
    cells = [[line.text for line in column] for column in columns]
    labelled = all(column[0].endswith(":") and len(column) > 1 for column in cells)
    return labelled and not any(":" in text for column in cells for text in column[1:])


def _joined(lines: Sequence[Cell]) -> Iterator[Cell]:
    """Lines of a column; a word that is cut at the end of one is whole in the next."""
    carried: Cell | None = None
    for line, following in zip(lines, [*lines[1:], None], strict=True):
        whole = replace(line, text=carried.text[:-1] + line.text, place=carried.place) if carried else line
        is_cut = whole.text.endswith("-") and whole.text[-2:-1].isalpha()
        carried = whole if is_cut and following and following.text[:1].islower() else None
        if not carried:
            yield whole


def _as_drawn(band: Sequence[Cell]) -> Iterator[Cell]:
    """The lines as they were drawn."""
    for _, cells in groupby(sorted(band, key=lambda cell: cell.place), key=lambda cell: cell.line):
        yield _as_one(list(cells))


_OVERLAP, _BELOW = 0.5, 0.5
_MOST_LINES = 2_000


@dataclass(frozen=True, slots=True)
class Extent:
    """Where a line stands: its baseline from the top, its edges, and the size of its letters."""

    top: float
    left: float
    right: float
    size: float


def reading_order(lines: Sequence[Extent]) -> list[int] | None:
    """The lines by their places in the order of drawing, late ones in front of what they stand above; None where no
    line is late. Lines beside each other keep their order, so that columns are read as they were drawn."""
    if len(lines) > _MOST_LINES:
        return None
    order: list[int] = []
    lowest = float("-inf")
    for place, line in enumerate(lines):
        below = None
        if line.top < lowest - line.size * _BELOW:
            below = next(
                (index for index, other in enumerate(order) if _stands_above(line, lines[other])), None
            )
        order.insert(len(order) if below is None else below, place)
        lowest = max(lowest, line.top)
    return None if order == list(range(len(lines))) else order


def _stands_above(line: Extent, other: Extent) -> bool:
    shared = min(line.right, other.right) - max(line.left, other.left)
    narrower = min(line.right - line.left, other.right - other.left)
    return line.top < other.top - line.size * _BELOW and shared > narrower * _OVERLAP
