"""Servers for tests of several processes."""

import base64
import secrets
from collections.abc import Iterator

import psycopg
import pytest

from adapters.outbound.storage.embedded import EmbeddedPostgres
from tests.support.folders import an_open_folder
from tests.support.ports import free_port
from tests.support.postgres import on_database


@pytest.fixture(scope="module")
def tcp_server() -> Iterator[tuple[str, int]]:
    """A PostgreSQL that listens on TCP: the DSN of its superuser and the port."""
    port = free_port()
    with (
        an_open_folder() as folder,
        EmbeddedPostgres(folder, fast_and_unsafe=True, tcp_port=port) as dsn,
    ):
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute("CREATE ROLE app LOGIN PASSWORD 'sesame'")
        yield dsn, port


@pytest.fixture
def external_url(tcp_server: tuple[str, int]) -> Iterator[str]:
    """DATABASE_URL of an empty database that belongs to an ordinary role with a password."""
    dsn, port = tcp_server
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("CREATE DATABASE apart OWNER app")
        yield f"postgresql://app:sesame@127.0.0.1:{port}/apart"
        connection.execute("DROP DATABASE apart WITH (FORCE)")


@pytest.fixture
def external_settings(external_url: str, tcp_server: tuple[str, int], redis_url: str) -> dict[str, str]:
    """Everything that processes on one database have in common."""
    with psycopg.connect(on_database(tcp_server[0], "apart")) as connection:
        connection.execute("CREATE EXTENSION vector")
    return {
        "DATABASE_URL": external_url,
        "REDIS_URL": redis_url,
        "INTERNAL_SERVICE_KEY": secrets.token_urlsafe(32),
        "CONFIG_ENCRYPTION_KEY": base64.b64encode(secrets.token_bytes(32)).decode(),
        "OUTBOUND_ALLOW": "127.0.0.0/8",
    }
