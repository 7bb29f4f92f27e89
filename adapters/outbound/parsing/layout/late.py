"""Lines that were drawn after what stands below them, such as headings that a program writes last. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

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
