"""How long a person may have a conversation. Pure."""

from domain.refusals import Fault, Invalid

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
