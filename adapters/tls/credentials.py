"""Credentials of gRPC from files of certificates."""

from __future__ import annotations

from dataclasses import dataclass

import grpc

from adapters.tls.files import TlsContents
from adapters.tls.watching import WatchedFiles


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
