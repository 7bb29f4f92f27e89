"""What is missing when a call cannot be proved, in words."""

from __future__ import annotations


def missing_proof(unproved_for: str) -> str:
    """The words for a `Received.unproved_for`: a header that did not come, or a config field that is not set."""
    if unproved_for.lower().startswith("x-"):
        return f"the header {unproved_for} did not come"
    return f"config.{unproved_for} is not set"
