"""What the runs of resources take, by day, instance, resource and user; and budgets of it."""

from alembic import op

revision = "0071_usage"
down_revision = "0070_people"


def upgrade() -> None:
    op.execute(
        """
        -- Rows are updated often: half of each page is left for their next versions. Connections add to rows of
        -- different slots, so that they seldom wait for each other. Instances may be gone, their usage stays.
        CREATE TABLE usage (
            day date NOT NULL,
            instance_id bigint NOT NULL,
            resource_id text NOT NULL,
            user_id text NOT NULL,
            currency text NOT NULL,
            slot smallint NOT NULL,
            runs bigint NOT NULL,
            input_tokens bigint NOT NULL,
            output_tokens bigint NOT NULL,
            seconds double precision NOT NULL,
            cost numeric NOT NULL,
            PRIMARY KEY (day, instance_id, resource_id, user_id, currency, slot)
        ) WITH (fillfactor = 50);
        CREATE INDEX usage_by_instance ON usage (instance_id, day);

        -- `scope`: user, instance or agent; `subject`: the id of that. `currency`: empty for tokens. `notified`: of
        -- which percent an event told in the month `notified_month`.
        CREATE TABLE budget (
            id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
            scope text NOT NULL,
            subject text NOT NULL,
            currency text NOT NULL,
            by_admin boolean NOT NULL,
            amount numeric NOT NULL,
            created_by text NOT NULL,
            updated_at timestamptz NOT NULL DEFAULT now(),
            notified_month date,
            notified smallint NOT NULL DEFAULT 0
        );
        CREATE UNIQUE INDEX budget_key ON budget (scope, subject, currency, by_admin);
        CREATE INDEX budget_by_creator ON budget (created_by);

        -- Without a reference to the budget: one that is deleted meanwhile must not keep an outcome from
        -- being stored.
        CREATE TABLE budget_spent (
            budget_id bigint NOT NULL,
            month date NOT NULL,
            slot smallint NOT NULL,
            amount numeric NOT NULL,
            PRIMARY KEY (budget_id, month, slot)
        ) WITH (fillfactor = 50);
        CREATE INDEX budget_spent_by_age ON budget_spent (month);

        -- Adds runs, a JSON array of objects, to the sums: those of the events in `done`, all where that is NULL.
        CREATE FUNCTION add_usage(spent jsonb, done bigint[]) RETURNS void LANGUAGE plpgsql AS $function$
        BEGIN
            IF spent IS NULL THEN
                RETURN;
            END IF;
            INSERT INTO usage AS u (day, instance_id, resource_id, user_id, currency, slot,
                runs, input_tokens, output_tokens, seconds, cost)
            SELECT (now() AT TIME ZONE 'utc')::date, r.instance, r.resource, r.user, r.currency,
                pg_backend_pid() % 8, sum(r.runs), sum(r.input), sum(r.output), sum(r.seconds), sum(r.cost)
            FROM jsonb_to_recordset(spent) AS r(event bigint, instance bigint, resource text, "user" text,
                currency text, runs bigint, input bigint, output bigint, seconds float8, cost numeric)
            WHERE done IS NULL OR r.event = ANY(done)
            GROUP BY 2, 3, 4, 5 ORDER BY 2, 3, 4, 5
            ON CONFLICT (day, instance_id, resource_id, user_id, currency, slot) DO UPDATE SET
                runs = u.runs + excluded.runs,
                input_tokens = u.input_tokens + excluded.input_tokens,
                output_tokens = u.output_tokens + excluded.output_tokens,
                seconds = u.seconds + excluded.seconds,
                cost = u.cost + excluded.cost;
            IF NOT EXISTS (SELECT FROM budget) THEN
                RETURN;
            END IF;
            INSERT INTO budget_spent AS b (budget_id, month, slot, amount)
            SELECT g.id, date_trunc('month', now() AT TIME ZONE 'utc')::date, pg_backend_pid() % 8,
                sum(CASE WHEN g.currency = '' THEN r.input + r.output ELSE r.cost END)
            FROM jsonb_to_recordset(spent) AS r(event bigint, instance bigint, resource text, "user" text,
                currency text, input bigint, output bigint, cost numeric)
            CROSS JOIN LATERAL (VALUES
                ('instance', r.instance::text), ('agent', r.resource), ('user', r.user)
            ) AS s(scope, subject)
            JOIN budget g ON g.scope = s.scope AND g.subject = s.subject AND g.currency IN ('', r.currency)
            WHERE done IS NULL OR r.event = ANY(done)
            GROUP BY 1 ORDER BY 1
            ON CONFLICT (budget_id, month, slot) DO UPDATE SET amount = b.amount + excluded.amount;
        END
        $function$;
        """
    )
