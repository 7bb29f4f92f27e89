"""Sessions and sign-in links beside the keys, names and expiry of keys, and what was tried at signing in."""

from alembic import op

revision = "0031_sign_in"
down_revision = "0030_event_age"


def upgrade() -> None:
    op.execute(
        """
        ALTER TABLE api_key
            ADD COLUMN kind text NOT NULL DEFAULT 'key' CHECK (kind IN ('key', 'session', 'link')),
            ADD COLUMN name text NOT NULL DEFAULT '',
            ADD COLUMN expires_at timestamptz,
            ADD COLUMN parent_id bigint;
        CREATE INDEX api_key_by_kind ON api_key (kind, id);
        CREATE INDEX api_key_by_user ON api_key (user_id, kind, id);
        CREATE INDEX api_key_expiring ON api_key (expires_at) WHERE kind <> 'key';
        CREATE TABLE sign_in_try (
            address bytea PRIMARY KEY, tries integer NOT NULL, until timestamptz NOT NULL
        );
        CREATE INDEX sign_in_try_until ON sign_in_try (until);
        """
    )
