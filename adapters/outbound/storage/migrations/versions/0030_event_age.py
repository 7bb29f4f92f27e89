"""No index on the age of events: it follows from their order."""

from alembic import op

revision = "0030_event_age"
down_revision = "0029_decided_at"


def upgrade() -> None:
    op.execute("DROP INDEX event_log_by_age")
