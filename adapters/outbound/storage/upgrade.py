"""Runs the outstanding migrations. As a program it takes the DSN from standard input."""

import logging
import sys

import psycopg
from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from adapters.outbound.storage.migrate import MIGRATIONS, first_line


def upgrade(dsn: str, revision: str = "head") -> None:
    """Brings the schema to the newest revision, or to another. The caller sees to it that nobody else does so too."""
    logging.getLogger("alembic").setLevel(logging.WARNING)
    engine = create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(dsn), poolclass=NullPool)
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with engine.connect() as connection:
        connection.execute(text("SET lock_timeout = '30s'"))
        connection.commit()
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
    engine.dispose()


if __name__ == "__main__":
    try:
        upgrade(sys.stdin.read())
    except DBAPIError as error:
        sys.exit(first_line(error.orig or error))
