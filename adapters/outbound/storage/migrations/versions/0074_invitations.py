"""Invitations of people who are no users yet."""

from alembic import op

revision = "0074_invitations"
down_revision = "0073_browser_sessions"


def upgrade() -> None:
    op.execute(
        """
        CREATE TABLE invitation (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            digest bytea NOT NULL UNIQUE,
            email text NOT NULL,
            role text NOT NULL,
            team_ids bigint[] NOT NULL,
            created_by text NOT NULL,
            created_at timestamptz NOT NULL,
            expires_at timestamptz NOT NULL,
            accepted_at timestamptz,
            user_id text
        );
        CREATE INDEX invitation_by_email ON invitation (email);
        CREATE INDEX invitation_by_user ON invitation (user_id) WHERE user_id IS NOT NULL;
        CREATE INDEX invitation_by_age ON invitation (expires_at);
        """
    )
