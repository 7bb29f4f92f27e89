"""Finds out why a gRPC server cannot be reached, as gRPC itself tells little of it: connects as HTTP/2 does, over TLS
or without, and puts what happens in words that name the settings."""

from __future__ import annotations

import asyncio
import socket
import ssl
from dataclasses import dataclass
from datetime import UTC, datetime

from adapters.system_errors import system_reason
from adapters.tls.watching import WatchedFiles

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
            return await (_over_tls(host, port, files, server_name or host) if files else _plain(host, port))
    except TimeoutError:
        return ProbeResult(f"no answer within {SECONDS:g} seconds")
    except socket.gaierror as error:
        return ProbeResult(f"its name cannot be resolved: {error.strerror}")
    except OSError as error:
        return ProbeResult(f"it cannot be reached: {system_reason(error) or error}")


async def _plain(host: str, port: int) -> ProbeResult:
    answer = await _greeted(*await asyncio.open_connection(host, port))
    return ProbeResult("" if answer[3:4] == SETTINGS else ONLY_TLS)


async def _over_tls(host: str, port: int, files: WatchedFiles, server_name: str) -> ProbeResult:
    context = _context(files)
    try:
        reader, writer = await asyncio.open_connection(host, port, ssl=context, server_hostname=server_name)
    except ssl.SSLCertVerificationError as error:
        return ProbeResult(_verification_fault(error, files, server_name))
    except (ssl.SSLError, ConnectionResetError):
        return ProbeResult(NO_TLS)
    valid_until = _valid_until(writer.get_extra_info("peercert"))
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


def _valid_until(certificate: dict[str, str] | None) -> datetime | None:
    end = (certificate or {}).get("notAfter")
    return datetime.fromtimestamp(ssl.cert_time_to_seconds(end), UTC) if end else None
