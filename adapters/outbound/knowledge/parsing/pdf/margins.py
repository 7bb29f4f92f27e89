"""Running headers, running footers and page numbers, found by what returns at the same height of many pages."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter
from statistics import median

_BAND = 0.15
"""Margins lie in this share of the page's height, at its top and at its bottom."""
_SAME_HEIGHT = 0.008
_LEAST_PAGES = 3
_SPARSE = 3
"""What returns less often than on every third page between its first and its last is text."""
_LARGE = 1.5
_GAP = 1.3
_WIDEST_PITCH = 2.0
_PAGES_WITH_GAP = 0.6
_LEVEL_PAGES, _LEVEL_SHARE = 5, 0.4
_LONGEST = 200

_PAGE_NUMBERS = 2
_DIGITS = re.compile(r"\d+")
_ROMAN = re.compile(r"\W*(?:[ivxlc]+|[IVXLC]+)\W*\Z")
_ROMAN_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_BARE = re.compile(
    r"(?:[\W\d_]|\b(?:page|seite|pagina|página|pág|pag|стр|страница|p|s|of|von|de|sur|di|van|af|av|из|z)\b)*\Z",
    re.IGNORECASE,
)
_CAPTION = re.compile(
    r"\W*(?:table|figure|exhibit|question|exercise|problem|lesson|unit|step|day|week|part|section|chapter|appendix"
    r"|annex|article|clause|item|example|lot|case|form|test|task|tabelle|abbildung|frage|aufgabe|kapitel|abschnitt"
    r"|anlage|anhang|artikel|teil|tableau|article|chapitre|annexe|tabla|cuadro|figura|capítulo|artículo|anexo)"
    r"\W*\d+\W*\Z",
    re.IGNORECASE,
)
_DIVISIONS = frozenset(
    {"chapter", "section", "part", "appendix", "kapitel", "abschnitt", "anhang", "chapitre", "capítulo"}
)
_WORD = re.compile(r"[^\W\d_]{3,}|\w{4,}")
_NUMBER_FIRST, _NUMBER_LAST = (
    re.compile(r"[\W_]*(\d{1,5})(?=\W|\Z)"),
    re.compile(r"(?:^|[\s|/\[(-])(\d{1,5})\W*\Z"),
)


@dataclass(frozen=True, slots=True)
class Edge:
    """One of the first or last lines of a page; `height` is its middle and `size` its letters' height, both as
    shares of the page's height, counted from the top."""

    page: int
    line: int
    text: str
    height: float
    size: float

    @property
    def in_band(self) -> bool:
        return self.height < _BAND or self.height > 1 - _BAND


def margins(edges: Sequence[Edge]) -> set[tuple[int, int]]:
    """The `(page, line)` of each line that is a running header or footer or a page number.

    A line counts when its text, digits aside, returns at the same height of three pages or more with a gap
    between it and the text; or when it holds a number that counts the pages; or when it stands where many
    such lines stand.
    """
    rows = _Rows(edges)
    if len(rows.pages) < _LEAST_PAGES:
        return set()
    most = median(map(attrgetter("size"), edges)) * _LARGE
    small = [edge for edge in edges if edge.in_band and edge.size <= most and len(edge.text) < _LONGEST]
    groups = [*_numbered(small), *_repeated(small)]
    returning = rows.outermost(set().union(*groups))
    marginal: set[Edge] = set()
    for group in groups:
        level = [edge for edge in group if edge in returning]
        if _often(level) and (_counts_pages(level) or rows.are_set_off(level, returning)):
            marginal.update(level)
    marginal.update(_at_their_height(small, marginal, rows))
    return {(edge.page, edge.line) for edge in rows.outermost(marginal)}


def _repeated(edges: Iterable[Edge]) -> Iterator[list[Edge]]:
    """Lines of the same pattern at the same height of many pages. Numbers may change, but where there is nothing else
    they are a table's, if they do not count the pages."""
    groups: dict[tuple[str, bool], list[Edge]] = defaultdict(list)
    for edge in edges:
        is_fixed = _CAPTION.match(edge.text) or _BARE.match(edge.text)
        pattern = edge.text if is_fixed else " ".join(_DIGITS.sub("#", edge.text).split())
        groups[pattern, edge.height < _BAND].append(edge)
    for group in groups.values():
        middle = median(edge.height for edge in group)
        level = [edge for edge in group if abs(edge.height - middle) <= _SAME_HEIGHT]
        if _often(level):
            yield level


def _often(edges: Sequence[Edge]) -> bool:
    pages = {edge.page for edge in edges}
    return len(pages) >= _LEAST_PAGES and len(pages) * _SPARSE > max(pages) - min(pages)


