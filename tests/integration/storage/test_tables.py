"""The tables that statements are written with are those that the migrations make."""

import re
from collections.abc import Iterator

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, create_engine, inspect
from sqlalchemy.pool import NullPool

from adapters.outbound.storage import tables
from adapters.outbound.storage.knowledge import tables as knowledge_tables
from adapters.outbound.storage.schema import metadata

TABLES = (
    tables.inbox,
    tables.api_key,
    tables.chat_history,
    knowledge_tables.chunk,
    knowledge_tables.web_host,
)
OUTSIDE = re.compile(r"(chunk|chunk_index|chunk_vector|kb_term)_p\d+|alembic_version|schema_version")
"""Tables that have no definition: Alembic's own, and partitions, which are tables to the catalogue. Their own indexes
go with them: `chunk_index_p*_terms` and `kb_term_p*_similar`, whose storage parameters a parent cannot set, and
`hnsw_*`, which maintenance makes and drops."""


@pytest.fixture
def connection(shared_url: str) -> Iterator[Connection]:
    engine = create_engine(
        "postgresql+psycopg://", creator=lambda: psycopg.connect(shared_url), poolclass=NullPool
    )
    with engine.connect() as connection:
        yield connection
    engine.dispose()


def _is_compared(name: str | None, kind: str, _parents: object) -> bool:
    return kind != "table" or OUTSIDE.fullmatch(name or "") is None


def test_migrations_and_tables_agree(connection: Connection) -> None:
    assert {table.metadata for table in TABLES} == {metadata}
    context = MigrationContext.configure(connection, opts={"include_name": _is_compared})
    assert compare_metadata(context, metadata) == []


def test_primary_keys_are_the_same(connection: Connection) -> None:
    """Alembic does not compare them."""
    inspector = inspect(connection)
    for table in metadata.sorted_tables:
        stored = inspector.get_pk_constraint(table.name)["constrained_columns"]
        assert stored == table.primary_key.columns.keys(), table.name


def test_partial_indexes_have_the_same_condition(connection: Connection) -> None:
    """Alembic compares the columns of an index, and the expressions, but not its condition."""
    inspector = inspect(connection)
    for table in metadata.sorted_tables:
        stored = {
            index["name"]: _plain(index.get("dialect_options", {}).get("postgresql_where"))
            for index in inspector.get_indexes(table.name)
            if not index.get("duplicates_constraint")
        }
        declared = {
            index.name: _plain(index.dialect_options["postgresql"]["where"]) for index in table.indexes
        }
        assert stored == declared


def _plain(condition: object) -> str:
    """The condition without the parentheses and casts that the server adds."""
    return "" if condition is None else re.sub(r"[()]|::\w+", "", str(condition))
