"""Time zones by their names in the IANA database."""

from datetime import UTC, tzinfo
from zoneinfo import ZoneInfo


def time_zone(name: str) -> tzinfo:
    """The zone of a name without fault."""
    return UTC if name.upper() == "UTC" else ZoneInfo(name)


def time_zone_fault(name: str) -> str | None:
    """The fault of a name, or None."""
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # ZoneInfoNotFoundError is a KeyError
        return "must be a time zone of the IANA database, for example Europe/Berlin"
    return None
