"""Retention: instances that were removed are noted, rows of files have an age, and vacuum comes after a small part of
a large table instead of a fifth."""

from alembic import op

revision = "0044_retention"
down_revision = "0043_schema_version"

BUSY = ("inbox", "outbox", "event_log", "send", "chat_history", "figure", "message_file")


def upgrade() -> None:
    op.execute(
        """
        CREATE TABLE IF NOT EXISTS removed_instance (
            instance_id bigint PRIMARY KEY,
            removed_at timestamptz NOT NULL DEFAULT now()
        );
        CREATE INDEX IF NOT EXISTS removed_instance_by_age ON removed_instance (removed_at);
        INSERT INTO removed_instance (instance_id) SELECT DISTINCT instance_id FROM (
            SELECT instance_id FROM queue UNION ALL SELECT instance_id FROM message_file
        ) q WHERE NOT EXISTS (SELECT FROM channel_instance i WHERE i.id = q.instance_id) ON CONFLICT DO NOTHING;
        CREATE OR REPLACE FUNCTION note_removed_instances() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            INSERT INTO removed_instance (instance_id) SELECT id FROM gone ON CONFLICT DO NOTHING;
            RETURN NULL;
        END $$;
        CREATE OR REPLACE TRIGGER channel_instance_removed AFTER DELETE ON channel_instance
            REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION note_removed_instances();

        ALTER TABLE message_file ADD COLUMN IF NOT EXISTS created_at timestamptz NOT NULL DEFAULT now();

        ALTER TABLE queue SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 2000);
        """
    )
    for table in BUSY:
        op.execute(
            f"""
            ALTER TABLE {table} SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000,
                autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02,
                toast.autovacuum_vacuum_scale_factor = 0.02)
            """
            if table != "figure"
            else "ALTER TABLE figure SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000)"
        )
