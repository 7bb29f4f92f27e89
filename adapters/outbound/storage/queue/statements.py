"""The values of the queue's columns, and its SQL statements."""

from collections.abc import Mapping
from enum import IntEnum
from pathlib import Path

from jinja2 import StrictUndefined, Template

from domain.access.service import SERVICE_USER
from domain.conversations.history import HANDLER_MINUTES


class QueueKind(IntEnum):
    """Column `kind` of `queue`. Rows of a correspondent count rounds over all conversations with it, and are never
    leased."""

    INBOUND = 0
    OUTBOUND = 1
    CORRESPONDENT = 2


class EventStatus(IntEnum):
    """Column `status` of `inbox`."""

    QUEUED = 0
    DONE = 1
    FAILED = 2


class MessageStatus(IntEnum):
    """Column `status` of `outbox`."""

    PENDING = 0
    SENT = 1
    DEAD = 2


LEASE_SECONDS = 30
ROWS_PER_LEASE = 8
"""Rows of one queue that are worked off before others get their turn."""

ASYNC_COMMIT = "set_config('synchronous_commit', 'off', true)"
"""In a statement of its own transaction: the commit does not wait for the disk. The rows are visible at once and
survive the death of this process; when the database dies in the next moment the statement never happened."""


def read_statements(file: Path, **values: object) -> Mapping[str, str]:
    """The statements of an SQL file by their names, with Jinja macros expanded, `values` filled in and comments left
    out.

    Each begins with a line `-- name: ...`.
    """
    statements: dict[str, list[str]] = {}
    name = ""
    for line in Template(file.read_text(), undefined=StrictUndefined).render(values).splitlines():
        if line.startswith("-- name: "):
            name = line.removeprefix("-- name: ")
            statements[name] = []
        elif name and not line.startswith("--"):
            statements[name].append(line.strip())
    return {name: "\n".join(lines).strip() for name, lines in statements.items()}


SQL = read_statements(
    Path(__file__).with_name("queue.sql"), handler_minutes=HANDLER_MINUTES, nobody=SERVICE_USER
)
"""psycopg reads a statement of more than 4,096 characters anew at each use, which takes 70 us."""
