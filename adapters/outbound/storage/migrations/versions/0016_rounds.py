"""How often we and a machine answered each other lately, by conversation."""

from alembic import op

revision = "0016_rounds"
down_revision = "0015_closed_questions"


def upgrade() -> None:
    op.execute(
        """
        -- Of inbound lanes whose events no person caused. rounds: when the rounds of the last minute began;
        -- replied_at: the first reply to an event of the present round. Both null once a person writes.
        ALTER TABLE lane ADD COLUMN rounds timestamptz[], ADD COLUMN replied_at timestamptz;
        """
    )
