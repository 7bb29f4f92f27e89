"""Messages of a text that is too long to be formatted."""

from collections.abc import Callable, Iterator

from adapters.outbound.rendering.cutting import boundary_at_or_before, measure
from adapters.outbound.rendering.model import Rendered
from domain.channels.model import TextLimit

_BREAKS = ("\n\n", "\n", ". ", "\u3002", " ")
"""Where a text is cut, the best first."""
_LONGEST_CLUSTER = 100
"""Characters before a cut that are looked at where a text offers no break."""


def as_written(
    text: str, limit: TextLimit | None, write: Callable[[str], str], source_limit: TextLimit | None
) -> Iterator[Rendered]:
    """The text in pieces within `limit`, each of which `write` escapes. Where that makes a piece longer than
    `source_limit`, it is divided further: to look for the longest one that fits would escape the text many times."""
    if limit is None or source_limit is None:
        yield Rendered(write(text.rstrip()), text.rstrip())
        return
    start = 0
    while start < len(text):
        end = _end(text, start, limit)
        piece = text[start:end].lstrip("\r\n").rstrip()
        start = end
        if not piece:
            continue
        source = write(piece)
        length = measure(source, source_limit.unit)
        if length <= source_limit.size or limit.size <= 1:
            yield Rendered(source, piece)
        else:
            share = min(source_limit.size / length, 0.9)
            smaller = TextLimit(max(1, int(limit.size * share)), limit.unit)
            yield from as_written(piece, smaller, write, source_limit)


def _end(text: str, start: int, limit: TextLimit) -> int:
    """Where the piece ends that begins at `start`."""
    end = start + max(1, limit.size)
    while end > start + 1 and (length := measure(text[start:end], limit.unit)) > limit.size:
        end = start + max(1, (end - start) * limit.size // length)
    if end >= len(text):
        return len(text)
    for mark in _BREAKS:
        at = text.rfind(mark, start + 1, end)
        if at > 0:
            return at + len(mark)
    cut = boundary_at_or_before(text, end, max(start, end - _LONGEST_CLUSTER))
    return cut if cut > start else end
