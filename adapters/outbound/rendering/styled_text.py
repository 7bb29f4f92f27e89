"""A document as one stretch of visible text with spans over it: what is cut, and then written as markup."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from enum import Enum, auto

from adapters.outbound.rendering.cutting import Break, Fits, Rank, breaks_of, cut


class Kind(Enum):
    """What a span says of its text."""

    BOLD = auto()
    ITALIC = auto()
    STRIKE = auto()
    CODE = auto()
    LINK = auto()
    PRE = auto()
    TABLE = auto()
    QUOTE = auto()
    HEADING = auto()


BLOCKS = frozenset((Kind.PRE, Kind.TABLE, Kind.QUOTE, Kind.HEADING))
VERBATIM = frozenset((Kind.PRE, Kind.CODE))
LONGEST_FENCE = 8
"""Backticks in a fence; longer rows of them inside the code are broken up by the writer."""
EMPHASIS = frozenset((Kind.BOLD, Kind.ITALIC, Kind.STRIKE))


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of text that is formatted.

    `value` is a link's address, a code block's language or a heading's level. `begin` is the index where
    the span begins, and its identity: neighbours that are equal are one; bold, italic and struck text have
    none. `tight`: a letter or digit touches the span. `header` is repeated when a table is cut. `fence` is
    long enough for the code inside. `bare`: the text of a link is its address.
    """

    kind: Kind
    value: str = ""
    begin: int = -1
    tight: bool = False
    header: str = ""
    fence: str = "```"
    bare: bool = False


Spans = tuple[Span, ...]


def has(spans: Spans, *kinds: Kind) -> bool:
    """Return True if one of the kinds is among the spans."""
    return bool(spans) and any(span.kind in kinds for span in spans)


@dataclass(frozen=True, slots=True)
class Run:
    """Text [start, end) under the same spans, outermost first.

    `structure`: list markers, indentation and the lines of a table, which the writer itself chose.
    """

    start: int
    end: int
    spans: Spans
    structure: bool = False


@dataclass(frozen=True, slots=True)
class StyledText:
    """The visible text and its runs, in order and without gaps.

    `ends` tells where spans that `begin` end; `keep_with_next`: the ends of headings, which belong to what follows.
    """

    text: str
    runs: tuple[Run, ...]
    starts: tuple[int, ...]
    ends: Mapping[int, int]
    keep_with_next: Set[int]

    def bare(self) -> StyledText:
        """The same text without any spans."""
        runs = tuple(Run(run.start, run.end, (), run.structure) for run in self.runs)
        return StyledText(self.text, runs, self.starts, {}, self.keep_with_next)

    def run_at(self, index: int) -> Run | None:
        """The run that holds the character at `index`."""
        at = bisect_right(self.starts, index) - 1
        return self.runs[at] if at >= 0 and index < self.runs[at].end else None


def pieces(styled: StyledText, fits: Fits, reach: int) -> Iterator[tuple[int, int]]:
    """The text in pieces that fit: not cut in or after a list marker, and after a heading only at need."""

    def breaks() -> Iterator[Break]:
        for candidate in breaks_of(styled.text):
            run = styled.run_at(candidate.end)
            if run is None or run.structure:
                continue
            if has(run.spans, Kind.PRE, Kind.TABLE):
                yield candidate._replace(rank=candidate.rank.in_code)
            elif candidate.end in styled.keep_with_next:
                yield candidate._replace(rank=Rank.WORD)
            else:
                yield candidate

    return cut(styled.text, breaks(), fits, reach)


class StyledTextBuilder:
    """Writes a styled text from its beginning; knows what to put between two blocks."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._runs: list[Run] = []
        self._ends: dict[int, int] = {}
        self._keep_with_next: set[int] = set()
        self._length = 0
        self._newlines = 0
        self._fresh = True
        self.blocks: Spans = ()
        self.indent = ""

    def gap(self, newlines: int) -> None:
        """At least so many line ends before what comes next, unless it begins its surroundings."""
        if not self._fresh:
            self._newlines = max(self._newlines, newlines)

    def settle(self, *, indented: bool = True) -> int:
        """Writes the gap that was asked for; returns the index at which the next text begins."""
        newlines, self._newlines = self._newlines, 0
        if newlines and self._length:
            last = self._runs[-1].spans
            shared = tuple(a for a, b in zip(last, self.blocks, strict=False) if a == b and a.kind in BLOCKS)
            self._add("\n" * newlines, shared, structure=False)
            if indented and self.indent:
                self._add(self.indent, self.blocks, structure=True)
        return self._length

    def text(self, text: str, inline: Spans = (), *, structure: bool = False) -> None:
        """Text under the open blocks and these inline spans."""
        if text:
            self.settle()
            self._add(text, self.blocks + inline, structure=structure)
            self._fresh = False

    def line_break(self, newline: str) -> None:
        """A line end inside a block; no inline span reaches over it."""
        self.settle()
        self._add(newline, self.blocks, structure=False)
        if self.indent:
            self._add(self.indent, self.blocks, structure=True)

    def marker(self, text: str) -> None:
        """A list marker: what follows begins on the same line."""
        self.text(text, structure=True)
        self._fresh = True

    def after_marker(self) -> None:
        """Ends what a marker began, even if nothing followed it."""
        self._fresh = False

    def open_block(self, kind: Kind, value: str = "", header: str = "", fence: str = "```") -> Span:
        """Begins a block; close it with `close_block`."""
        if kind is not Kind.HEADING and self._fresh and self._runs and self._runs[-1].structure:
            self._newlines = 1
        begin = self.settle(indented=kind is Kind.HEADING)
        span = Span(kind, value, begin, header=header, fence=fence)
        self.blocks = (*self.blocks, span)
        self._fresh = True
        return span

    def close_block(self) -> None:
        """Ends the innermost block."""
        self._ends[self.blocks[-1].begin] = self._length
        self.blocks = self.blocks[:-1]
        self._fresh = False

    def ended(self, span: Span) -> None:
        """Marks where an inline span ends that has a beginning."""
        self._ends[span.begin] = self._length

    def keep_with_next(self) -> None:
        """What was written last is not to be cut off from what follows."""
        self._keep_with_next.add(self._length)

    def build(self) -> StyledText:
        """The styled text as written so far."""
        text, starts = "".join(self._pieces), tuple(run.start for run in self._runs)
        return StyledText(text, tuple(self._runs), starts, self._ends, self._keep_with_next)

    def _add(self, text: str, spans: Spans, *, structure: bool) -> None:
        end = self._length + len(text)
        self._pieces.append(text)
        last = self._runs[-1] if self._runs else None
        if last and last.spans == spans and last.structure == structure:
            self._runs[-1] = Run(last.start, end, spans, structure)
        else:
            self._runs.append(Run(self._length, end, spans, structure))
        self._length = end
