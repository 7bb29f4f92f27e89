"""What callers may ask for of events. Pure."""

from collections.abc import Iterator, Sequence

from domain.events.model import EventKind
from domain.refusals import Fault

MOST_INSTANCES = 100
"""Instances that one stream or subscription may name."""


def filter_faults(
    kinds: Sequence[str], instance_ids: Sequence[int], instances_field: str = "instanceIds"
) -> Iterator[Fault]:
    """What is wrong with the kinds and instances that a caller names."""
    unknown = sorted({kind[:50] for kind in kinds if kind not in set(EventKind)})
    if unknown:
        yield Fault("kinds", f"{', '.join(unknown)}: unknown; there are {', '.join(EventKind)}")
    if len(set(instance_ids)) > MOST_INSTANCES:
        yield Fault(instances_field, f"must name at most {MOST_INSTANCES} instances")
