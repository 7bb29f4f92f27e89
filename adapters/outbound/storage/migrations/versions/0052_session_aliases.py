"""Further ids by which a platform knows the person of a session."""

from alembic import op

revision = "0052_session_aliases"
down_revision = "0051_trusted_instances"


def upgrade() -> None:
    op.execute(
        """
        -- WhatsApp told a phone number and a business-scoped id together; later it may tell the id alone.
        CREATE TABLE session_alias (
            instance_id bigint NOT NULL REFERENCES channel_instance ON DELETE CASCADE,
            alias text NOT NULL,
            session_key text NOT NULL,
            seen_at timestamptz NOT NULL DEFAULT now(),
            PRIMARY KEY (instance_id, alias)
        );
        CREATE INDEX session_alias_by_session ON session_alias (instance_id, session_key);
        CREATE INDEX session_alias_by_age ON session_alias (seen_at);
        """
    )
