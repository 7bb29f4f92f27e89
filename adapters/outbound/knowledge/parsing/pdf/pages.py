"""The lines of all pages of a document, known apart into text, margins, tables of contents and indexes.

Contents and indexes are lists of words with page numbers, which lead to their words, unlike those of a price list, in
any language.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from adapters.outbound.knowledge.parsing.pdf.margins import Edge, margins, words_of
from domain.knowledge.documents import BlockKind

_TAIL_CHARS = 60
_LAST_NUMBERS = re.compile(r"(?:^|[\s.,…·_])((?:\d{1,4}|[ivxlc]{1,7})(?:\s?[-\u2013\u2014,;]\s?\d{1,4})*)\Z")
_LEADER = re.compile(r"(?:\.\s?|…\s?|·\s?|_){3,}\s*\S+\Z")
_NUMBERING = re.compile(r"(?:[A-Z]\.)?[\dIVX]+(?:\.\d+)*[.)]?\s+|[A-Z](?:\.\d+)+\s+")
_TRIMMED = " \t.…·_,;:\u2013-"
_LEAST_ENTRIES, _LEAST_INDEX_ENTRIES = 3, 8
_LONGEST_ENTRY = 150
_MOST_BETWEEN, _SHORT_GAP = 3, 10
_DENSE = 0.4
_LEADS = 0.5
_SORTED, _ALMOST_SORTED = 0.8, 0.55
"""With the words below a word of an index, which begin anew."""
_PAGES_OF_AN_INDEXED_BOOK = 8
_HEAD_WORDS = 6
_TRIED_ENTRIES = 24
_MOST_SEARCHED_CHARS = 500_000_000
_HEADS = frozenset(
    {
        "contents", "table of contents", "inhalt", "inhaltsverzeichnis", "sommaire", "table des matières", "índice",
        "contenido", "tabla de contenido", "indice", "sommario", "sumário", "conteúdo", "inhoud", "inhoudsopgave",
        "innehåll", "indhold", "innhold", "sisällys", "spis treści", "obsah", "tartalom", "cuprins", "içindekiler",
        "содержание", "оглавление", "зміст", "περιεχόμενα", "المحتويات", "فهرس", "תוכן עניינים",
        "目录", "目錄", "目次", "차례", "list of figures", "list of tables",
    }
)  # fmt: skip
_INDEX_HEAD = re.compile(
    r"(?:.{0,40}\b(?:index|sachregister|stichwortverzeichnis|register)|índice (?:alfabético|analítico)"
    r"|indice analitico|предметный указатель|索引)\Z",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Entry:
    line: int
    words: str
    page: int | None
    leader: bool


def contents(pages: Sequence[Sequence[str]]) -> dict[int, list[range]]:
    """By page (counted from 0) the runs of lines that are part of a table of contents or of an index."""
    whereabouts = _Whereabouts(pages)
    lists: dict[int, list[range]] = {}
    for number, lines in enumerate(pages):
        if sum(line[-1:].isdigit() for line in lines) < _LEAST_ENTRIES - 1:
            continue
        listed: list[range] = []
        for entries in _runs(lines):
            begin, title = _head(lines, entries[0].line)
            leads = whereabouts.lead_to(entries, number, titled=_is_head(title))
            if leads or _is_titled(entries, title, follows=number - 1 in lists):
                if listed and begin - listed[-1].stop <= _SHORT_GAP:  # what stands between belongs to them
                    begin = listed.pop().start
                listed.append(range(begin, entries[-1].line + 1))
        if listed:
            lists[number] = listed
    return lists


def _runs(lines: Sequence[str]) -> list[list[_Entry]]:
    """Runs of entries close to each other that are long and dense enough."""
    runs: list[list[_Entry]] = []
    for entry in _entries(lines):
        if runs and entry.line - runs[-1][-1].line <= _MOST_BETWEEN:
            runs[-1].append(entry)
        else:
            runs.append([entry])
    return [run for run in runs if len(run) >= max(_LEAST_ENTRIES, (run[-1].line - run[0].line + 1) * _DENSE)]


def _entries(lines: Sequence[str]) -> Iterator[_Entry]:
    for number, line in enumerate(lines):
        tail = line.rstrip()[-_TAIL_CHARS:]
        match = _LAST_NUMBERS.search(tail)
        if not match or len(line) > _LONGEST_ENTRY * 2:
            continue
        words = line.rstrip()[: len(line.rstrip()) - len(match[1])].rstrip(_TRIMMED)
        leader = bool(_LEADER.search(tail))
        last = words.rsplit(None, 1)[-1:]
        is_row = not leader and bool(last) and not any(map(str.isalpha, last[0]))  # of a table
        if not is_row and any(map(str.isalpha, words)) and len(words) <= _LONGEST_ENTRY:
            first = re.match(r"\d+", match[1])
            yield _Entry(number, words, int(first[0]) if first else None, leader)


def _head(lines: Sequence[str], first: int) -> tuple[int, str]:
    """The line above the first entry and its text, if it may be the list's title; else the first entry and ""."""
    for number in range(first - 1, max(first - 4, -1), -1):
        line = lines[number].strip()
        if _is_head(line) or _INDEX_HEAD.match(line):
            return (number, lines[number]) if len(line.split()) <= _HEAD_WORDS else (first, "")
    return first, ""


