"""What waits in a queue has an index that no other can stand in for, and the planner learns how many messages share
an id of the platform: it ignores the statistics of a partial index, expects more with each row, and then plans anew
for each message."""

from alembic import op

from adapters.outbound.storage.migrations.locks import make_index

revision = "0046_rows_of_a_queue"
down_revision = "0045_age_of_files"


def upgrade() -> None:
    op.execute(
        "CREATE STATISTICS IF NOT EXISTS outbox_ref ON (hashtextextended(ref, 0)) FROM outbox; ANALYZE outbox"
    )
    inbox = "inbox (instance_id, hashtextextended(session_key, 0), id) WHERE status = 0"
    outbox = "outbox (hashtextextended(session_key, instance_id), id) WHERE status + 0 = 0"
    make_index("inbox_by_queue", inbox, instead_of="inbox_queued")
    make_index("outbox_by_queue", outbox, instead_of="outbox_queued")
