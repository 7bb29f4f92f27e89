"""Times as microseconds since the epoch, exact both ways."""

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


def to_us(time: datetime) -> int:
    return (time - EPOCH) // MICROSECOND


def from_us(microseconds: int) -> datetime:
    return EPOCH + timedelta(microseconds=microseconds)
