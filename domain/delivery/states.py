"""States of deliveries and pushes that a list can be narrowed to. Pure."""

from domain.refusals import Fault, Invalid

STATES = ("pending", "sent", "dead")


def check_state(status: str | None) -> None:
    """Raises `Invalid`."""
    if status is not None and status not in STATES:
        raise Invalid.of([Fault("status", "must be one of 'pending', 'sent', 'dead'")])
