"""Receiving, processing and sending of an instance are on record apart."""

from alembic import op

revision = "0013_activities"
down_revision = "0012_bounded_keys"


def upgrade() -> None:
    op.execute(
        """
        CREATE TABLE instance_activity (
            instance_id bigint REFERENCES channel_instance ON DELETE CASCADE,
            activity text,
            last_success_at timestamptz,
            last_error text,
            last_error_at timestamptz,
            PRIMARY KEY (instance_id, activity)
        ) WITH (fillfactor = 70);

        INSERT INTO instance_activity
        SELECT instance_id, CASE WHEN last_error LIKE 'sending a reply:%' THEN 'sending'
            WHEN last_error LIKE 'polling:%' OR last_error LIKE 'pairing:%' OR last_error IS NULL THEN 'receiving'
            ELSE 'processing' END, last_success_at, last_error, last_error_at
        FROM instance_health WHERE last_success_at IS NOT NULL OR last_error_at IS NOT NULL;

        -- The columns of before stay: workers of the version before write them until they are replaced.
        COMMENT ON COLUMN instance_health.last_success_at IS 'unused, see instance_activity';
        COMMENT ON COLUMN instance_health.last_error IS 'unused, see instance_activity';
        COMMENT ON COLUMN instance_health.last_error_at IS 'unused, see instance_activity';
        """
    )
