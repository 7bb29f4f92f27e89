"""The tables of rate limits are named after what they hold: cooldowns and quotas."""

from alembic import op

revision = "0020_rate_limits"
down_revision = "0019_queue"


def upgrade() -> None:
    op.execute(
        """
        ALTER TABLE send_hold RENAME TO send_cooldown;
        ALTER INDEX send_hold_pkey RENAME TO send_cooldown_pkey;
        ALTER TABLE send_turn RENAME TO send_quota;
        ALTER INDEX send_turn_pkey RENAME TO send_quota_pkey;
        """
    )
