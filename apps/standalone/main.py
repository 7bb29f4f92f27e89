"""`switchboard up`: everything in one process, PostgreSQL as its child.

The modules of the service are loaded while PostgreSQL starts.
"""

from argparse import Namespace
from importlib import import_module
from socket import socket

from apps import logs
from apps.loading import quickly
from apps.secrets import complete
from apps.settings import Settings
from apps.starting import check_free, embedded_database, listen, migrated, unlocked


def main(settings: Settings, _: Namespace) -> int:
    """Runs until it is told to stop; the exit status."""
    logs.set_up(settings, "up")
    settings = complete(settings)
    listener = listen(settings.http_host, settings.http_port, "HTTP_PORT")
    check_free(settings.grpc_host, settings.grpc_port, "GRPC_PORT")
    if settings.database_url:
        return _serve(settings, migrated(settings.database_url), listener)
    with embedded_database(settings, _load) as dsn:
        return _serve(settings, migrated(dsn, embedded=True), listener)


def _load() -> None:
    with quickly():
        import_module("apps.standalone.service")


def _serve(settings: Settings, dsn: str, listener: socket) -> int:
    _load()
    from apps.process import serve
    from apps.standalone.service import run_service

    return serve(run_service(settings, unlocked(settings, dsn), listener))
