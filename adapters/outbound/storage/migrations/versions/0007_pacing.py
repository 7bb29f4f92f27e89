"""What workers share of the limits of platforms: holds, open breakers, turns; and an index on dead letters."""

from alembic import op

revision = "0007_pacing"
down_revision = "0006_confirmations"


def upgrade() -> None:
    op.execute(
        """
        -- Nobody sends to what the key names before `until`. Written when a platform asks to wait.
        CREATE TABLE send_hold (
            key text PRIMARY KEY,
            until timestamptz NOT NULL
        );

        -- Instances whose platform does not answer; `until` in the past: a probe is due.
        CREATE TABLE send_breaker (
            instance_id bigint PRIMARY KEY REFERENCES channel_instance ON DELETE CASCADE,
            opened_at timestamptz NOT NULL DEFAULT now(),
            until timestamptz NOT NULL,
            openings integer NOT NULL,
            reason text NOT NULL
        );

        -- Turns that several workers take from one quota; `used_until` as in the generic cell rate algorithm.
        CREATE UNLOGGED TABLE send_turn (
            key text PRIMARY KEY,
            used_until timestamptz NOT NULL,
            wait double precision NOT NULL
        ) WITH (fillfactor = 50);

        CREATE INDEX outbox_dead ON outbox (instance_id, id) WHERE status = 2;
        """
    )
