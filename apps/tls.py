"""TLS of the gRPC core and of gateways, from the settings."""

from asyncio import to_thread
from datetime import UTC, datetime
from functools import partial
from ipaddress import ip_address
from pathlib import Path

from adapters.inbound.jobs.periodic import PeriodicRunner, PeriodicTask
from adapters.outbound.net.tls import (
    LOOK_EVERY,
    BadCertificate,
    ClientTls,
    PemSetting,
    TlsFiles,
    WatchedFiles,
)
from apps.setting_types import SettingsError
from apps.settings import Settings

USE_TLS = (
    "keys and messages cross the network in plain text: set GRPC_TLS_CERT_FILE and GRPC_TLS_KEY_FILE (docs/tls.md),"
    " or GRPC_HOST=127.0.0.1"
)


def core_files(settings: Settings) -> TlsFiles | None:
    """Those of the gRPC core; None without TLS."""
    if settings.grpc_tls_cert_file is None:
        return None
    return TlsFiles(
        _file("GRPC_TLS_CERT_FILE", settings.grpc_tls_cert_file),
        _file("GRPC_TLS_KEY_FILE", settings.grpc_tls_key_file),
        _file("GRPC_TLS_CLIENT_CA_FILE", settings.grpc_tls_client_ca_file),
    )


def gateway_files(settings: Settings) -> TlsFiles | None:
    """Those of a gateway; None where it calls the core without TLS."""
    if not settings.core_over_tls:
        return None
    return TlsFiles(
        _file("CORE_TLS_CERT_FILE", settings.core_tls_cert_file),
        _file("CORE_TLS_KEY_FILE", settings.core_tls_key_file),
        _file("CORE_TLS_CA_FILE", settings.core_tls_ca_file) or trusted_file(settings),
    )


def trusted_file(settings: Settings) -> PemSetting | None:
    """The CAs that are trusted in place of the system's."""
    return _file("SSL_CERT_FILE", settings.ssl_cert_file)


def watched(files: TlsFiles | None) -> WatchedFiles | None:
    """Raises `SettingsError` where they cannot be used."""
    try:
        return WatchedFiles(files, lambda: datetime.now(UTC)) if files else None
    except BadCertificate as error:
        raise SettingsError(str(error)) from error


def tls_to_core(settings: Settings) -> ClientTls | None:
    """Raises `SettingsError`."""
    files = watched(gateway_files(settings))
    return ClientTls(files, settings.core_tls_server_name) if files else None


async def keep_looking(files: WatchedFiles) -> None:
    """Follows the files until it is cancelled."""
    await PeriodicRunner([PeriodicTask("certificates", LOOK_EVERY, partial(to_thread, files.look))]).run()


def is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _file(name: str, path: Path | None) -> PemSetting | None:
    return PemSetting(name, path) if path else None
