"""TLS of a rule of the kind grpc, read from its keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from adapters.tls.credentials import ClientTls
from adapters.tls.files import PemSetting, TlsFiles
from adapters.tls.watching import WatchedFiles

KEYS = ("ca_file", "cert_file", "key_file", "server_name")


@dataclass(frozen=True, slots=True)
class RuleTls:
    """`server_name`: the name that the resource's certificate must have; empty: that of the target."""

    files: TlsFiles
    server_name: str = ""

    def watched(self) -> ClientTls:
        """Raises `BadCertificate`."""
        return ClientTls(WatchedFiles(self.files, lambda: datetime.now(UTC)), self.server_name)


def rule_tls(text: Callable[[str], str], trusted: str) -> RuleTls:
    """`text` gives the value of a key, or an empty one. `trusted`: the file of CAs where the rule names none, empty
    for the system's. Raises `BadCertificate`."""
    authorities = _file("ca_file", text("ca_file")) or _file("SSL_CERT_FILE", trusted)
    own, key = _file("cert_file", text("cert_file")), _file("key_file", text("key_file"))
    tls = RuleTls(TlsFiles(own, key, authorities), text("server_name"))
    tls.watched()
    return tls


def _file(name: str, path: str) -> PemSetting | None:
    return PemSetting(name, Path(path).expanduser()) if path else None
