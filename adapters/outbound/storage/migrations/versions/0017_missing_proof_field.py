"""The proof field that calls on an instance lack, named as in the code."""

from __future__ import annotations

from alembic import op

revision = "0017_missing_proof_field"
down_revision = "0016_rounds"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE instance_health RENAME COLUMN unproved_for TO missing_proof_field")
