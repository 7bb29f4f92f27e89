"""The lines of all pages of a document, known apart into text, margins and tables of contents."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from adapters.outbound.knowledge.parsing.pdf.contents import contents
from adapters.outbound.knowledge.parsing.pdf.margins import Edge, margins, words_of
from domain.knowledge.documents import BlockKind

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
