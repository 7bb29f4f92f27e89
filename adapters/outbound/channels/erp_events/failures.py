"""Which errors of an Odoo server pass by themselves. Pure.

Odoo names the Python exception (`error.data.name`), such as 'psycopg2.pool.PoolError': its own names are those of
`odoo.exceptions`, the database's those of `psycopg2` (https://www.psycopg.org/docs/errors.html). An error may be
wrapped under another name, so its text and the exceptions in its traceback (`error.data.debug`) count too.
"""

from __future__ import annotations

from collections.abc import Iterator

_PERMANENT = frozenset({"AccessDenied", "AccessError", "MissingError", "ValidationError"})
"""Odoo's own answers to what was asked, whatever their text says."""

_TRANSIENT = frozenset(
    {
        # no connection to the database is free, or it broke
        "PoolError",
        "OperationalError",
        "InterfaceError",
        "ConnectionException",
        "ConnectionFailure",
        "ConnectionDoesNotExist",
        "SqlclientUnableToEstablishSqlconnection",
        "SqlserverRejectedEstablishmentOfSqlconnection",
        "TooManyConnections",
        "InsufficientResources",
        "OutOfMemory",
        "DiskFull",
        "OperatorIntervention",
        "AdminShutdown",
        "CrashShutdown",
        "CannotConnectNow",
        "IdleSessionTimeout",
        "IdleInTransactionSessionTimeout",
        "ReadOnlySqlTransaction",
        # somebody else works on the same rows
        "TransactionRollback",
        "TransactionRollbackError",
        "SerializationFailure",
        "DeadlockDetected",
        "LockNotAvailable",
        "LockError",
        "ConcurrencyError",
        "InFailedSqlTransaction",
        "StatementCompletionUnknown",
        # the server ended what took too long
        "QueryCanceled",
        "QueryCanceledError",
        "TransactionTimeout",
        "WorkerTimeout",
        # the server's own troubles
        "ConnectionError",
        "ConnectionRefusedError",
        "ConnectionResetError",
        "ConnectionAbortedError",
        "BrokenPipeError",
        "TimeoutError",
        "timeout",
        "MemoryError",
        "TooManyRequests",
        "ServiceUnavailable",
        "GatewayTimeout",
        "BadGateway",
        "RequestTimeout",
        "RemoteDisconnected",
        # each call here brings its own credentials: a session that ended is not ours
        "SessionExpired",
        "SessionExpiredException",
    }
)

_TRANSIENT_TEXTS = (
    "connection pool is full",
    "too many connections",
    "too many clients",
    "remaining connection slots",
    "could not serialize access",
    "deadlock detected",
    "could not obtain lock",
    "lock timeout",
    "canceling statement",
    "statement timeout",
    "terminating connection",
    "server closed the connection",
    "connection already closed",
    "cursor already closed",
    "eof detected",
    "connection has been closed",
    "could not connect to server",
    "connection refused",
    "connection reset",
    "connection timed out",
    "timeout expired",
    "too many open files",
    "no space left on device",
    "out of memory",
    "out of shared memory",
    "temporarily unavailable",
    "service unavailable",
    "try again",
    "session expired",
    "session has expired",
    "concurrent update",
    "current transaction is aborted",
    "database system is starting up",
    "database system is shutting down",
    "database system is in recovery mode",
)


def is_transient(name: str, message: str, traceback: str = "") -> bool:
    """Whether trying again may help. A database that does not exist is a wrong configuration."""
    kind = _kind(name)
    words = message.lower()
    if kind in _PERMANENT or ("database" in words and "does not exist" in words):
        return False
    return (
        kind in _TRANSIENT
        or any(each in words for each in _TRANSIENT_TEXTS)
        or any(_kind(each) in _TRANSIENT for each in _raised(traceback))
    )


def _kind(name: str) -> str:
    """The name of an exception without its module."""
    return name.rpartition(".")[2]


def _raised(traceback: str) -> Iterator[str]:
    """The exceptions of a traceback: the lines that are not indented."""
    return (line.partition(":")[0] for line in traceback.splitlines() if not line.startswith(" "))
