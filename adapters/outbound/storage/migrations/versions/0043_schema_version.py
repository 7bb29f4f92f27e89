"""The revision is kept in `schema_version` from here on; version 0.1.0 finds its newest one where it looks for it."""

from alembic import op

revision = "0043_schema_version"
down_revision = "0042_streamed_files"


def upgrade() -> None:
    op.execute(
        """
        DELETE FROM alembic_version;
        INSERT INTO alembic_version VALUES ('0042_streamed_files');
        """
    )
