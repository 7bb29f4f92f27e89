"""The trace that an outbound message belongs to: its traceparent."""

from alembic import op

revision = "0057_traces"
down_revision = "0056_notes_of_platforms"


def upgrade() -> None:
    op.execute("ALTER TABLE outbox ADD trace text")