def _is_head(line: str) -> bool:
    return line.casefold().strip(_TRIMMED) in _HEADS


def _is_titled(entries: Sequence[_Entry], title: str, *, follows: bool) -> bool:
    """Return True if a list with such a title, or after another, looks like one that leads to pages."""
    if _INDEX_HEAD.match(title.strip()) and len(entries) >= _LEAST_INDEX_ENTRIES:
        return _is_sorted([entry.words.casefold() for entry in entries])
    led = sum(entry.leader for entry in entries) * 2 > len(entries)
    return (
        led
        and (_is_head(title) or follows)
        and _is_sorted([f"{entry.page:04}" for entry in entries if entry.page is not None])
    )


def _is_sorted(values: Sequence[str], share: float = _SORTED) -> bool:
    pairs = list(pairwise(values))
    return sum(a <= b for a, b in pairs) >= len(pairs) * share


class _Whereabouts:
    """Where words stand in the document; gathered once, when the first list is met."""

    def __init__(self, pages: Sequence[Sequence[str]]) -> None:
        self._pages = pages
        self._searched = 0

    @cached_property
    def _texts(self) -> list[str]:
        return [" ".join(" ".join(lines).casefold().split()) for lines in self._pages]

    @cached_property
    def _pages_by_line(self) -> dict[str, set[int]]:
        pages: dict[str, set[int]] = {}
        for number, lines in enumerate(self._pages):
            for line in lines:
                for key in _keys(line):
                    pages.setdefault(key, set()).add(number)
        return pages

    def lead_to(self, entries: Sequence[_Entry], own_page: int, *, titled: bool) -> bool:
        """Return True if the numbers, all shifted alike, lead to pages with the entries' words as a line of their
        own, or, in the alphabetical index of a longer document, anywhere. Under the title of a table of contents
        it is enough that the lines are there, for its numbers may be roman."""
        if self._agree(entries, own_page, self._with_line):
            return True
        if titled and sum(bool(self._with_line(entry.words) - {own_page}) for entry in entries) * 2 > len(
            entries
        ):
            return True
        is_index = len(self._pages) >= _PAGES_OF_AN_INDEXED_BOOK and len(entries) >= _LEAST_INDEX_ENTRIES
        if not is_index or not _is_sorted([entry.words.casefold() for entry in entries], _ALMOST_SORTED):
            return False
        samples = entries[:: len(entries) // _TRIED_ENTRIES + 1]
        self._searched += len(samples) * sum(map(len, self._texts))
        return self._searched < _MOST_SEARCHED_CHARS and self._agree(samples, own_page, self._with_words)

    def _agree(self, entries: Sequence[_Entry], own_page: int, pages_with: Callable[[str], set[int]]) -> bool:
        votes: Counter[int] = Counter()
        for entry in entries:
            if entry.page is not None:
                votes.update({page - entry.page for page in pages_with(entry.words) if page != own_page})
        return bool(votes) and votes.most_common(1)[0][1] >= max(_LEAST_ENTRIES, len(entries) * _LEADS)

    def _with_line(self, words: str) -> set[int]:
        return {page for key in _keys(words) for page in self._pages_by_line.get(key, ())}

    def _with_words(self, words: str) -> set[int]:
        key = " ".join(words.casefold().split())
        return {page for page, text in enumerate(self._texts) if key in text}


def _keys(line: str) -> set[str]:
    """A line in the forms in which it may be listed: with its number and without."""
    bare = _NUMBERING.sub("", line, count=1) if _NUMBERING.match(line) else line
    return {
        " ".join(text.casefold().split())[:40].strip() for text in (line, bare) if len(text) <= _LONGEST_ENTRY
    }


_MOST_TELLING = 50
_MAIN_SHARE = 0.5


class PagedText:
    """Which lines of which page are what. `pages` are the lines of each page; pages count from 0.

    What would be most of the document is neither margin nor contents: it is what the document is about.
    """

    def __init__(self, pages: Sequence[Sequence[str]], edges: Sequence[Edge]) -> None:
        self._pages = pages
        self._margins = margins(edges)
        if self._is_main(self._margins):
            self._margins = set()
        self._with_margins = {page for page, _ in self._margins}
        bodies = [
            [line for _, line in self._body(page)] if page in self._with_margins else lines
            for page, lines in enumerate(pages)
        ]
        self._contents = self._listed(bodies)
        if self._is_main({(page, line) for page, lines in self._contents.items() for line in lines}):
            self._contents = {}
        self._telling = self._found_nowhere_else(bodies) if self._margins else {}

    def runs(self, page: int) -> Iterator[tuple[BlockKind, list[str]]]:
        """The page's lines without its margins, in runs of text and of contents."""
        listed = self._contents.get(page, set())
        if not listed and page not in self._with_margins:
            yield BlockKind.PARAGRAPH, [*self._pages[page]]
            return
        run: list[str] = []
        kind = BlockKind.PARAGRAPH
        for number, line in self._body(page):
            now = BlockKind.CONTENTS if number in listed else BlockKind.PARAGRAPH
            if now is not kind and run:
                yield kind, run
                run = []
            kind = now
            run.append(line)
        if run:
            yield kind, run

    def is_apart(self, page: int, line: int) -> bool:
        return (page, line) in self._margins or line in self._contents.get(page, ())

    def telling(self, page: int) -> list[str]:
        """The page's running lines with words that stand nowhere else, on the first page where they stand."""
        return self._telling.get(page, [])

    def margins(self) -> Iterator[tuple[int, list[str]]]:
        """`(page counted from 1, its running lines)` without those that stand in the text or stood before."""
        seen = {line for lines in self._telling.values() for line in lines}
        by_page: dict[int, list[str]] = defaultdict(list)
        for page, number in sorted(self._margins):
            line = self._pages[page][number]
            if line not in seen:
                seen.add(line)
                by_page[page].append(line)
        for page, lines in by_page.items():
            yield page + 1, lines

    def _body(self, page: int) -> Iterator[tuple[int, str]]:
        for number, line in enumerate(self._pages[page]):
            if (page, number) not in self._margins:
                yield number, line

    def _listed(self, bodies: Sequence[Sequence[str]]) -> dict[int, set[int]]:
        """Contents by the lines' numbers on the whole page."""
        listed = {}
        for page, runs in contents(bodies).items():
            numbers = [number for number, _ in self._body(page)]
            listed[page] = {numbers[line] for run in runs for line in run}
        return listed

    def _is_main(self, lines: set[tuple[int, int]]) -> bool:
        chars = sum(len(self._pages[page][line]) for page, line in lines)
        return bool(lines) and chars > _MAIN_SHARE * sum(len(line) for page in self._pages for line in page)

    def _found_nowhere_else(self, bodies: Sequence[Sequence[str]]) -> dict[int, list[str]]:
        text = "\n".join("\n".join(lines) for lines in bodies).casefold()
        known: set[str] = set()
        telling: dict[int, list[str]] = defaultdict(list)
        for page, number in sorted(self._margins):
            words = [word for word in words_of(self._pages[page][number]) if word not in known]
            if len(known) < _MOST_TELLING and any(word not in text for word in words):
                telling[page].append(self._pages[page][number])
            known.update(words)
        return telling
