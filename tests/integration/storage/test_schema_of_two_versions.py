"""Processes of the released version work on the schema of this one, and are not held up while it is made."""

import io
import re
import threading
from collections.abc import Iterator

import psycopg
import pytest
from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine

from adapters.outbound.storage.knowledge.word_index import PostgresWordIndex
from adapters.outbound.storage.migrate import (
    VERSIONS,
    MigrationError,
    SchemaVersion,
    head,
    migrate,
    schema_version,
)
from adapters.outbound.storage.migrations.locks import make_index
from adapters.outbound.storage.pool import Database
from tests.support.catalogue import Catalogue, catalogue, faults
from tests.support.postgres import fresh_database
from tests.support.released import released_database, revision
from tests.support.waiting import until

UNUSED: dict[str, str] = {"api_key.api_key_role_check": "0.2, which knows one more role"}
"""What the released version has in its schema and does not use any more, by its name in `faults`, with the version
that stopped using it: a migration may remove it."""

SLOW = (
    r"CREATE (UNIQUE )?INDEX (?!CONCURRENTLY)(IF NOT EXISTS )?\S+ ON (ONLY )?(?P<index>\w+)",
    r"DROP INDEX (?!CONCURRENTLY)(?P<dropped>)",
    r"ALTER TABLE (ONLY )?(?P<check>\w+) ADD CONSTRAINT (?!.*NOT VALID)(?!.*USING INDEX)",
    r"ALTER TABLE (ONLY )?(?P<null>\w+) ALTER (COLUMN )?\w+ SET NOT NULL",
    r"(?:UPDATE|DELETE FROM) (ONLY )?(?P<rows>\w+)",
    r"(?:CLUSTER|VACUUM FULL|REINDEX|LOCK TABLE|TRUNCATE)\b(?P<whole>)",
)
"""Statements that hold a lock for as long as a large table takes, with the table."""
SMALL = {"alembic_version", "schema_version", "knowledge_base"}


@pytest.fixture(scope="module")
def both(postgres_dsn: str) -> Iterator[tuple[Catalogue, Catalogue]]:
    """What the released version left, and what the migrations since made of it."""
    with released_database(postgres_dsn) as dsn, psycopg.connect(dsn, autocommit=True) as database:
        before = catalogue(database)
        migrate(dsn)
        yield before, catalogue(database)


def test_the_schema_has_all_that_the_released_version_uses(both: tuple[Catalogue, Catalogue]) -> None:
    assert [fault for fault in faults(*both) if fault.partition(" ")[0].rstrip(":") not in UNUSED] == []


CHANGES = {
    "DROP TABLE opt_out": "opt_out is gone",
    "ALTER TABLE opt_out RENAME TO other": "opt_out is gone",
    "ALTER TABLE inbox DROP draft": "inbox.draft is gone",
    "ALTER TABLE inbox RENAME draft TO other": "inbox.draft is gone",
    "ALTER TABLE inbox ALTER attempts TYPE bigint": "inbox.attempts was",
    "ALTER TABLE inbox ADD other int NOT NULL": "inbox.other is required",
    "ALTER TABLE inbox ALTER draft SET NOT NULL": "inbox.draft became required",
    "ALTER TABLE inbox ALTER received_at DROP DEFAULT": "inbox.received_at lost its default",
    "ALTER TABLE inbox ADD CONSTRAINT few CHECK (attempts < 3)": "inbox.few: the constraint was None",
    "CREATE UNIQUE INDEX one_draft ON inbox (draft)": "inbox.one_draft: the unique index was None",
    "ALTER TABLE inbox ADD at timestamptz DEFAULT clock_timestamp()": "inbox was written anew",
}


def test_changes_that_stop_an_older_version_are_found(database_url: str) -> None:
    with psycopg.connect(database_url) as database:
        before = catalogue(database)
        for statement, fault in CHANGES.items():
            with database.transaction(force_rollback=True):
                database.execute(statement)  # type: ignore[call-overload]
                found = list(faults(before, catalogue(database)))
            assert any(text.startswith(fault) for text in found), (statement, found)
        database.execute("CREATE TABLE added (id int); ALTER TABLE inbox ADD added int NOT NULL DEFAULT 0")
        assert list(faults(before, catalogue(database))) == []


def statements(source: str) -> list[str]:
    """Without comments, in upper case but for names, each on one line."""
    plain = re.sub(r"--[^\n]*", "", source)
    return [" ".join(statement.split()) for statement in plain.split(";") if statement.strip()]


def slow(source: str, tables: set[str]) -> list[str]:
    """The statements that hold up those who work on one of `tables`; a table of their own nobody uses yet."""
    found = []
    for statement in statements(source):
        for match in (re.match(pattern, statement, re.IGNORECASE) for pattern in SLOW):
            names = {name for name in match.groupdict().values() if name} if match else set()
            if match and (not names or names & tables):
                found.append(statement)
    return found


def written(name: str) -> str:
    """The SQL of a migration."""
    output = io.StringIO()
    context = MigrationContext.configure(
        dialect_name="postgresql",
        opts={"as_sql": True, "output_buffer": output, "transaction_per_migration": True},
    )
    script = ScriptDirectory(str(VERSIONS.parent)).get_revision(name)
    with Operations.context(context), context.begin_transaction(_per_migration=True):
        script.module.upgrade()
    return output.getvalue()


