"""Passkeys of users, and which sessions were proved by one."""

from alembic import op

revision = "0077_passkeys"
down_revision = "0076_teamwork"


def upgrade() -> None:
    op.execute(
        """
        ALTER TABLE api_key ADD COLUMN is_proved boolean;
        CREATE TABLE passkey (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            user_id text NOT NULL,
            credential_id bytea NOT NULL UNIQUE,
            public_key bytea NOT NULL,
            sign_count bigint NOT NULL,
            name text NOT NULL,
            created_at timestamptz NOT NULL,
            used_at timestamptz
        );
        CREATE INDEX passkey_by_user ON passkey (user_id, id);
        """
    )
