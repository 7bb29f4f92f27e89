"""One owner per DATA_DIR: a lock that the kernel lets go of when the process ends, however it ends."""

import fcntl
import os
import time
from pathlib import Path

from adapters.outbound.storage.embedded.errors import EmbeddedPostgresError

# `is_owned` holds the lock for an instant, and an owner that is just ending may still have it.
_PATIENCE_S = 0.5


class OwnerLock:
    """The lock on `path`; `acquire` refuses if another process holds it."""

    def __init__(self, path: Path, data_dir: Path) -> None:
        self._path = path
        self._data_dir = data_dir
        self._file: int | None = None

    def acquire(self) -> None:
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        deadline = time.monotonic() + _PATIENCE_S
        while not _try_lock(handle, fcntl.LOCK_EX):
            if time.monotonic() > deadline:
                owner = os.pread(handle, 32, 0).decode("ascii", "replace").strip()
                os.close(handle)
                raise EmbeddedPostgresError(
                    f"DATA_DIR {self._data_dir} is in use by process {owner or 'unknown'}"
                )
            time.sleep(0.02)
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
        self._file = handle

    def release(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


def is_owned(path: Path) -> bool:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        return not _try_lock(handle, fcntl.LOCK_SH)
    finally:
        os.close(handle)


def _try_lock(handle: int, kind: int) -> bool:
    try:
        fcntl.flock(handle, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
