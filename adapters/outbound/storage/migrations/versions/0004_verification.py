"""Verified identities, and what is pending of verifications."""

from alembic import op

revision = "0004_verification"
down_revision = "0003_knowledge"


def upgrade() -> None:
    op.execute(
        """
        CREATE TABLE verified_identity (
            field text NOT NULL,
            normal text NOT NULL,
            value text NOT NULL,
            user_id text NOT NULL,
            id bigint GENERATED ALWAYS AS IDENTITY,
            verified_at timestamptz NOT NULL DEFAULT now(),
            PRIMARY KEY (field, normal)
        );
        CREATE INDEX verified_identity_by_user ON verified_identity (user_id, id);

        -- One pending code per user; tries counts before the comparison, so that tries at once are no way round.
        CREATE TABLE verification_code (
            user_id text PRIMARY KEY,
            address text NOT NULL,
            digest bytea NOT NULL,
            tries smallint NOT NULL DEFAULT 0,
            expires_at timestamptz NOT NULL
        );
        CREATE TABLE verification_send (
            address text NOT NULL,
            user_id text NOT NULL,
            sent_at timestamptz NOT NULL
        );
        CREATE INDEX verification_send_by_address ON verification_send (address, sent_at);
        CREATE INDEX verification_send_by_user ON verification_send (user_id, sent_at);
        CREATE INDEX verification_send_by_age ON verification_send (sent_at);

        CREATE TABLE verification_link (
            digest bytea PRIMARY KEY,
            user_id text NOT NULL,
            messenger_id text,
            bound_at timestamptz,
            expires_at timestamptz NOT NULL
        );
        CREATE INDEX verification_link_by_messenger ON verification_link (messenger_id)
            WHERE messenger_id IS NOT NULL;
        CREATE INDEX verification_link_by_age ON verification_link (expires_at);

        CREATE TABLE verification_state (
            digest bytea PRIMARY KEY,
            provider text NOT NULL,
            user_id text NOT NULL,
            verifier bytea NOT NULL,
            expires_at timestamptz NOT NULL
        );
        CREATE INDEX verification_state_by_age ON verification_state (expires_at);

        CREATE TABLE access_notice (
            instance_id bigint NOT NULL REFERENCES channel_instance ON DELETE CASCADE,
            external_id text NOT NULL,
            noticed_at timestamptz NOT NULL,
            PRIMARY KEY (instance_id, external_id)
        );
        CREATE INDEX access_notice_by_age ON access_notice (noticed_at);
        """
    )
