"""Which schema a database has, and which versions of the service can work on it.

The processes of two versions share a database while one follows the other: the newer one migrates, the older one goes
on. Revisions are named so that they sort in the order of the chain.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

VERSIONS = Path(__file__).parent / "migrations" / "versions"

TABLE = "schema_version"
FROZEN_TABLE = "alembic_version"
"""Where version 0.1.0 looks, which neither starts nor is ready unless it finds its own newest revision there. It can
work on every schema that has no part of its own removed, so this table stays as that version left it."""

IS_THERE = f"SELECT to_regclass('{TABLE}') IS NOT NULL, to_regclass('{FROZEN_TABLE}') IS NOT NULL"
READ = f"SELECT version_num, oldest_usable FROM {TABLE}"
READ_FROZEN = f"SELECT version_num, NULL FROM {FROZEN_TABLE}"

BEGIN = f"""
CREATE TABLE IF NOT EXISTS {FROZEN_TABLE} (
    version_num varchar(32) CONSTRAINT alembic_version_pkc PRIMARY KEY
);
-- oldest_usable: a process whose newest revision is an older one cannot work on this schema.
CREATE TABLE IF NOT EXISTS {TABLE} (
    version_num varchar(32) CONSTRAINT {TABLE}_pkc PRIMARY KEY,
    oldest_usable text
);
INSERT INTO {TABLE} (version_num) SELECT version_num FROM {FROZEN_TABLE}
    WHERE NOT EXISTS (SELECT FROM {TABLE});
"""
"""Before the first migration that is outstanding."""


def head() -> str:
    """The newest revision: each is named as its file, and the files of the linear chain are numbered."""
    return max(path.stem for path in VERSIONS.glob("[0-9]*_*.py"))


class SchemaVersion(NamedTuple):
    """What a database says of its schema. `revision`: None before the first migration."""

    revision: str | None
    oldest_usable: str | None = None

    def is_older(self, newest: str) -> bool:
        """Whether a process whose newest revision is `newest` has to migrate."""
        return self.revision is None or self.revision < newest

    def is_newer(self, newest: str) -> bool:
        """Whether a newer version than that of such a process has migrated."""
        return self.revision is not None and self.revision > newest

    def fault(self, newest: str) -> str | None:
        """Why such a process cannot work on the schema; None where it can. A schema of the next version will do."""
        if self.is_older(newest):
            return f"the schema is not at {newest}; run: switchboard migrate"
        if self.oldest_usable is not None and newest < self.oldest_usable:
            return (
                f"the schema is at {self.revision}, and versions of the service before {self.oldest_usable} cannot"
                f" work on it; this one is at {newest}: start a newer version"
            )
        return None