def test_no_migration_since_the_released_version_holds_up_those_who_work(
    both: tuple[Catalogue, Catalogue],
) -> None:
    since = sorted(path.stem for path in VERSIONS.glob("[0-9]*.py") if path.stem > revision())
    old = set(both[0].tables) - SMALL
    assert {name: slow(written(name), old) for name in since} == {name: [] for name in since}


@pytest.mark.parametrize(
    ("statement", "is_slow"),
    [
        ("CREATE INDEX a ON inbox (id)", True),
        ("CREATE UNIQUE INDEX a ON inbox (id)", True),
        ("CREATE INDEX CONCURRENTLY a ON inbox (id)", False),
        ("CREATE INDEX a ON added (id)", False),
        ("DROP INDEX a", True),
        ("DROP INDEX CONCURRENTLY IF EXISTS a", False),
        ("ALTER TABLE inbox ADD CONSTRAINT b CHECK (id > 0)", True),
        ("ALTER TABLE inbox ADD CONSTRAINT b CHECK (id > 0) NOT VALID", False),
        ("ALTER TABLE inbox ADD c int", False),
        ("ALTER TABLE inbox ALTER c SET NOT NULL", True),
        ("-- all of them\nUPDATE inbox SET c = 1", True),
        ("INSERT INTO added VALUES (1); DELETE FROM inbox", True),
    ],
)
def test_statements_that_hold_others_up_are_known(statement: str, is_slow: bool) -> None:
    assert bool(slow(statement, {"inbox"})) is is_slow


def test_a_process_starts_on_a_newer_schema_and_leaves_it_as_it_is(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as database:
        database.execute("UPDATE schema_version SET version_num = '9000_of_tomorrow'")
        migrate(database_url)
        assert schema_version(database).revision == "9000_of_tomorrow"
        database.execute("UPDATE schema_version SET oldest_usable = '8999_what_it_needs'")
        with pytest.raises(MigrationError, match="start a newer version"):
            migrate(database_url)


def test_a_database_of_the_first_version_goes_on_to_tell_it_that_all_is_well(postgres_dsn: str) -> None:
    with (
        fresh_database(postgres_dsn, migrated=False) as dsn,
        psycopg.connect(dsn, autocommit=True) as database,
    ):
        database.execute("CREATE TABLE alembic_version (version_num varchar(32) PRIMARY KEY)")
        database.execute("INSERT INTO alembic_version VALUES ('0042_streamed_files')")
        assert schema_version(database) == SchemaVersion("0042_streamed_files")


@pytest.mark.parametrize(
    ("version", "fault"),
    [
        (SchemaVersion(None), "run: switchboard migrate"),
        (SchemaVersion("0004_before"), "run: switchboard migrate"),
        (SchemaVersion("0005_now"), None),
        (SchemaVersion("0006_later"), None),
        (SchemaVersion("0006_later", "0005_now"), None),
        (SchemaVersion("0007_much_later", "0006_later"), "start a newer version"),
    ],
)
def test_which_schemas_will_do(version: SchemaVersion, fault: str | None) -> None:
    found = version.fault("0005_now")
    assert (found is None) if fault is None else (found is not None and fault in found)


def test_a_migration_that_waits_for_a_lock_lets_others_pass_and_ends_once_it_is_free(
    postgres_dsn: str,
) -> None:
    with released_database(postgres_dsn) as dsn, psycopg.connect(dsn) as working:
        working.execute("LOCK TABLE alembic_version IN EXCLUSIVE MODE")
        thread = threading.Thread(target=migrate, args=(dsn,))
        thread.start()
        with psycopg.connect(dsn, autocommit=True) as beside:
            waiting = (
                "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
            )
            until(lambda: beside.execute(waiting).fetchall(), "it waits")
            until(lambda: not beside.execute(waiting).fetchall(), "it lets others pass")
        working.rollback()
        thread.join()
        assert schema_version(working).revision == head()


def test_an_index_that_was_left_unfinished_is_made_anew_without_a_lock_on_the_table(
    database_url: str,
) -> None:
    engine = create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(database_url))
    with engine.connect() as connection, psycopg.connect(database_url, autocommit=True) as database:
        database.execute("CREATE INDEX draft_now ON inbox (draft)")
        context = MigrationContext.configure(connection, opts={"transaction_per_migration": True})
        with Operations.context(context), context.begin_transaction(_per_migration=True):
            make_index("draft_now", "inbox (draft, id)")
        made = "SELECT indisvalid, indnatts FROM pg_index WHERE indexrelid = 'draft_now'::regclass"
        assert database.execute(made).fetchall() == [(True, 2)]
    engine.dispose()


async def test_a_worker_leaves_indexing_anew_to_those_of_a_newer_version(database: Database) -> None:
    await database.execute(
        "INSERT INTO knowledge_base (name, description, manifest, created_by, old_words_to)"
        " VALUES ('b', '', '', 'u', 7)"
    )
    left = "SELECT old_words_from < old_words_to FROM knowledge_base"
    await database.execute("UPDATE schema_version SET version_num = '9000_of_tomorrow'")
    assert await PostgresWordIndex(database).maintain() == 0
    assert await database.fetch_value(left)
    await database.execute("UPDATE schema_version SET version_num = %s", (head(),))
    await PostgresWordIndex(database).maintain()
    assert not await database.fetch_value(left)
