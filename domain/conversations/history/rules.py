"""What callers may ask for of conversations. Pure."""

from collections.abc import Iterator

from domain import limits
from domain.conversations.model import ConversationFilter
from domain.refusals import Fault, Invalid

MOST_INSTANCES = 100
"""Instances that one list may name."""

HANDLER_MINUTES = 60
"""How long a person has a conversation who says nothing else."""
MOST_MINUTES = 10_080
"""A week."""


def checked_minutes(minutes: int | None) -> int:
    """Raises `Invalid`."""
    if minutes is None:
        return HANDLER_MINUTES
    if not 1 <= minutes <= MOST_MINUTES:
        raise Invalid.of([Fault("minutes", f"must be a whole number from 1 to {MOST_MINUTES}")])
    return minutes


def filter_faults(wanted: ConversationFilter) -> Iterator[Fault]:
    """What is wrong with a list that a caller asks for."""
    if fault := limits.text_fault(wanted.query, limits.CONVERSATION_QUERY):
        yield Fault("query", fault)
    if len(set(wanted.instance_ids)) > MOST_INSTANCES:
        yield Fault("instanceId", f"must name at most {MOST_INSTANCES} instances")
