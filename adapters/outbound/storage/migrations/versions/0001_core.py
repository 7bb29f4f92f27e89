"""API keys, instances, and the way of a message: inbox, lanes, outbox."""

from alembic import op

revision = "0001_core"
down_revision = None


def upgrade() -> None:
    op.execute(
        """
        CREATE TABLE api_key (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            user_id text NOT NULL,
            role text NOT NULL CHECK (role IN ('user', 'admin')),
            prefix text NOT NULL,
            hash bytea NOT NULL UNIQUE,
            created_at timestamptz NOT NULL DEFAULT now(),
            revoked_at timestamptz
        );

        CREATE TABLE channel_instance (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            user_id text NOT NULL,
            channel_id text NOT NULL,
            channel_name text NOT NULL,
            config bytea NOT NULL,
            resource_id text,
            status text NOT NULL DEFAULT 'active',
            created_at timestamptz NOT NULL DEFAULT now(),
            updated_at timestamptz NOT NULL DEFAULT now()
        );
        CREATE UNIQUE INDEX channel_instance_triple ON channel_instance (user_id, channel_name, channel_id)
            WHERE status = 'active';
        CREATE INDEX channel_instance_retiring ON channel_instance (id) WHERE status <> 'active';
        CREATE INDEX channel_instance_by_user ON channel_instance (user_id, id);
        CREATE INDEX channel_instance_by_channel ON channel_instance (channel_id, id);

        CREATE TABLE instance_health (
            instance_id bigint PRIMARY KEY REFERENCES channel_instance ON DELETE CASCADE,
            last_success_at timestamptz,
            last_error text,
            last_error_at timestamptz,
            unproved_for text,
            webhook_registered boolean,
            webhook_error text,
            pairing_code text
        );

        -- One row for each instance that is polled or fires by the clock. next_run_at is null when it never
        -- runs again by itself (switched off, credentials refused).
        CREATE TABLE schedule (
            instance_id bigint PRIMARY KEY REFERENCES channel_instance ON DELETE CASCADE,
            next_run_at timestamptz,
            cursor text,
            failures integer NOT NULL DEFAULT 0,
            owner bigint,
            lease_until timestamptz
        );
        CREATE INDEX schedule_due ON schedule (next_run_at) WHERE next_run_at IS NOT NULL;

        CREATE TABLE process (
            incarnation bigint PRIMARY KEY,
            role text NOT NULL,
            started_at timestamptz NOT NULL DEFAULT now(),
            beat_at timestamptz NOT NULL DEFAULT now()
        );

        -- A lane is a queue of one (instance, conversation): kind 0 inbound, kind 1 outbound.
        -- due_at is when it may next be taken: the present when rows wait, the end of the lease while
        -- somebody works on it, the moment of the next try after a failure.
        CREATE TABLE lane (
            kind smallint NOT NULL,
            instance_id bigint NOT NULL,
            lane_key text NOT NULL,
            pending integer NOT NULL,
            due_at timestamptz NOT NULL DEFAULT now(),
            owner bigint,
            touched_at timestamptz NOT NULL DEFAULT now(),
            PRIMARY KEY (kind, instance_id, lane_key)
        ) WITH (fillfactor = 70);
        CREATE INDEX lane_due ON lane (kind, due_at) WHERE pending > 0;
        CREATE INDEX lane_owned ON lane (owner) WHERE owner IS NOT NULL;
        CREATE INDEX lane_touched ON lane (touched_at) WHERE pending = 0;

        CREATE TABLE inbox (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            instance_id bigint NOT NULL,
            lane_key text NOT NULL,
            event_key text NOT NULL,
            event text NOT NULL,
            status smallint NOT NULL DEFAULT 0,
            attempts smallint NOT NULL DEFAULT 0,
            error text,
            await_until timestamptz,
            result text,
            taken boolean NOT NULL DEFAULT false,
            received_at timestamptz NOT NULL DEFAULT now(),
            finished_at timestamptz,
            CONSTRAINT inbox_event UNIQUE (instance_id, event_key)
        );
        CREATE INDEX inbox_waiting ON inbox (instance_id, lane_key, id) WHERE status = 0;
        CREATE INDEX inbox_finished ON inbox (finished_at) WHERE status <> 0;
        CREATE INDEX inbox_awaited ON inbox (await_until) WHERE await_until IS NOT NULL AND NOT taken;

        CREATE TABLE outbox (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            instance_id bigint NOT NULL,
            lane_key text NOT NULL,
            inbox_id bigint,
            part text NOT NULL,
            target text NOT NULL,
            key text NOT NULL,
            status smallint NOT NULL DEFAULT 0,
            attempts smallint NOT NULL DEFAULT 0,
            last_error text,
            ref text,
            created_at timestamptz NOT NULL DEFAULT now(),
            next_attempt_at timestamptz,
            finished_at timestamptz
        );
        CREATE INDEX outbox_waiting ON outbox (instance_id, lane_key, id) WHERE status = 0;
        CREATE INDEX outbox_by_instance ON outbox (instance_id, status, id);
        CREATE INDEX outbox_by_ref ON outbox (instance_id, ref) WHERE ref IS NOT NULL;
        CREATE INDEX outbox_finished ON outbox (finished_at) WHERE status = 1;
        """
    )
