"""Which parts ask the sender something, with buttons that a typed reply makes void."""

from alembic import op

revision = "0011_prompts"
down_revision = "0010_apologies"


def upgrade() -> None:
    op.execute(
        """
        ALTER TABLE outbox ADD COLUMN prompt boolean NOT NULL DEFAULT false;
        CREATE INDEX outbox_prompts ON outbox (inbox_id) WHERE prompt;
        """
    )
