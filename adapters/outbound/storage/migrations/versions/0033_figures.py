"""How many messages were received, answered and given up, by minute and by half hour, with a histogram of the times
to reply: `measure` is the number of a bucket, or what else was counted."""

from alembic import op

revision = "0033_figures"
down_revision = "0032_timelines"


def upgrade() -> None:
    op.execute(
        """
        CREATE TABLE figure (
            instance_id bigint NOT NULL REFERENCES channel_instance ON DELETE CASCADE,
            step integer NOT NULL,
            at timestamptz NOT NULL,
            measure smallint NOT NULL,
            count bigint NOT NULL,
            PRIMARY KEY (instance_id, step, at, measure)
        );
        CREATE INDEX figure_by_age ON figure (step, at);
        CREATE TABLE figure_position (
            id smallint PRIMARY KEY,
            until timestamptz NOT NULL,
            inbox_id bigint NOT NULL
        );
        CREATE INDEX inbox_finished ON inbox (finished_at) WHERE finished_at IS NOT NULL;
        CREATE INDEX outbox_given_up ON outbox (finished_at) WHERE status = 2;
        """
    )
