"""A styled text written out in one writer, of which any stretch can be measured and taken as markup of its own.

The runs of a styled text as a writer can nest them, emphasis drawn in from white space at its edges.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, takewhile

from adapters.outbound.rendering.cutting import measure
from adapters.outbound.rendering.markup_writer import MarkupWriter
from adapters.outbound.rendering.styled_text import EMPHASIS, Run, Spans, StyledText, has
from domain.channels.model import Unit


@dataclass(frozen=True, slots=True)
class _Line:
    """Where on a line the writing stands; `only_markers`: nothing but markup and list markers is on it."""

    at_start: bool = True
    only_markers: bool = True

    def after(self, text: str, *, marker: bool) -> _Line:
        if not text:
            return self
        ended = text.endswith("\n")
        return _Line(ended, ended or (self.only_markers and marker))


_LINE_START = _Line()


class RenderedText:
    """A styled text in a writer.

    Each run has its transition (what closes and opens spans before it) and its body (its text, escaped). A stretch
    is what opens the spans at its start, the bodies and transitions within, and what closes the spans at its end:
    so its length is a difference of sums, and the same strings make both.
    """

    def __init__(self, styled: StyledText, writer: MarkupWriter, unit: Unit) -> None:
        self._styled = styled
        self._writer = writer
        self._unit = unit
        self._runs = list(trimmed(styled, writer))
        self._starts = [run.start for run in self._runs]
        self._transitions: list[str] = []
        self._chunks: list[str] = []
        self._lines: list[_Line] = []
        open_spans: Spans = ()
        line = _LINE_START
        for run in self._runs:
            pairs = zip(open_spans, run.spans, strict=False)
            shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
            closed, line = self._closed(open_spans, shared, run.start, line)
            opened, line = self._opened(run.spans, shared, run.start, line, start=0)
            body = self._body(run, run.start, run.end, line)
            self._transitions.append(closed + opened)
            self._lines.append(line)
            self._chunks.append(closed + opened + body)
            line = line.after(body, marker=run.structure)
            open_spans = run.spans
        self._sums = list(accumulate((measure(chunk, unit) for chunk in self._chunks), initial=0))
        self._head: tuple[int, int] = (-1, 0)

    def text(self, start: int, end: int) -> str:
        """The markup of the visible text [start, end), well formed on its own.

        A stretch that begins inside a list loses the indentation of its first line.
        """
        margin = self._margin(self._at(start), start)
        start += margin
        first, last = self._at(start), self._at(end - 1)
        if first == last:
            return self._within_run(first, start, end)
        chunks = self._outdented(first + 1, last, margin) if margin else self._chunks[first + 1 : last]
        return self._beginning(first, start) + "".join(chunks) + self._ending(last, end)

    def length(self, start: int, end: int) -> int:
        """How long `text(start, end)` is at most, in the unit: outdenting may make it shorter."""
        first, last = self._at(start), self._at(end - 1)
        if first == last:
            return measure(self._within_run(first, start, end), self._unit)
        if self._head[0] != start:
            self._head = (start, measure(self._beginning(first, start), self._unit))
        middle = self._sums[last] - self._sums[first + 1]
        return self._head[1] + middle + measure(self._ending(last, end), self._unit)

    def _at(self, index: int) -> int:
        return bisect_right(self._starts, index) - 1

    def _within_run(self, at: int, start: int, end: int) -> str:
        head, line = self._opened(self._runs[at].spans, 0, start, _LINE_START)
        text = head + self._body(self._runs[at], start, end, line)
        return text + self._closed(self._runs[at].spans, 0, end, _LINE_START.after(text, marker=True))[0]

    def _beginning(self, at: int, start: int) -> str:
        run = self._runs[at]
        head, line = self._opened(run.spans, 0, start, _LINE_START)
        return head + self._body(run, start, run.end, line)

    def _ending(self, at: int, end: int) -> str:
        run = self._runs[at]
        is_complete = end == run.end
        text = (
            self._chunks[at]
            if is_complete
            else self._transitions[at] + self._body(run, run.start, end, self._lines[at])
        )
        return text + self._closed(run.spans, 0, end, self._lines[at].after(text, marker=True))[0]

    def _margin(self, at: int, start: int) -> int:
        """How many spaces of indentation begin at `start`."""
        run = self._runs[at]
        if not run.structure or (start and self._styled.text[start - 1] != "\n"):
            return 0
        text = self._styled.text[start : run.end]
        return len(text) - len(text.lstrip(" "))

    def _outdented(self, first: int, last: int, margin: int) -> Iterator[str]:
        """The chunks with less indentation, up to a line that has not as much."""
        for at in range(first, last):
            run = self._runs[at]
            indent = self._margin(at, run.start)
            if run.structure and self._lines[at].at_start:
                margin = margin if indent >= margin else 0
            if indent and margin:
                yield self._transitions[at] + self._body(run, run.start + margin, run.end, self._lines[at])
            else:
                yield self._chunks[at]

    def _opened(
        self, spans: Spans, shared: int, at: int, line: _Line, start: int | None = None
    ) -> tuple[str, _Line]:
        """What opens the spans beyond the shared ones; those that began before `start` are opened again."""
        since = at if start is None else start
        out = ""
        for depth in range(shared, len(spans)):
            markup = self._writer.open(spans[depth], again=0 <= spans[depth].begin < since)
            markup = self._prefixed(markup, spans[: depth + 1], line)
            line = line.after(markup, marker=True)
            out += markup
        return out, line

    def _closed(self, spans: Spans, shared: int, at: int, line: _Line) -> tuple[str, _Line]:
        out = ""
        for depth in range(len(spans), shared, -1):
            span = spans[depth - 1]
            markup = self._writer.close(span, done=at >= self._styled.ends.get(span.begin, at))
            markup = self._prefixed(markup, spans[:depth], line)
            line = line.after(markup, marker=True)
            out += markup
        return out, line

    def _body(self, run: Run, start: int, end: int, line: _Line) -> str:
        first, newline, others = self._styled.text[start:end].partition("\n")
        escaped = self._writer.text(first, run, line_start=line.only_markers)
        if newline:
            escaped += newline + self._writer.text(others, run, line_start=True)
        return self._prefixed(escaped, run.spans, line)

    def _prefixed(self, text: str, spans: Spans, line: _Line) -> str:
        """The text with the prefix of its quotes before each line that begins in it."""
        prefix = self._writer.line_prefix(spans) if spans else ""
        if not prefix or not text:
            return text
        first, *others = text.split("\n")
        lines = [prefix + first if line.at_start else first, *(prefix + further for further in others)]
        if others and not others[-1]:
            lines[-1] = ""
        return "\n".join(lines)


_LONG = 500
"""Characters."""


def trimmed(styled: StyledText, writer: MarkupWriter) -> Iterator[Run]:
    """The runs of a styled text with the spans that the writer keeps.

    Where emphasis begins or ends at white space (because the writer keeps it off the code beside it), that
    white space is left outside: no platform takes `*bold *` for bold.
    """
    supported = [writer.supported(run) for run in styled.runs]
    for at, run in enumerate(styled.runs):
        before = supported[at - 1] if at else ()
        after = supported[at + 1] if at + 1 < len(supported) else ()
        yield from _parts(styled.text, run, supported[at], before, after)


def _parts(text: str, run: Run, spans: Spans, before: Spans, after: Spans) -> Iterator[Run]:
    start, end = run.start, run.end
    if not has(spans, *EMPHASIS):
        yield from (Run(low, high, spans, run.structure) for low, high in _stretches(text, start, end))
        return
    opening, closing = _without_new(spans, before), _without_new(spans, after)
    if opening != spans:
        start = end - len(text[start:end].lstrip())
    if closing != spans:
        end = start + len(text[start:end].rstrip())
    for low, high, inside in ((run.start, start, opening), (start, end, spans), (end, run.end, closing)):
        for begin, stop in _stretches(text, low, high):
            yield Run(begin, stop, inside, run.structure)


def _stretches(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """[start, end) in stretches of whole lines, so that no run of many lines is long to measure."""
    while end - start > _LONG:
        cut = text.rfind("\n", start, start + _LONG) + 1 or text.find("\n", start, end) + 1
        if not cut:
            break
        yield start, cut
        start = cut
    if start < end:
        yield start, end


def _without_new(spans: Spans, neighbour: Spans) -> Spans:
    """The spans without the emphasis that the neighbour does not share."""
    return tuple(span for span in spans if span.kind not in EMPHASIS or span in neighbour)
