"""A set of record ids as text: ranges such as '1-500,502', which is short for the ids of a table."""

from __future__ import annotations

from collections.abc import Iterable


def packed(ids: Iterable[int]) -> str:
    """The ids as ascending runs."""
    runs: list[list[int]] = []
    for record_id in sorted(set(ids)):
        if runs and record_id == runs[-1][1] + 1:
            runs[-1][1] = record_id
        else:
            runs.append([record_id, record_id])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in runs)


def unpacked(text: str) -> set[int]:
    """The ids that `packed` was given."""
    ids: set[int] = set()
    for run in filter(None, text.split(",")):
        low, _, high = run.partition("-")
        ids.update(range(int(low), int(high or low) + 1))
    return ids
