"""The settings of TLS between gateway and core, and for gRPC clients of a core."""

import os
import ssl
from pathlib import Path
from typing import Literal

from apps.setting_types import PemFile, SettingsError, SettingsGroup, setting


class TlsSettings(SettingsGroup):
    """The files are read again while the process runs (docs/tls.md)."""

    ssl_cert_file: PemFile | None = setting(
        None,
        "CAs in PEM form that all outbound connections over TLS trust, in place of the system's file; read at start",
    )
    grpc_tls_cert_file: PemFile | None = setting(
        None,
        "certificate of the gRPC core in PEM form, its issuers behind it; set with GRPC_TLS_KEY_FILE, the core speaks"
        " TLS alone",
    )
    grpc_tls_key_file: PemFile | None = setting(None, "its private key, in PEM form and without a passphrase")
    grpc_tls_client_ca_file: PemFile | None = setting(
        None,
        "CAs of clients in PEM form; set, the core takes only clients with a certificate of theirs (mutual TLS)",
    )
    core_tls: Literal["auto", "on", "off"] = setting(
        "auto",
        "whether `switchboard gateway` calls the core over TLS; auto: on where one of CORE_TLS_CA_FILE,"
        " CORE_TLS_CERT_FILE, CORE_TLS_SERVER_NAME and GRPC_TLS_CERT_FILE is set",
    )
    core_tls_ca_file: PemFile | None = setting(
        None,
        "CAs in PEM form that the gateway trusts for the core's certificate; empty: SSL_CERT_FILE, or the system's",
    )
    core_tls_cert_file: PemFile | None = setting(
        None, "the gateway's own certificate for a core that asks for one (mutual TLS), in PEM form"
    )
    core_tls_key_file: PemFile | None = setting(None, "its private key, in PEM form and without a passphrase")
    core_tls_server_name: str = setting(
        "",
        "name that the core's certificate must have; empty: the host of CORE_TARGET. For targets that are addresses",
    )

    @property
    def core_over_tls(self) -> bool:
        """Whether the gateway calls the core over TLS."""
        named = (
            self.core_tls_ca_file,
            self.core_tls_cert_file,
            self.core_tls_server_name,
            self.grpc_tls_cert_file,
        )
        return self.core_tls == "on" or (self.core_tls == "auto" and any(named))


def trust(path: Path | None) -> None:
    """Makes it the file that OpenSSL trusts in this process, also where `.env` names it. Raises `SettingsError`."""
    if path is None:
        return
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(path)
    except ssl.SSLError as error:
        raise SettingsError(
            f"SSL_CERT_FILE: {path} holds no certificate in PEM form, which begins with -----BEGIN CERTIFICATE-----"
        ) from error
    except OSError as error:
        raise SettingsError(f"SSL_CERT_FILE: {path} cannot be read: {error.strerror}") from error
    os.environ["SSL_CERT_FILE"] = str(path)


def check_pairs(settings: TlsSettings) -> None:
    """Raises `SettingsError` for a setting that is of no use without another one."""
    needs: tuple[tuple[str, Path | None, str, Path | None], ...] = (
        ("GRPC_TLS_CERT_FILE", settings.grpc_tls_cert_file, "GRPC_TLS_KEY_FILE", settings.grpc_tls_key_file),
        ("GRPC_TLS_KEY_FILE", settings.grpc_tls_key_file, "GRPC_TLS_CERT_FILE", settings.grpc_tls_cert_file),
        (
            "GRPC_TLS_CLIENT_CA_FILE",
            settings.grpc_tls_client_ca_file,
            "GRPC_TLS_CERT_FILE",
            settings.grpc_tls_cert_file,
        ),
        ("CORE_TLS_CERT_FILE", settings.core_tls_cert_file, "CORE_TLS_KEY_FILE", settings.core_tls_key_file),
        ("CORE_TLS_KEY_FILE", settings.core_tls_key_file, "CORE_TLS_CERT_FILE", settings.core_tls_cert_file),
    )
    for name, given, other, needed in needs:
        if given and not needed:
            raise SettingsError(f"{name} is set without {other}; set both, or none")
