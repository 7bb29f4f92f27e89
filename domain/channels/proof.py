"""Who proves the sender of an event, and what is missing when a call cannot be proved."""

from enum import StrEnum


class Proof(StrEnum):
    """Who proves the identities of a sender.

    Whoever knows a secret of the instance, or runs the server behind it, can name any sender: what such a secret or
    server proves is the word of the instance's owner.
    """

    PLATFORM = "platform"
    """The platform: this service connects to it, or verifies a signature that the owner cannot make."""
    OWNER = "owner"
    """A secret or server of the instance's owner."""
    SERVICE = "service"
    """This service: the user called it with a key or session."""


def missing_proof(missing_proof_field: str) -> str:
    """The text for a `Received.missing_proof_field`: a missing header, or a config field that is not set."""
    if missing_proof_field.lower().startswith("x-"):
        return f"the header {missing_proof_field} did not come"
    return f"config.{missing_proof_field} is not set"
