"""The planner learns how many messages share an id of the platform: of a partial index it uses no statistics, expects
more with each row, and then plans the statements of a message anew for each one."""

from alembic import op

revision = "0046_statistics_of_refs"
down_revision = "0045_age_of_files"


def upgrade() -> None:
    op.execute("CREATE STATISTICS outbox_ref ON (hashtextextended(ref, 0)) FROM outbox; ANALYZE outbox")
