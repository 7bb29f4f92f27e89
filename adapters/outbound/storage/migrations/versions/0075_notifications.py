"""Notifications of users, their causes and deliveries, and the hours of teams."""

from alembic import op

revision = "0075_notifications"
down_revision = "0074_invitations"


def upgrade() -> None:
    op.execute(
        """
        -- What a user has set for notifications, as JSON; NULL: nothing.
        ALTER TABLE app_user ADD COLUMN IF NOT EXISTS notifications text;
        ALTER TABLE team ADD COLUMN IF NOT EXISTS hours text, ADD COLUMN IF NOT EXISTS away_text text;

        -- What happened, and nobody was notified of yet. Written in the transaction of what happened. `actor`: the
        -- user who did it; `named`: users and teams that it is for, as user:ID and team:ID. Instances may be gone.
        CREATE TABLE notification_cause (
            id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
            kind text NOT NULL,
            at timestamptz NOT NULL DEFAULT now(),
            instance_id bigint,
            session_key text,
            ref bigint,
            actor text,
            named text[],
            data text
        );
        CREATE INDEX notification_cause_by_session ON notification_cause (instance_id, session_key);
        CREATE INDEX notification_cause_by_age ON notification_cause (at);

        -- `object`: what it is about, by which the same is known again. `data`: JSON without texts of conversations.
        CREATE TABLE notification (
            id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
            user_id text NOT NULL,
            kind text NOT NULL,
            object text NOT NULL,
            instance_id bigint REFERENCES channel_instance ON DELETE CASCADE,
            session_key text,
            ref bigint,
            actor text,
            data text,
            created_at timestamptz NOT NULL,
            read_at timestamptz
        );
        CREATE INDEX notification_by_user ON notification (user_id, id);
        CREATE INDEX notification_unread ON notification (user_id, id) WHERE read_at IS NULL;
        CREATE INDEX notification_by_object ON notification (user_id, object, created_at);
        CREATE INDEX notification_by_session ON notification (instance_id, session_key);
        CREATE INDEX notification_by_age ON notification (created_at);

        -- Notifications that are still to be sent by mail or message.
        CREATE TABLE notification_delivery (
            notification_id bigint NOT NULL REFERENCES notification ON DELETE CASCADE,
            way text NOT NULL,
            user_id text NOT NULL,
            due_at timestamptz NOT NULL,
            attempts integer NOT NULL DEFAULT 0,
            PRIMARY KEY (notification_id, way)
        );
        CREATE INDEX notification_delivery_due ON notification_delivery (due_at);
        CREATE INDEX notification_delivery_by_user ON notification_delivery (user_id, way, due_at);

        CREATE FUNCTION note_wanted() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            INSERT INTO notification_cause (kind, instance_id, session_key)
            VALUES ('wanted', NEW.instance_id, NEW.session_key);
            RETURN NULL;
        END $$;
        -- A resource asked for a person: no user took the conversation.
        CREATE TRIGGER queue_wanted AFTER UPDATE OF held_until ON queue FOR EACH ROW
            WHEN (NEW.kind = 0 AND NEW.held_until > now() AND (OLD.held_until > now()) IS NOT TRUE
                AND (NEW.held_by_until = NEW.held_until AND NEW.held_by IS NOT NULL) IS NOT TRUE)
            EXECUTE FUNCTION note_wanted();

        CREATE FUNCTION note_budget() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            INSERT INTO notification_cause (kind, ref, data) VALUES ('budget', NEW.id, json_build_object(
                'percent', NEW.notified, 'month', to_char(NEW.notified_month, 'YYYY-MM'),
                'of', NEW.scope, 'subject', NEW.subject, 'currency', nullif(NEW.currency, ''),
                'amount', NEW.amount::float8)::text);
            RETURN NULL;
        END $$;
        CREATE TRIGGER budget_reached AFTER UPDATE OF notified ON budget FOR EACH ROW
            WHEN (NEW.notified > 0 AND (NEW.notified, NEW.notified_month)
                IS DISTINCT FROM (OLD.notified, OLD.notified_month))
            EXECUTE FUNCTION note_budget();
        """
    )
