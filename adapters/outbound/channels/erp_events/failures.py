"""Which errors of an Odoo server are transient. Pure.

Odoo gives the name of the Python exception (`error.data.name`), such as 'psycopg2.pool.PoolError': its own names are
those of `odoo.exceptions`, the database's those of `psycopg2` (https://www.psycopg.org/docs/errors.html). An error
may be wrapped in another, so its message and the exceptions in its traceback (`error.data.debug`) count too.
"""

import re

_PERMANENT = frozenset({"AccessDenied", "AccessError", "MissingError", "ValidationError"})
"""Odoo's own exceptions, whatever their message says."""

_TRANSIENT = re.compile(
    r"""
    # The database has no connection free, or it broke.
    PoolError | OperationalError | InterfaceError | ConnectionException | ConnectionFailure | ConnectionDoesNotExist
    | SqlclientUnableToEstablishSqlconnection | SqlserverRejectedEstablishmentOfSqlconnection | TooManyConnections
    | InsufficientResources | OutOfMemory | DiskFull | OperatorIntervention | AdminShutdown | CrashShutdown
    | CannotConnectNow | IdleSessionTimeout | IdleInTransactionSessionTimeout | ReadOnlySqlTransaction
    # Another transaction uses the same rows.
    | TransactionRollback | TransactionRollbackError | SerializationFailure | DeadlockDetected | LockNotAvailable
    | LockError | ConcurrencyError | InFailedSqlTransaction | StatementCompletionUnknown
    # The server ended what took too long.
    | QueryCanceled | QueryCanceledError | TransactionTimeout | WorkerTimeout
    # The server itself has a problem.
    | ConnectionError | ConnectionRefusedError | ConnectionResetError | ConnectionAbortedError | BrokenPipeError
    | TimeoutError | timeout | MemoryError | TooManyRequests | ServiceUnavailable | GatewayTimeout | BadGateway
    | RequestTimeout | RemoteDisconnected
    # Each request has its own credentials: the session that ended is not ours.
    | SessionExpired | SessionExpiredException
    """,
    re.VERBOSE,
)

_TRANSIENT_MESSAGE = re.compile(
    "connection pool is full|too many (connections|clients|open files)|remaining connection slots"
    "|could not (serialize access|obtain lock|connect to server)|deadlock detected|lock timeout|canceling statement"
    "|statement timeout|terminating connection|server closed the connection|(connection|cursor) already closed"
    "|eof detected|connection has been closed|connection (refused|reset|timed out)|timeout expired"
    "|no space left on device|out of (shared )?memory|temporarily unavailable|service unavailable|try again"
    "|session (has )?expired|concurrent update|current transaction is aborted"
    "|database system is (starting up|shutting down|in recovery mode)"
)


def is_transient(name: str, message: str, traceback: str = "") -> bool:
    """Whether trying again may help. A database that does not exist is a wrong configuration."""
    message = message.lower()
    if _exception(name) in _PERMANENT or ("database" in message and "does not exist" in message):
        return False
    raised = [line.partition(":")[0] for line in traceback.splitlines() if not line.startswith(" ")]
    if any(_TRANSIENT.fullmatch(_exception(exception)) for exception in (name, *raised)):
        return True
    return _TRANSIENT_MESSAGE.search(message) is not None


def _exception(name: str) -> str:
    """The name of an exception without its module."""
    return name.rpartition(".")[2]
