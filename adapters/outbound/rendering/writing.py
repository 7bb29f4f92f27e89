"""Writes a stretch of a flow in a dialect: spans opened and closed in order, lines of quotes prefixed."""

from __future__ import annotations

from adapters.outbound.rendering.dialect import Dialect
from adapters.outbound.rendering.flow import Flow, Run, Span, Spans


def write(flow: Flow, start: int, end: int, dialect: Dialect) -> str:
    """The markup of the visible text [start, end), well formed on its own."""
    return _Writer(flow, start, dialect).written(end)


class _Writer:
    def __init__(self, flow: Flow, start: int, dialect: Dialect) -> None:
        self._flow = flow
        self._start = start
        self._dialect = dialect
        self._out: list[str] = []
        self._stack: Spans = ()
        self._at_line_start = True
        self._only_marker = True

    def written(self, end: int) -> str:
        at = self._start
        for run in self._flow.between(self._start, end):
            self._turn_to(self._dialect.keep(run), at)
            self._text(run)
            at = run.end
        self._turn_to((), at)
        return "".join(self._out)

    def _turn_to(self, spans: Spans, at: int) -> None:
        shared = 0
        while shared < min(len(spans), len(self._stack)) and spans[shared] == self._stack[shared]:
            shared += 1
        for span in reversed(self._stack[shared:]):
            self._put(self._dialect.close(span, done=at >= self._flow.ends.get(span.begin, at)))
            self._stack = self._stack[:-1]
        for span in spans[shared:]:
            self._stack = (*self._stack, span)
            self._put(self._dialect.open(span, again=self._again(span)))

    def _again(self, span: Span) -> bool:
        return 0 <= span.begin < self._start

    def _text(self, run: Run) -> None:
        text = self._flow.text[run.start : run.end]
        for line in text.splitlines(keepends=True) if "\n" in text else (text,):
            escaped = self._dialect.text(line, run, line_start=self._only_marker)
            self._put(escaped)
            self._only_marker = line.endswith("\n") or (self._only_marker and run.structure)

    def _put(self, text: str) -> None:
        prefix = self._dialect.line_prefix(self._stack)
        if not prefix:
            self._out.append(text)
            self._at_line_start = text.endswith("\n") if text else self._at_line_start
            return
        for line in text.split("\n")[:-1]:
            self._out.append(f"{prefix if self._at_line_start else ''}{line}\n")
            self._at_line_start = True
        rest = text.rpartition("\n")[2]
        if rest:
            self._out.append(f"{prefix if self._at_line_start else ''}{rest}")
            self._at_line_start = False
