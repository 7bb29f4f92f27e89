"""Reads certificates, private keys and CAs from PEM files. Errors name the setting of the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.types import PublicKeyTypes
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key


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
        valid: dict[str, datetime] = {}
        if self.certificate and self.key and contents.certificate is not None and contents.key is not None:
            chain = certificates(self.certificate, contents.certificate)
            _check_match(self.certificate, self.key, chain, contents.key)
            _check_time(self.certificate, chain[0], now)
            valid[self.certificate.name] = chain[0].not_valid_after_utc
        if self.ca and contents.ca is not None:
            authorities = certificates(self.ca, contents.ca)
            newest = max(authorities, key=lambda authority: authority.not_valid_after_utc)
            _check_time(self.ca, newest, now)
            valid[self.ca.name] = newest.not_valid_after_utc
        return valid


@dataclass(frozen=True, slots=True)
class TlsContents:
    certificate: bytes | None = None
    key: bytes | None = None
    ca: bytes | None = None


def certificates(file: PemSetting, data: bytes) -> Sequence[x509.Certificate]:
    """At least one. Raises `BadCertificate`."""
    try:
        return x509.load_pem_x509_certificates(data)
    except ValueError as error:
        raise BadCertificate(
            f"{file.name}: {file.path} holds no certificate in PEM form, which begins with"
            " -----BEGIN CERTIFICATE-----"
        ) from error


def _check_match(
    certificate: PemSetting, key: PemSetting, chain: Sequence[x509.Certificate], data: bytes
) -> None:
    own = _public_bytes(_private_key(key, data))
    matching = [position for position, link in enumerate(chain) if _public_bytes(link.public_key()) == own]
    if not matching:
        raise BadCertificate(
            f"{key.name}: {key.path} is not the key of the certificate in {certificate.path}"
            f" ({certificate.name}); set files that were made together"
        )
    if matching[0]:
        raise BadCertificate(
            f"{certificate.name}: {certificate.path} begins with another certificate than the one of {key.name};"
            " put that first, its issuers behind it"
        )


def _private_key(file: PemSetting, data: bytes) -> PublicKeyTypes:
    """Its public half. Raises `BadCertificate`."""
    try:
        return load_pem_private_key(data, password=None).public_key()
    except TypeError as error:
        raise BadCertificate(
            f"{file.name}: {file.path} is encrypted; take the passphrase off with: openssl pkey -in {file.path.name}"
            " -out plain.key"
        ) from error
    except (ValueError, UnsupportedAlgorithm) as error:
        raise BadCertificate(f"{file.name}: {file.path} holds no private key in PEM form") from error


def _public_bytes(key: PublicKeyTypes) -> bytes:
    return key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def _check_time(file: PemSetting, certificate: x509.Certificate, now: datetime) -> None:
    if now > certificate.not_valid_after_utc:
        raise BadCertificate(
            f"{file.name}: the certificate in {file.path} expired on {_day(certificate.not_valid_after_utc)};"
            " renew it"
        )
    if now < certificate.not_valid_before_utc:
        raise BadCertificate(
            f"{file.name}: the certificate in {file.path} is valid from {_day(certificate.not_valid_before_utc)} on;"
            " check the clock of this machine"
        )


def _day(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
