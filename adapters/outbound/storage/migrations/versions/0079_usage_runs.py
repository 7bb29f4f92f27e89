"""Runs are put on record with the outcome, and added to the sums of usage and budgets later, many at once."""

from alembic import op

revision = "0079_usage_runs"
down_revision = "0078_approvals"


def upgrade() -> None:
    op.execute(
        """
        -- Runs that are in no sum yet, as `add_usage` got them. It is read as a whole, and empty again in seconds.
        CREATE TABLE usage_run (
            spent jsonb NOT NULL,
            done bigint[],
            at timestamptz NOT NULL DEFAULT now()
        );

        -- Puts runs on record, a JSON array of objects: those of the events in `done`, all where that is NULL.
        CREATE OR REPLACE FUNCTION add_usage(spent jsonb, done bigint[]) RETURNS void LANGUAGE plpgsql AS $function$
        BEGIN
            IF spent IS NOT NULL THEN
                INSERT INTO usage_run VALUES (spent, done);
            END IF;
        END
        $function$;
        """
    )
