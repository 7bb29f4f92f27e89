"""Texts of the service for senders, and reasons that it records."""

APOLOGY = "Sorry, I could not get an answer just now. Please try again in a moment."
PROCESSING_FAILED = "Sorry, something went wrong with this message. Please try again."
NO_RESOURCE = "No resource is connected to this channel yet, so nobody can answer."
TOO_MANY_CRASHES = "given up: several workers crashed while they processed this event"


def given_up(tries: int, reason: str) -> str:
    """The recorded reason after several failed tries."""
    return f"given up after {tries} tries: {reason}"


def not_served(address: str) -> str:
    """The notice for a sender who is not verified. `address` is where to verify."""
    return f"Only verified users are served here. Verify your identity at {address} and write again."
