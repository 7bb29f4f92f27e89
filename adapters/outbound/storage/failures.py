"""What an error of the database means. The one place that tells an outage from the fault of a statement.

An outage concerns everybody: the work waits until the server is back. Any other error belongs to the rows of the
statement that raised it, and must not concern the rows of others.

SQLSTATE codes: https://www.postgresql.org/docs/current/errcodes-appendix.html
"""

import functools
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, ParamSpec, TypeVar

import psycopg
from psycopg_pool import PoolClosed, PoolTimeout

from domain.refusals import Invalid, Refusal, StorageAway, Unavailable

P = ParamSpec("P")
T = TypeVar("T")

OUTAGES = ("08", "53", "57P", "58000", "58030", "25006")
"""What the SQLSTATE of an outage begins with: connection exceptions, insufficient resources (disk, memory,
connections), shutdown and start of the server, errors of its disk, a server that only reads (after a failover)."""
DISK_FULL = "53100"
CONFLICTS = ("40001", "40P01")
"""Serialization failure and deadlock: the same statement succeeds when it is run again."""
BUSY_STATES = (*CONFLICTS, "55P03", "57014")
"""The same, and a lock or an answer that did not come in time."""
TOO_LARGE = "54000"
UNSTORABLE_STATES = ("22021", "22P05")

AWAY = "the database is away for the moment; try again shortly"
NO_ROOM = "the disk of the database is full; try again once there is room"
RETRY_WHEN_FULL = 60.0
"""Seconds that a caller is asked to wait."""
BUSY = "the database is busy with the same rows for the moment; try again shortly"
UNSTORABLE = "a text holds what no text may: a NUL character or half of a surrogate pair"
TOO_LONG = "a name or an id is too long to be stored; shorten it"

TRIES = 3
"""How often a statement is run that other transactions are in conflict with."""


def refusal_of(error: Exception, *, lost: bool) -> Refusal | None:
    """The refusal that an error comes to, None where the error is neither an outage nor the fault of a value.

    `lost`: there is no connection, or it broke. A statement that took too long leaves a connection that broke where
    the server did not even end it.
    """
    if isinstance(error, UnicodeEncodeError):
        return Invalid(UNSTORABLE)
    if isinstance(error, TimeoutError):
        return StorageAway(AWAY) if lost else Unavailable(BUSY)
    if not isinstance(error, psycopg.Error):
        return None
    if isinstance(error, (PoolTimeout, PoolClosed)):
        return StorageAway(AWAY)
    if error.sqlstate is not None:
        return _of_server(error.sqlstate)
    if isinstance(error, psycopg.DataError) and "NUL" in str(error):
        return Invalid(UNSTORABLE)
    return StorageAway(AWAY) if lost else None


def _of_server(state: str) -> Refusal | None:
    """The refusal that a SQLSTATE comes to; errors without one are the client library's own."""
    if state == DISK_FULL:
        return StorageAway(NO_ROOM, RETRY_WHEN_FULL)
    if state.startswith(OUTAGES):
        return StorageAway(AWAY)
    if state in BUSY_STATES:
        return Unavailable(BUSY)
    if state in UNSTORABLE_STATES:
        return Invalid(UNSTORABLE)
    return Invalid(TOO_LONG) if state == TOO_LARGE else None


def is_of_rows(error: Exception, *, lost: bool) -> bool:
    """Return True if the fault lies in the rows of a statement, so that others may go on without them."""
    return not isinstance(refusal_of(error, lost=lost), Unavailable)


def is_rolled_back(error: BaseException) -> bool:
    """Return True if the server refused the statement, so that it changed nothing."""
    caused = error if isinstance(error, psycopg.Error) else error.__cause__
    if isinstance(error, StorageAway) or not isinstance(caused, psycopg.Error):
        return False
    return caused.sqlstate is not None


async def by_halves(
    items: Sequence[T], work: Callable[[Sequence[T]], Awaitable[object]]
) -> list[tuple[T, Exception]]:
    """Does `work` on all items at once, and by halves where the server refuses that, so that a row with a fault costs
    the others nothing; the items that are refused alone, with the errors. Raises any other error."""
    try:
        await work(items)
        return []
    except Exception as error:
        if not items or not is_rolled_back(error):
            raise
        if len(items) == 1:
            return [(items[0], error)]
    half = len(items) // 2
    return [*await by_halves(items[:half], work), *await by_halves(items[half:], work)]


def retried(work: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, Coroutine[Any, Any, T]]:
    """Runs a statement or a whole transaction again that failed in conflict with others, up to `TRIES` times."""

    @functools.wraps(work)
    async def run(*arguments: P.args, **named: P.kwargs) -> T:
        for _ in range(TRIES - 1):
            try:
                return await work(*arguments, **named)
            except Unavailable as busy:
                cause = busy.__cause__
                if not isinstance(cause, psycopg.Error) or cause.sqlstate not in CONFLICTS:
                    raise
        return await work(*arguments, **named)

    return run
