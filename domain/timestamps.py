"""Times as callers read them. Pure."""

from datetime import UTC, datetime


def iso_milliseconds(moment: datetime) -> str:
    """UTC, ISO 8601, milliseconds and Z."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"
