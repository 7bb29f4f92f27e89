"""Snoozed conversations, notes, snippets, and the indexes of the lists of an inbox."""

from alembic import op

from adapters.outbound.storage.migrations.locks import make_index

revision = "0076_teamwork"
down_revision = "0075_notifications"

PLACE = "(instance_id + 0), touched_at, session_key"


def upgrade() -> None:
    op.execute(
        """
        ALTER TABLE queue ADD COLUMN IF NOT EXISTS snoozed_until timestamptz;

        CREATE TABLE IF NOT EXISTS conversation_note (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            instance_id bigint NOT NULL REFERENCES channel_instance ON DELETE CASCADE,
            session_key text NOT NULL,
            user_id text NOT NULL,
            text text NOT NULL,
            mentions text[] NOT NULL,
            created_at timestamptz NOT NULL DEFAULT now()
        );
        CREATE INDEX IF NOT EXISTS conversation_note_by_session
            ON conversation_note (instance_id, session_key, id);
        CREATE INDEX IF NOT EXISTS conversation_note_by_age ON conversation_note (created_at);

        -- Of a user, of a team, or of all.
        CREATE TABLE IF NOT EXISTS snippet (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            user_id text,
            team_id bigint REFERENCES team ON DELETE CASCADE,
            name text NOT NULL,
            text text NOT NULL,
            created_at timestamptz NOT NULL DEFAULT now(),
            updated_at timestamptz NOT NULL DEFAULT now()
        );
        CREATE INDEX IF NOT EXISTS snippet_by_user ON snippet (user_id, id) WHERE user_id IS NOT NULL;
        CREATE INDEX IF NOT EXISTS snippet_by_team ON snippet (team_id, id) WHERE team_id IS NOT NULL;
        CREATE INDEX IF NOT EXISTS snippet_of_all ON snippet (id) WHERE user_id IS NULL AND team_id IS NULL;
        CREATE INDEX IF NOT EXISTS team_by_name ON team (lower(name));
        """
    )
    make_index("queue_open", f"queue ({PLACE}) WHERE kind = 0 AND closed_at IS NULL")
    by_assignee = PLACE.replace(", touched_at", ", assignee, touched_at")
    make_index("queue_open_by_assignee", f"queue ({by_assignee}) WHERE kind = 0 AND closed_at IS NULL")
    make_index("queue_snoozed", f"queue ({PLACE}) WHERE kind = 0 AND snoozed_until IS NOT NULL")
    make_index("queue_held", f"queue ({PLACE}) WHERE kind = 0 AND held_until IS NOT NULL")
