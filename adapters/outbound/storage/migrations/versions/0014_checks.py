"""The row that readiness writes, and the value that tells whether an encryption key is the right one."""

from alembic import op

revision = "0014_checks"
down_revision = "0013_activities"


def upgrade() -> None:
    op.execute(
        """
        -- One row, written again and again to see whether the database takes writes.
        CREATE TABLE write_check (
            id smallint PRIMARY KEY,
            written_at timestamptz NOT NULL
        ) WITH (fillfactor = 10);

        -- One row, sealed with the key that the configurations are sealed with.
        CREATE TABLE key_check (
            id smallint PRIMARY KEY,
            sealed bytea NOT NULL
        );
        """
    )
