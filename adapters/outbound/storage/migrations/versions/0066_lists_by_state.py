"""Indexes of lists of conversations by assignee, label and state."""

from adapters.outbound.storage.migrations.locks import make_index

revision = "0066_lists_by_state"
down_revision = "0065_conversation_state"


def upgrade() -> None:
    make_index(
        "queue_assigned",
        "queue ((instance_id + 0), assignee, touched_at, session_key)"
        " WHERE kind = 0 AND assignee IS NOT NULL",
    )
    make_index(
        "queue_closed",
        "queue ((instance_id + 0), touched_at, session_key) WHERE kind = 0 AND closed_at IS NOT NULL",
    )
    # Without a list of what is not in its tree yet, which every look would read through.
    make_index("queue_labelled", "queue USING gin (labels) WITH (fastupdate = off) WHERE labels IS NOT NULL")
