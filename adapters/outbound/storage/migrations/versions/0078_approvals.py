"""Approvals by users and teams, and the policies of instances that ask for them."""

from alembic import op

revision = "0078_approvals"
down_revision = "0077_passkeys"


def upgrade() -> None:
    op.execute(
        """
        ALTER TABLE channel_instance ADD COLUMN approval_policy text;
        CREATE TABLE approval_request (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            instance_id bigint NOT NULL REFERENCES channel_instance (id) ON DELETE CASCADE,
            inbox_id bigint NOT NULL,
            session_key text NOT NULL,
            session_id text NOT NULL,
            request_id text NOT NULL,
            approver text NOT NULL,
            detail text NOT NULL,
            secret text NOT NULL,
            asked_at timestamptz NOT NULL,
            expires_at timestamptz NOT NULL,
            decision text,
            decided_by text NOT NULL DEFAULT '',
            reason text NOT NULL DEFAULT '',
            decided_at timestamptz,
            due_at timestamptz NOT NULL DEFAULT now(),
            begun boolean NOT NULL DEFAULT false,
            finished_at timestamptz
        );
        CREATE UNIQUE INDEX approval_request_of_run ON approval_request (inbox_id, request_id);
        CREATE INDEX approval_request_by_approver ON approval_request (approver, id);
        CREATE INDEX approval_request_by_session ON approval_request (instance_id, session_key);
        CREATE INDEX approval_request_waiting ON approval_request (expires_at) WHERE decision IS NULL;
        CREATE INDEX approval_request_open ON approval_request (approver, id) WHERE decision IS NULL;
        CREATE INDEX approval_request_due ON approval_request (due_at)
            WHERE decision IS NOT NULL AND finished_at IS NULL;
        """
    )
