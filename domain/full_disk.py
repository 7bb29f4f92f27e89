"""Full disks. Pure."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from domain.refusals import StorageFull

FULL = "the disk of the service is full: the file could not be stored; try again once there is room"
_FULL_ERRORS = (errno.ENOSPC, errno.EDQUOT)
"""No space left, and a quota that is used up."""


def is_full_disk(error: BaseException) -> bool:
    """Whether an error says that there is no room on a disk."""
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
