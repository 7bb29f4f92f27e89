"""Certificates of gRPC: reading them from PEM files, following files that are replaced while the process runs,
credentials made of them, and a probe that finds out why a gRPC server cannot be reached.

Errors name the setting of the file. The probe connects as HTTP/2 does, because gRPC itself reports little.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import grpc
from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.types import PublicKeyTypes
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

from adapters.system_errors import system_reason


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
    try:
        own = _public_bytes(load_pem_private_key(data, password=None).public_key())
    except TypeError as error:
        raise BadCertificate(
            f"{key.name}: {key.path} is encrypted; take the passphrase off with: openssl pkey -in {key.path.name}"
            " -out plain.key"
        ) from error
    except (ValueError, UnsupportedAlgorithm) as error:
        raise BadCertificate(f"{key.name}: {key.path} holds no private key in PEM form") from error
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


@dataclass(frozen=True, slots=True)
class ClientTls:
    """`server_name`: the name that certificates of servers must have; empty: that of the target."""

    files: WatchedFiles
    server_name: str = ""


def server_credentials(files: WatchedFiles) -> grpc.ServerCredentials:
    """For a port that follows its files: a connection gets the certificate that is in use when it begins. With CAs,
    clients need a certificate of theirs."""
    served = files.contents

    def changed() -> grpc.ServerCertificateConfiguration | None:
        """Called by gRPC for each new connection; None: nothing changed."""
        nonlocal served
        contents = files.contents
        if contents is served:
            return None
        served = contents
        return _configuration(contents)

    return grpc.dynamic_ssl_server_credentials(
        _configuration(served),
        changed,  # type: ignore[arg-type]  # None is allowed
        require_client_authentication=served.ca is not None,
    )


def _configuration(contents: TlsContents) -> grpc.ServerCertificateConfiguration:
    pair = (contents.key or b"", contents.certificate or b"")
    return grpc.ssl_server_certificate_configuration([pair], contents.ca)


def channel_credentials(contents: TlsContents) -> grpc.ChannelCredentials:
    """For a channel, which keeps them. Without CAs it trusts the system's."""
    return grpc.ssl_channel_credentials(contents.ca, contents.key, contents.certificate)


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
        changed = False
        try:
            contents = self.files.read()
            if contents != self.contents:
                self.valid_until = self.files.check(contents, self._now())
                for name, valid_until in self.valid_until.items():
                    log.info("%s was read again: valid until %s", name, f"{valid_until:%Y-%m-%d}")
                changed, self.contents = True, contents
            self.fault = None
        except BadCertificate as error:
            if str(error) != self.fault:
                log.error("%s. The former certificate and key stay in use", error)
            self.fault = str(error)
        self._warn()
        return changed

    def look_now_and_then(self) -> bool:
        """For who has no loop of his own: the same, at most once in `LOOK_EVERY` seconds."""
        now = self._now()
        if now - self._looked < timedelta(seconds=LOOK_EVERY):
            return False
        self._looked = now
        return self.look()

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


SECONDS = 2.0
HELLO = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"
"""The connection preface and empty settings (RFC 9113, 3.4)."""
FRAME_HEAD = 9
SETTINGS = b"\x04"

EXPIRED, NOT_YET_VALID = 10, 9
WRONG_NAME = (62, 64)
"""Verification results of OpenSSL; 64 is an address."""

NO_TLS = "it speaks no TLS: set GRPC_TLS_CERT_FILE and GRPC_TLS_KEY_FILE there, or CORE_TLS=off here"
ONLY_TLS = "it speaks TLS alone: set CORE_TLS=on, and CORE_TLS_CA_FILE where its CA is your own"
NEEDS_CERTIFICATE = "it asks for a client certificate: set CORE_TLS_CERT_FILE and CORE_TLS_KEY_FILE"
CERTIFICATE_REFUSED = (
    "it does not take the certificate of CORE_TLS_CERT_FILE: the CA of that must be in the core's"
    " GRPC_TLS_CLIENT_CA_FILE"
)


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """`fault` is empty when the connection works. `valid_until`: the end of the server's certificate."""

    fault: str = ""
    valid_until: datetime | None = None


async def probe(host: str, port: int, files: WatchedFiles | None, server_name: str = "") -> ProbeResult:
    """Connects once; over TLS where there are files."""
    try:
        async with asyncio.timeout(SECONDS):
            if files:
                return await _over_tls(host, port, files, server_name or host)
            answer = await _greeted(*await asyncio.open_connection(host, port))
            return ProbeResult("" if answer[3:4] == SETTINGS else ONLY_TLS)
    except TimeoutError:
        return ProbeResult(f"no answer within {SECONDS:g} seconds")
    except socket.gaierror as error:
        return ProbeResult(f"its name cannot be resolved: {error.strerror}")
    except OSError as error:
        return ProbeResult(f"it cannot be reached: {system_reason(error) or error}")


async def _over_tls(host: str, port: int, files: WatchedFiles, server_name: str) -> ProbeResult:
    context = _context(files)
    try:
        reader, writer = await asyncio.open_connection(host, port, ssl=context, server_hostname=server_name)
    except ssl.SSLCertVerificationError as error:
        return ProbeResult(_verification_fault(error, files, server_name))
    except (ssl.SSLError, ConnectionResetError):
        return ProbeResult(NO_TLS)
    end = (writer.get_extra_info("peercert") or {}).get("notAfter")
    valid_until = datetime.fromtimestamp(ssl.cert_time_to_seconds(end), UTC) if end else None
    refused = CERTIFICATE_REFUSED if files.contents.certificate else NEEDS_CERTIFICATE
    try:
        answer = await _greeted(reader, writer)
    except (ssl.SSLError, ConnectionError):
        return ProbeResult(refused, valid_until)
    return ProbeResult("" if answer else refused, valid_until)


def _context(files: WatchedFiles) -> ssl.SSLContext:
    authorities = files.contents.ca
    context = ssl.create_default_context(
        cadata=authorities.decode("ascii", "ignore") if authorities else None
    )
    context.set_alpn_protocols(["h2"])
    certificate, key = files.files.certificate, files.files.key
    if certificate and key:
        context.load_cert_chain(certificate.path, key.path)
    return context


async def _greeted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    """The head of the server's first frame; fewer bytes where it closes the connection."""
    try:
        writer.write(HELLO)
        await writer.drain()
        return await reader.readexactly(FRAME_HEAD)
    except asyncio.IncompleteReadError as error:
        return error.partial
    finally:
        writer.close()


def _verification_fault(error: ssl.SSLCertVerificationError, files: WatchedFiles, server_name: str) -> str:
    if error.verify_code == EXPIRED:
        return "its certificate expired: renew the file of GRPC_TLS_CERT_FILE there"
    if error.verify_code == NOT_YET_VALID:
        return "its certificate is not valid yet: check the clocks of both machines"
    if error.verify_code in WRONG_NAME:
        return (
            f"its certificate does not name '{server_name}': make one that does, or set CORE_TLS_SERVER_NAME to a"
            " name that it has"
        )
    trusted = files.files.ca.name if files.files.ca else "the system"
    return (
        f"its certificate is of no CA that {trusted} lists ({error.verify_message}): set CORE_TLS_CA_FILE to the CA"
        " that signed it"
    )
