"""The title that stands on a document's first page: its largest line."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter

_LINE_GAP = 1.6
_LEAST_LETTERS, _MOST_CHARS, _MOST_WORDS = 3, 300, 40
_PERIODICAL = re.compile(
    r"(?:the\s+)?(?:[\w&.]+\s+){0,4}(?:journal|transactions|proceedings|annals|archives|bulletin|gazette|zeitschrift"
    r"|revue|revista|rivista)\b|.*\b(?:issn|vol(?:ume)?\.?\s*\w+,?\s*(?:no|issue|iss)\b)",
    re.IGNORECASE,
)
_GENERIC = re.compile(
    r"(?:abstract|introduction|contents|table of contents|preface|foreword|acknowledge?ments|references|summary"
    r"|einleitung|inhalt|inhaltsverzeichnis|vorwort|zusammenfassung|introducción|índice|sommaire|résumé"
    r"|(?:chapter|section|part|kapitel|abschnitt|chapitre|capítulo)\s+\w{1,4}|[\W\d]*)\Z",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"(?:\d+(?:\.\d+)*\.?|[IVX]+\.)\s+(?=\S)")


@dataclass(frozen=True, slots=True)
class Exactness:
    """From which factor a line is larger than the text, and up to which share two sizes are the same."""

    larger: float = 1.12
    alike: float = 0.04


MEASURED = Exactness()
RECOGNISED = Exactness(larger=1.4, alike=0.2)
"""Of recognised lines the height is known, which is that of the letters they happen to hold."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a page: `size` is its letters' height; `top` grows downwards, in the same unit."""

    text: str
    top: float
    size: float
    upright: bool = True


def headline(lines: Sequence[Line], sections: Sequence[str] = (), exactness: Exactness = MEASURED) -> str:
    """The largest line with those of the same size that follow it; empty if all lines are alike.

    `sections` are the document's bookmarks: a numbered one is no title. The name of a journal is one only
    where nothing else is large.
    """
    groups = list(_groups([line for line in lines if line.upright and line.text.strip()], exactness.alike))
    if not groups:
        return ""
    usual = _usual_size(lines)
    large = [
        (group[0].size, " ".join(" ".join(map(attrgetter("text"), group)).split()))
        for group in groups
        if group[0].size > usual * exactness.larger
    ]
    titles = [title for title in large if _may_be_title(title[1], set(sections))]
    titles = [title for title in titles if not _PERIODICAL.match(title[1])] or titles
    largest = max((size for size, _ in titles), default=0.0)
    return next((text for size, text in titles if size >= largest * (1 - exactness.alike)), "")


def _groups(lines: Sequence[Line], alike: float) -> Iterator[list[Line]]:
    """Lines of one size that follow each other closely."""
    group: list[Line] = []
    for line in lines:
        if group:
            before = group[-1]
            is_alike = abs(line.size - before.size) <= before.size * alike
            if not is_alike or not 0 <= line.top - before.top <= line.size * _LINE_GAP:
                yield group
                group = []
        group.append(line)
    if group:
        yield group


def _usual_size(lines: Sequence[Line]) -> float:
    """The size in which most letters are set; of a page with a few words, the smallest."""
    by_size = sorted((line.size, len(line.text)) for line in lines if line.upright)
    if len(by_size) < 2:
        return 0.0
    half = sum(chars for _, chars in by_size) / 2
    for size, chars in by_size:
        half -= chars
        if half <= 0:
            return size if size < by_size[-1][0] else by_size[0][0]
    return by_size[0][0]


def _may_be_title(text: str, sections: set[str]) -> bool:
    if sum(map(str.isalpha, text)) < _LEAST_LETTERS or len(text) > _MOST_CHARS:
        return False
    number = _NUMBERED.match(text)
    is_section = number is not None and not sections.isdisjoint((text, text[number.end() :]))
    return len(text.split()) <= _MOST_WORDS and not is_section and not _GENERIC.match(text)
