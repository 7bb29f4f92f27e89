"""Follows files of certificates and keys that are replaced while the process runs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from adapters.tls.files import BadCertificate, TlsFiles

log = logging.getLogger("switchboard.tls")

LOOK_EVERY = 5.0
"""Seconds between two looks at the files."""
WARN_BEFORE = timedelta(days=14)
WARN_EVERY = timedelta(days=1)


class WatchedFiles:
    """The latest contents that can be used. Files that cannot be, such as a key that does not match because its
    certificate is not written yet, leave the former in use."""

    def __init__(self, files: TlsFiles, now: Callable[[], datetime]) -> None:
        """Raises `BadCertificate`."""
        self.files = files
        self._now = now
        self.contents = files.read()
        self.valid_until: Mapping[str, datetime] = files.check(self.contents, now())
        self.fault: str | None = None
        """Why the files cannot be used as they are now."""
        self._warned: datetime | None = None
        self._looked = now()

    def look(self) -> bool:
        """Reads the files again; whether other contents are in use now."""
        try:
            changed = self._read()
        except BadCertificate as error:
            if str(error) != self.fault:
                log.error("%s. The former certificate and key stay in use", error)
            self.fault = str(error)
            changed = False
        self._warn()
        return changed

    def look_now_and_then(self) -> bool:
        """For who has no loop of his own: the same, at most once in `LOOK_EVERY` seconds."""
        now = self._now()
        if now - self._looked < timedelta(seconds=LOOK_EVERY):
            return False
        self._looked = now
        return self.look()

    def _read(self) -> bool:
        contents = self.files.read()
        if contents != self.contents:
            self.valid_until = self.files.check(contents, self._now())
            for name, valid_until in self.valid_until.items():
                log.info("%s was read again: valid until %s", name, f"{valid_until:%Y-%m-%d}")
        changed, self.contents, self.fault = contents != self.contents, contents, None
        return changed

    def _warn(self) -> None:
        now = self._now()
        if self._warned is not None and now - self._warned < WARN_EVERY:
            return
        for name, valid_until in self.valid_until.items():
            if valid_until - now < WARN_BEFORE:
                self._warned = now
                ended = "expired" if valid_until < now else "expires"
                log.warning("%s %s on %s; renew it", name, ended, f"{valid_until:%Y-%m-%d %H:%M} UTC")

    async def check(self) -> None:
        """Raises `RuntimeError` that says why the files cannot be used as they are now."""
        if self.fault:
            raise RuntimeError(f"{self.fault}. The former certificate and key stay in use")
