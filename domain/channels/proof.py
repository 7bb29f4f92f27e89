"""What is missing when a call cannot be proved, in words."""


def missing_proof(missing_proof_field: str) -> str:
    """The text for a `Received.missing_proof_field`: a missing header, or a config field that is not set."""
    if missing_proof_field.lower().startswith("x-"):
        return f"the header {missing_proof_field} did not come"
    return f"config.{missing_proof_field} is not set"
