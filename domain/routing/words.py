"""What the service itself says to senders."""

from __future__ import annotations

APOLOGY = "Sorry, I could not get an answer just now. Please try again in a moment."
GAVE_UP = "Sorry, something went wrong with this message. Please try again."
NO_RESOURCE = "No resource is connected to this channel yet, so nobody can answer."
TOO_MANY_CRASHES = "given up: several workers died over this event"


def given_up(tries: int, reason: str) -> str:
    """The record of work that failed at each of several tries."""
    return f"given up after {tries} tries: {reason}"


def not_served(address: str) -> str:
    """The notice for a sender who is not verified, with the address where to verify."""
    return f"Only verified users are served here. Verify your identity at {address} and write again."
