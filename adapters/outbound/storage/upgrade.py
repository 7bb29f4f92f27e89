"""Runs the outstanding migrations. As a program it takes the DSN from standard input."""

import logging
import sys
import time

import psycopg
from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from adapters.outbound.storage.failures import CONFLICTS
from adapters.outbound.storage.migrate import BEGIN, VERSIONS, first_line
from adapters.outbound.storage.migrations.locks import LOCK_TIMEOUT

log = logging.getLogger("switchboard")

TRIES = 100
PAUSE_SECONDS = 1.0
"""Between two tries to get the locks of a migration: those who waited behind the first one go on meanwhile."""
LOCKED = ("55P03", *CONFLICTS)
"""SQLSTATE of a lock that was not free in time, and of conflicts with other transactions."""


def upgrade(dsn: str, revision: str = "head") -> None:
    """Brings the schema to the newest revision, or to another. The caller sees to it that nobody else does so too.

    Each migration is a transaction: one that does not get its locks at once is tried again, and those before it stay.
    """
    logging.getLogger("alembic").setLevel(logging.WARNING)
    engine = create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(dsn), poolclass=NullPool)
    with engine.connect() as connection:
        connection.execute(text(LOCK_TIMEOUT))
        connection.commit()
        config = Config()
        config.set_main_option("script_location", str(VERSIONS.parent))
        config.attributes["connection"] = connection
        for tries_left in reversed(range(TRIES)):
            try:
                connection.execute(text(BEGIN))
                connection.commit()
                command.upgrade(config, revision)
            except DBAPIError as error:
                state = getattr(error.orig, "sqlstate", None)
                if state not in LOCKED or not tries_left:
                    raise
                log.warning("a migration waits for locks: %s", first_line(error.orig or error))
                connection.rollback()
                time.sleep(PAUSE_SECONDS)
            else:
                break
    engine.dispose()


if __name__ == "__main__":
    try:
        upgrade(sys.stdin.read())
    except DBAPIError as error:
        sys.exit(first_line(error.orig or error))
