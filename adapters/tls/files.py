"""Reads certificates, private keys and CAs from files, and says what is wrong with them by their settings.

The library of certificates, 7 MB, is imported with the first file.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path


class BadCertificate(ValueError):
    """A file cannot be used for TLS; the message names its setting and the fix."""


@dataclass(frozen=True, slots=True)
class PemSetting:
    """A file in PEM form, and what names it: a setting, or a key of a rule."""

    name: str
    path: Path

    def read(self) -> bytes:
        try:
            return self.path.read_bytes()
        except OSError as error:
            raise BadCertificate(f"{self.name}: {self.path} cannot be read: {error.strerror}") from error


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """The own certificate with its key, and the CAs that the other side's certificate is checked against."""

    certificate: PemSetting | None = None
    key: PemSetting | None = None
    ca: PemSetting | None = None

    def read(self) -> TlsContents:
        """The bytes as they are now. Raises `BadCertificate` for a file that cannot be read."""
        return TlsContents(*(file.read() if file else None for file in (self.certificate, self.key, self.ca)))

    def check(self, contents: TlsContents, now: datetime) -> dict[str, datetime]:
        """Until when each file of certificates is valid, by its setting. Raises `BadCertificate`."""
        from adapters.tls.pem import certificates, check_match, check_time

        valid: dict[str, datetime] = {}
        if self.certificate and self.key and contents.certificate is not None and contents.key is not None:
            chain = certificates(self.certificate, contents.certificate)
            check_match(self.certificate, self.key, chain, contents.key)
            check_time(self.certificate, chain[0], now)
            valid[self.certificate.name] = chain[0].not_valid_after_utc
        if self.ca and contents.ca is not None:
            authorities = certificates(self.ca, contents.ca)
            newest = max(authorities, key=lambda authority: authority.not_valid_after_utc)
            check_time(self.ca, newest, now)
            valid[self.ca.name] = newest.not_valid_after_utc
        return valid


@dataclass(frozen=True, slots=True)
class TlsContents:
    certificate: bytes | None = None
    key: bytes | None = None
    ca: bytes | None = None
