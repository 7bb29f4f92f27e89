"""From when on unread mail is taken, as an instance's `since` says: hours before its creation, or a date."""

from datetime import MAXYEAR, UTC, datetime, timedelta

MOST_HOURS = 24 * 366 * 10
_YEARS = range(1971, MAXYEAR)
_FAULT = "must be a number of hours, such as 24, or a date from 1971 on, such as 2026-11-30"


def since_fault(value: object) -> str | None:
    """What is wrong with a value, None if nothing."""
    return None if _hours(value) is not None or _date(value) is not None else _FAULT


def taken_from(value: str | float, created: datetime) -> datetime | None:
    """The time before which mail is left alone; None where all unread mail is taken."""
    if (hours := _hours(value)) is not None:
        return created - timedelta(hours=hours)
    return _date(value)


def _hours(value: object) -> float | None:
    try:
        hours = float(str(value))
    except ValueError:
        return None
    return hours if 0 <= hours <= MOST_HOURS and str(value) else None


def _date(value: object) -> datetime | None:
    try:
        date = datetime.fromisoformat(str(value).strip())
    except ValueError:
        return None
    if date.year not in _YEARS:  # servers know no others, in any time zone
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)
