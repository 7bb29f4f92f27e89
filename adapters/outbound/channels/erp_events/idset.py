"""A set of record ids as text: runs of ids, such as '1-500,502', which is short for what a table holds."""

from __future__ import annotations

from collections.abc import Iterable


def packed(ids: Iterable[int]) -> str:
    """The ids as ascending runs."""
    runs: list[list[int]] = []
    for each in sorted(set(ids)):
        if runs and each == runs[-1][1] + 1:
            runs[-1][1] = each
        else:
            runs.append([each, each])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in runs)


def unpacked(text: str) -> set[int]:
    """The ids of what `packed` gave."""
    found: set[int] = set()
    for run in filter(None, text.split(",")):
        low, _, high = run.partition("-")
        found.update(range(int(low), int(high or low) + 1))
    return found
