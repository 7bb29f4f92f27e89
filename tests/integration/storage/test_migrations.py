"""Migrations: one chain, two processes at once, nothing imported when nothing is to be done."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import psycopg
from alembic.script import ScriptDirectory

from adapters.outbound.storage.migrate import MIGRATIONS, head, migrate
from tests.support.postgres import fresh_database


def test_the_chain_is_linear_and_numbered() -> None:
    scripts = ScriptDirectory(str(MIGRATIONS))
    revisions = [script.revision for script in reversed(list(scripts.walk_revisions()))]

    assert scripts.get_heads() == [head()]
    assert revisions == sorted(revisions)
    numbers = [int(revision.partition("_")[0]) for revision in revisions]
    assert numbers[0] == 1
    assert all(later == earlier + 1 for earlier, later in pairwise(numbers))


def test_several_starts_at_once_migrate_once(postgres_dsn: str) -> None:
    with fresh_database(postgres_dsn, migrated=False) as dsn:
        with ThreadPoolExecutor(3) as pool:
            list(pool.map(migrate, [dsn] * 3))
        with psycopg.connect(dsn) as migrated:
            assert migrated.execute("SELECT version_num FROM alembic_version").fetchall() == [(head(),)]


def test_a_database_at_the_newest_schema_needs_no_alembic(database_url: str) -> None:
    code = (
        "import sys; from adapters.outbound.storage.migrate import migrate; migrate(sys.argv[1]);"
        "sys.exit('alembic' in sys.modules or 'sqlalchemy' in sys.modules)"
    )

    done = subprocess.run([sys.executable, "-c", code, database_url], check=False, timeout=300)

    assert done.returncode == 0


def test_a_migration_leaves_nothing_of_alembic_behind_and_a_failure_has_words(postgres_dsn: str) -> None:
    code = (
        "import sys; from adapters.outbound.storage.migrate import MigrationError, migrate\n"
        "try: migrate(sys.argv[1])\n"
        "except MigrationError as error: print(error)\n"
        "sys.exit('alembic' in sys.modules or 'sqlalchemy' in sys.modules)"
    )
    with fresh_database(postgres_dsn, migrated=False) as dsn:
        with psycopg.connect(dsn, autocommit=True) as there:
            there.execute("CREATE TABLE inbox (id bigint)")
        done = subprocess.run(
            [sys.executable, "-c", code, dsn], check=False, timeout=300, capture_output=True, text=True
        )

    assert done.returncode == 0
    assert done.stdout == f'the database cannot be brought to {head()}: relation "inbox" already exists\n'
