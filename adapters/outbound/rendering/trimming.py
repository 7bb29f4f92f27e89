"""The runs of a styled text as a writer can nest them, emphasis drawn in from white space at its edges."""

from collections.abc import Iterator

from adapters.outbound.rendering.markup_writer import MarkupWriter
from adapters.outbound.rendering.styled_text import EMPHASIS, Run, Spans, StyledText, has

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
