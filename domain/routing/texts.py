"""Texts of the service for senders, and reasons that it records."""

from collections.abc import Sequence

APOLOGY = "Sorry, I could not get an answer just now. Please try again in a moment."
PROCESSING_FAILED = "Sorry, something went wrong with this message. Please try again."
NO_RESOURCE = "No resource is connected to this channel yet, so nobody can answer."
TOO_MANY_CRASHES = "given up: several workers crashed while they processed this event"


def given_up(tries: int, reason: str) -> str:
    """The recorded reason after several failed tries."""
    return f"given up after {tries} tries: {reason}"


def not_read(files: Sequence[tuple[str, str]]) -> str:
    """The notice for a sender whose files are over a limit: their names, each with the reason."""
    return "\n".join(f"Sorry, I could not read {name}: {reason}." for name, reason in files)


def not_served(address: str) -> str:
    """The notice for a sender who is not verified. `address` is where to verify."""
    return f"Only verified users are served here. Verify your identity at {address} and write again."
