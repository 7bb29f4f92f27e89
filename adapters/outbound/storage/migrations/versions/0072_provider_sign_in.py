"""Sign-in at an OpenID provider: sign-ins under way, accounts of users there, and what a sign-out needs."""

from alembic import op

revision = "0072_provider_sign_in"
down_revision = "0071_usage"


def upgrade() -> None:
    op.execute(
        """
        -- What a browser that went away has to bring back; data is encrypted.
        CREATE TABLE sign_in_state (
            digest bytea PRIMARY KEY,
            kind text NOT NULL,
            data bytea NOT NULL,
            expires_at timestamptz NOT NULL
        );
        CREATE INDEX sign_in_state_by_age ON sign_in_state (expires_at);

        CREATE TABLE provider_account (
            issuer text NOT NULL,
            subject text NOT NULL,
            user_id text NOT NULL,
            created_at timestamptz NOT NULL DEFAULT now(),
            PRIMARY KEY (issuer, subject)
        );
        CREATE INDEX provider_account_by_user ON provider_account (user_id, issuer);

        -- The ID token that a session was opened with, encrypted.
        CREATE TABLE session_token (
            session_id bigint PRIMARY KEY REFERENCES api_key ON DELETE CASCADE,
            token bytea NOT NULL
        );
        """
    )
