"""The words that choose what operators see. Pure."""

from domain.conversations.model import Direction
from domain.monitoring.model import Period
from domain.refusals import Fault, Invalid


def parse_direction(text: str) -> Direction | None:
    """None for both. Raises `Invalid`."""
    if text and text not in list(Direction):
        raise Invalid.of([Fault("direction", "must be in or out")])
    return Direction(text) if text else None


def parse_period(text: str) -> Period:
    """Raises `Invalid`."""
    if text not in list(Period):
        raise Invalid.of([Fault("period", "must be hour or day")])
    return Period(text)
