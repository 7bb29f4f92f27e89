"""Where a flow may be cut."""

from __future__ import annotations

from collections.abc import Iterator

from adapters.outbound.rendering.dialect import has
from adapters.outbound.rendering.flow import Kind, Run, StyledText
from domain.routing.cutting import Break, Rank, breaks_of


def breaks(flow: StyledText) -> Iterator[Break]:
    """Where the flow may be cut: not in or after a list marker, and after a heading only at need."""
    for each in breaks_of(flow.text):
        run = flow.run_at(each.end)
        if run is None or run.structure:
            continue
        yield Break(each.end, each.start, _rank(flow, each, run))


def _rank(flow: StyledText, each: Break, run: Run) -> Rank:
    if has(run.spans, Kind.PRE, Kind.TABLE):
        return each.rank.in_code
    return Rank.WORD if each.end in flow.keep_with_next else each.rank
