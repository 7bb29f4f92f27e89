"""`switchboard up`: everything in one process, PostgreSQL as its child."""

from argparse import Namespace
from socket import socket

from apps import logs
from apps.process import serve
from apps.secrets import complete
from apps.settings import Settings
from apps.standalone.service import run_service
from apps.starting import check_free, embedded_database, listen, migrated, unlocked


def main(settings: Settings, _: Namespace) -> int:
    """Runs until it is told to stop; the exit status."""
    logs.set_up(settings, "up")
    settings = complete(settings)
    listener = listen(settings.http_host, settings.http_port, "HTTP_PORT")
    check_free(settings.grpc_host, settings.grpc_port, "GRPC_PORT")
    if settings.database_url:
        return _serve(settings, migrated(settings.database_url), listener)
    with embedded_database(settings) as dsn:
        return _serve(settings, migrated(dsn, embedded=True), listener)


def _serve(settings: Settings, dsn: str, listener: socket) -> int:
    return serve(run_service(settings, unlocked(settings, dsn), listener))