class _Rows:
    """The lines at the edges of each page, from the outside to the middle."""

    def __init__(self, edges: Iterable[Edge]) -> None:
        self.pages: dict[int, list[Edge]] = defaultdict(list)
        for edge in edges:
            self.pages[edge.page].append(edge)

    def outermost(self, marginal: Set[Edge]) -> set[Edge]:
        """Those of the lines that have nothing else beside or outside them; a row of a table has."""
        kept: set[Edge] = set()
        for page in self.pages.values():
            for way in (1, -1):
                rim: list[Edge] = []
                for edge in sorted(page, key=lambda edge: edge.height * way):
                    if edge not in marginal:
                        rim = [other for other in rim if abs(other.height - edge.height) > edge.size / 2]
                        break
                    rim.append(edge)
                kept.update(edge for edge in rim if edge.in_band and (edge.height < 0.5) == (way > 0))
        return kept

    def are_set_off(self, level: Sequence[Edge], margin: Set[Edge]) -> bool:
        """Return True if the lines are apart from the text on most pages."""
        return sum(self.is_set_off(edge, margin) for edge in level) >= len(level) * _PAGES_WITH_GAP

    def is_set_off(self, edge: Edge, margin: Set[Edge]) -> bool:
        """Return True if the lines of the margin are set off from the text more than its lines from each other.

        The head of a table that is repeated on each page is not.
        """
        way = 1 if edge.height < _BAND else -1
        inward = sorted(self.pages[edge.page], key=lambda other: other.height * way)
        last = edge
        for other in inward[inward.index(edge) + 1 :]:
            if other not in margin:
                heights = [line.height for line in inward[inward.index(other) :]]
                steps = (abs(after - before) for before, after in pairwise(heights))
                pitch = min((step for step in steps if step > other.size / 2), default=other.size)
                return abs(other.height - last.height) > _GAP * min(pitch, edge.size * _WIDEST_PITCH)
            last = other
        return True


def _numbered(edges: Iterable[Edge]) -> Iterator[list[Edge]]:
    """Lines with a number that grows with the page, at one height of many pages."""
    groups: dict[tuple[int, int], list[Edge]] = defaultdict(list)
    for edge in edges:
        for number, _ in _numbers(edge.text):
            for level in _levels(edge):
                groups[number - edge.page, level].append(edge)
    yield from (group for group in groups.values() if _counts_pages(group))


def _counts_pages(edges: Sequence[Edge]) -> bool:
    """Return True if the lines hold numbers that count the pages, and are likely to: headings begin with one."""
    shifts: dict[int, dict[int, bool]] = defaultdict(dict)
    for edge in edges:
        for number, telling in _numbers(edge.text):
            pages = shifts[number - edge.page]
            pages[edge.page] = telling or pages.get(edge.page, False)
    counted = max(shifts.values(), key=len, default={})
    likely = sum(counted.values())
    return len(counted) >= _LEAST_PAGES and _often(edges) and likely * 3 >= len(counted) and likely >= 2


def _numbers(text: str) -> Iterator[tuple[int, bool]]:
    """Numbers that may be the page's, and whether they are likely to be: numbered headings begin with one."""
    if _CAPTION.match(text):
        return
    if _ROMAN.match(text):
        values = [_ROMAN_VALUES[letter] for letter in text.lower() if letter in _ROMAN_VALUES]
        yield sum(-value if value < after else value for value, after in pairwise((*values, 0))), True
    elif _BARE.match(text):
        numbers = _DIGITS.findall(text)[:_PAGE_NUMBERS]
        yield from ((int(number), True) for number in numbers if len(number) < 6)
    else:
        if last := _NUMBER_LAST.search(text):
            yield int(last[1]), True
        if first := _NUMBER_FIRST.match(text):
            yield int(first[1]), False


def _at_their_height(edges: Sequence[Edge], marginal: Set[Edge], rows: _Rows) -> Iterator[Edge]:
    """Page numbers, and titles of sections too short to return three times, where other pages have their margins."""
    pages = len(set(map(attrgetter("page"), edges)))
    pages_at = _pages_by_level(marginal)
    sizes = {round(edge.size, 3) for edge in marginal}
    for edge in edges:
        if edge in marginal:
            continue
        known = max(map(len, map(pages_at.__getitem__, _levels(edge))))
        is_number = _is_bare(edge.text) and len(_DIGITS.findall(edge.text)) <= _PAGE_NUMBERS
        is_usual = known >= max(_LEVEL_PAGES, pages * _LEVEL_SHARE) and round(edge.size, 3) in sizes
        if (is_number and known >= _LEAST_PAGES) or (is_usual and rows.is_set_off(edge, marginal)):
            yield edge


def _pages_by_level(edges: Iterable[Edge]) -> dict[int, set[int]]:
    pages: dict[int, set[int]] = defaultdict(set)
    for edge in edges:
        for level in _levels(edge):
            pages[level].add(edge.page)
    return pages


def _levels(edge: Edge) -> tuple[int, int]:
    """Each height belongs to two overlapping steps, so that no edge of a step divides what is close."""
    steps = edge.height / _SAME_HEIGHT
    return 2 * int(steps), 2 * int(steps + 0.5) + 1


def _is_bare(text: str) -> bool:
    """Return True for a number alone, or with words such as "page"."""
    return bool(_ROMAN.match(text) or _BARE.match(text))


def words_of(text: str) -> list[str]:
    """The words and numbers of a running line that may say something: page numbers and their words do not."""
    if _is_bare(text):
        return []
    return [word for word in _WORD.findall(text.casefold()) if word not in _DIVISIONS]
