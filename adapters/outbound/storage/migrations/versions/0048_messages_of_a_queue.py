"""So have the messages that wait to be sent; the index of an instance's messages cannot stand in for it either."""

from adapters.outbound.storage.migrations.locks import make_index

revision = "0048_messages_of_a_queue"
down_revision = "0047_events_of_a_queue"


def upgrade() -> None:
    columns = "outbox (hashtextextended(session_key, instance_id), id) WHERE status + 0 = 0"
    make_index("outbox_by_queue", columns, instead_of="outbox_queued")
