"""Migrations: one chain, two processes at once, nothing imported when nothing is to be done."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from itertools import pairwise

import psycopg
import pytest
from alembic.script import ScriptDirectory
from psycopg import sql

from adapters.outbound.storage.codec import key_of
from adapters.outbound.storage.migrate import NEEDED, VERSIONS, MigrationError, head, migrate
from tests.support.postgres import fresh_database, on_database


def test_the_chain_is_linear_and_numbered() -> None:
    scripts = ScriptDirectory(str(VERSIONS.parent))
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
            assert migrated.execute("SELECT version_num FROM schema_version").fetchall() == [(head(),)]


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


def test_a_database_that_takes_no_writes_is_refused(postgres_dsn: str) -> None:
    for migrated in (False, True):
        with fresh_database(postgres_dsn, migrated=migrated) as dsn:
            with psycopg.connect(dsn, autocommit=True) as there:
                there.execute(
                    sql.SQL("ALTER DATABASE {} SET default_transaction_read_only = on").format(
                        sql.Identifier(there.info.dbname)
                    )
                )
            with pytest.raises(MigrationError, match="takes no writes"):
                migrate(dsn)


def test_a_database_that_cannot_hold_every_character_is_refused(postgres_dsn: str) -> None:
    name = f"switchboard_latin_{os.getpid()}"
    with psycopg.connect(on_database(postgres_dsn, "postgres"), autocommit=True) as server:
        server.execute(
            f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C' LOCALE_PROVIDER libc".encode()
        )
        try:
            with pytest.raises(MigrationError, match="has the encoding LATIN1"):
                migrate(on_database(postgres_dsn, name))
        finally:
            server.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


INCOMPRESSIBLE = "".join(sha256(str(number).encode()).hexdigest() for number in range(40))
IDS = ["brief", INCOMPRESSIBLE, "z" * 6000]
"""What the indexes of before took: in 6,000 equal characters, compressed, they find room."""


def test_long_ids_of_an_old_database_are_found_again(postgres_dsn: str) -> None:
    code = "import sys; from adapters.outbound.storage.upgrade import upgrade; upgrade(*sys.argv[1:])"
    with fresh_database(postgres_dsn, migrated=False) as dsn, psycopg.connect(dsn, autocommit=True) as old:
        for extension in NEEDED:
            old.execute(f'CREATE EXTENSION IF NOT EXISTS "{extension}"')
        subprocess.run([sys.executable, "-c", code, dsn, "0011_prompts"], check=True, timeout=300)
        _write_long_ids(old)
        migrate(dsn)
        _check_long_ids(old)


def _write_long_ids(old: psycopg.Connection) -> None:
    """Rows as the revision 0011 has them."""
    old.execute(
        "INSERT INTO channel_instance (user_id, channel_id, channel_name, config) VALUES ('u', 'c', 'n', '')"
    )
    for id in IDS:
        old.execute(
            "INSERT INTO outbox (instance_id, lane_key, part, target, key, ref, status)"
            " VALUES (1, 's', '{}', '{}', 'k', %s, 1)",
            (id,),
        )
        old.execute(
            "INSERT INTO tool_approval (instance_id, lane_key, tool, heard_at) VALUES (1, 's', %s, now())",
            (id,),
        )
        old.execute("INSERT INTO access_notice VALUES (1, %s, now())", (id,))
        old.execute(
            "INSERT INTO verified_identity (field, normal, value, user_id) VALUES ('phone', %s, %s, 'u')",
            (id, id),
        )


def _check_long_ids(new: psycopg.Connection) -> None:
    keys = sorted(key_of(id) for id in IDS)
    for table, column in (
        ("tool_approval", "tool_key"),
        ("access_notice", "external_id"),
        ("verified_identity", "normal"),
    ):
        rows = new.execute(f"SELECT {column} FROM {table}").fetchall()
        assert sorted(key for (key,) in rows) == keys
    new.execute(
        "INSERT INTO outbox (instance_id, session_key, message, target, key, ref) VALUES (1, 's', '', '', '', %s)",
        (INCOMPRESSIBLE * 3,),
    )
    for id in [*IDS, INCOMPRESSIBLE * 3]:
        found = new.execute(
            "SELECT ref = %s FROM outbox WHERE instance_id = 1"
            " AND hashtextextended(ref, 0) = hashtextextended(%s, 0)",
            (id, id),
        )
        assert found.fetchall() == [(True,)]
