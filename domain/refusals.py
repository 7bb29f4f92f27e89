"""Errors for a caller, each with a reason and a sentence."""

from __future__ import annotations

import errno
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass


class Refusal(Exception):
    """A refused request. `message` is shown to the caller: what is wrong and what to do, without secrets."""

    reason = "REFUSED"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class Unauthenticated(Refusal):
    """Nobody is known to stand behind the call, or its proof of origin is wrong."""

    reason = "UNAUTHENTICATED"


class Forbidden(Refusal):
    """The caller is known and may not do this."""

    reason = "FORBIDDEN"


class NotFound(Refusal):
    """What the call names does not exist."""

    reason = "NOT_FOUND"


class Conflict(Refusal):
    """The call clashes with what is stored."""

    reason = "CONFLICT"


@dataclass(frozen=True, slots=True)
class Fault:
    """One field at fault and what would mend it."""

    field: str
    message: str

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"


class Invalid(Refusal):
    """The call's content is wrong; `faults` lists every field at fault."""

    reason = "INVALID"

    def __init__(self, message: str, faults: Sequence[Fault] = ()) -> None:
        super().__init__(message)
        self.faults = tuple(faults)

    @classmethod
    def of(cls, faults: Sequence[Fault]) -> Invalid:
        """One refusal for several faults, its message naming each of them."""
        return cls("; ".join(str(fault) for fault in faults), faults)


class Unsupported(Refusal):
    """The content is of a kind that is not supported (here, or on this installation)."""

    reason = "UNSUPPORTED"


class Unreadable(Refusal):
    """The content is of a supported kind and cannot be read: corrupt, encrypted, empty."""

    reason = "UNREADABLE"


class TooLarge(Refusal):
    """The content is over a limit."""

    reason = "TOO_LARGE"


class TooMany(Refusal):
    """The caller asks too often; `retry_after` is in seconds."""

    reason = "TOO_MANY"

    def __init__(self, message: str, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Unavailable(Refusal):
    """Something that the answer needs is away for the moment; `retry_after` is in seconds."""

    reason = "UNAVAILABLE"

    def __init__(self, message: str, retry_after: float = 2.0) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class StorageAway(Unavailable):
    """The database does not answer: nothing can be put on record until it is back, whatever the work is about."""


class PlatformAway(Unavailable):
    """A platform does not answer, or was asked too often; `retry_after` is in seconds."""


class StorageFull(Unavailable):
    """There is no room for a file; `retry_after` is in seconds."""

    def __init__(self, message: str, retry_after: float = 60.0) -> None:
        super().__init__(message, retry_after)


class NotBuilt(Refusal):
    """The contract names this and the running version does not do it yet."""

    reason = "NOT_BUILT"


INTERNAL = "an internal error; the log has the details"
"""What people read of an error of the program. Its own text is for the log: it may hold a secret."""


def reason_of(failure: Exception) -> str:
    """The recorded reason of a failure."""
    return failure.message if isinstance(failure, Refusal) else INTERNAL


FULL = "the disk of the service is full: the file could not be stored; try again once there is room"
_FULL_ERRORS = (errno.ENOSPC, errno.EDQUOT)
"""No space left, and a quota that is used up."""


def is_full_disk(error: BaseException) -> bool:
    """Return True if an error means that a disk is full."""
    return isinstance(error, OSError) and error.errno in _FULL_ERRORS


@contextmanager
def full_disk_refused() -> Iterator[None]:
    """Raises `StorageFull` where writing fails since the disk is full."""
    try:
        yield
    except OSError as error:
        if is_full_disk(error):
            raise StorageFull(FULL) from error
        raise
