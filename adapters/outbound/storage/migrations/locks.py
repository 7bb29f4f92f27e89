"""How migrations take locks beside processes that work."""

from alembic import op

LOCK_TIMEOUT = "SET lock_timeout = '2s'"
"""Whoever needs the table waits behind a migration that waits: after so long it lets them pass, and tries again."""


def make_index(name: str, definition: str, *, unique: bool = False, instead_of: str | None = None) -> None:
    """An index of a table that has rows, made while others write to it. `definition`: the table with the columns.
    One that an earlier try left unfinished is made anew. `instead_of` is dropped once it is there.
    What the migration did before is committed."""
    kind = "UNIQUE INDEX" if unique else "INDEX"
    with op.get_context().autocommit_block():
        op.execute(
            "SET lock_timeout = 0"
        )  # it holds nobody up, and waits for every transaction that is under way
        op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
        op.execute(f"CREATE {kind} CONCURRENTLY {name} ON {definition}")
        if instead_of:
            op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {instead_of}")
        op.execute(LOCK_TIMEOUT)
