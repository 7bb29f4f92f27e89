"""Drop the columns of health that instance_activity has replaced."""

from alembic import op

revision = "0018_unused_health"
down_revision = "0017_missing_proof_field"


def upgrade() -> None:
    op.execute(
        """
        ALTER TABLE instance_health DROP COLUMN last_success_at, DROP COLUMN last_error,
            DROP COLUMN last_error_at;
        """
    )
