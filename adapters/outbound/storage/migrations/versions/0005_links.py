"""The life of linked devices: who keeps the connection, its status, and pairing codes asked for."""

from alembic import op

revision = "0005_links"
down_revision = "0004_verification"


def upgrade() -> None:
    op.execute(
        """
        -- A code is asked for by raising wanted; the holder of the connection answers by raising answered to it.
        CREATE TABLE link (
            instance_id bigint PRIMARY KEY REFERENCES channel_instance ON DELETE CASCADE,
            status text,
            owner bigint,
            lease_until timestamptz,
            up_since timestamptz,
            wanted integer NOT NULL DEFAULT 0,
            answered integer NOT NULL DEFAULT 0,
            code text,
            error text,
            asked_since timestamptz NOT NULL DEFAULT now(),
            asked integer NOT NULL DEFAULT 0
        );
        CREATE INDEX link_owned ON link (owner) WHERE owner IS NOT NULL;
        """
    )
