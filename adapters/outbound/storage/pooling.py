"""Notices a connection pooler that gives each transaction another session."""

import psycopg

TRANSACTION_POOLING = (
    "DATABASE_URL leads to a connection pooler in transaction mode, which keeps no sessions: LISTEN and advisory"
    " locks would be lost. Set pool_mode = session (PgBouncer), or name the PostgreSQL server itself"
)


def is_transaction_pooled(dsn: str) -> bool:
    """Whether a second connection is given the session of the first, which is idle and open. A pooler takes the
    session that was used last, unless it was told to take them in turn. Raises `psycopg.Error`."""
    with (
        psycopg.connect(dsn, autocommit=True, connect_timeout=5, prepare_threshold=None) as first,
        psycopg.connect(dsn, autocommit=True, connect_timeout=5, prepare_threshold=None) as second,
    ):
        sessions = [
            connection.execute("SELECT pg_backend_pid()").fetchone() for connection in (first, second)
        ]
    return sessions[0] == sessions[1]
