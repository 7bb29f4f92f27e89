"""The text of statements."""

from __future__ import annotations

LONGEST_REMEMBERED = 4096
"""Characters up to which psycopg remembers how it read a statement; it reads longer ones anew at each use
(`MAX_CACHED_STATEMENT_LENGTH` in psycopg/_queries.py)."""


def compact(statement: str) -> str:
    """The statement on one line, without indentation. It must hold no comment, and no text with two spaces."""
    return " ".join(statement.split())
