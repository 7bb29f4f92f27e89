"""What waits in a conversation has an index that no other can stand in for."""

from adapters.outbound.storage.migrations.locks import make_index

revision = "0047_events_of_a_queue"
down_revision = "0046_statistics_of_refs"


def upgrade() -> None:
    columns = "inbox (instance_id, hashtextextended(session_key, 0), id) WHERE status = 0"
    make_index("inbox_by_queue", columns, instead_of="inbox_queued")
