"""What certificates and keys in PEM form hold. Loaded only where there is TLS: the library takes time and memory."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.types import PublicKeyTypes
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

from adapters.tls.files import BadCertificate, PemSetting


def certificates(file: PemSetting, data: bytes) -> Sequence[x509.Certificate]:
    """At least one. Raises `BadCertificate`."""
    try:
        return x509.load_pem_x509_certificates(data)
    except ValueError as error:
        raise BadCertificate(
            f"{file.name}: {file.path} holds no certificate in PEM form, which begins with"
            " -----BEGIN CERTIFICATE-----"
        ) from error


def check_match(
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


def check_time(file: PemSetting, certificate: x509.Certificate, now: datetime) -> None:
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
