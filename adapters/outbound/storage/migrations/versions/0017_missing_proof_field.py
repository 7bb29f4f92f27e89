"""The proof field that calls on an instance lack, named as in the code."""

from alembic import op

revision = "0017_missing_proof_field"
down_revision = "0016_rounds"


def upgrade() -> None:
    op.execute("ALTER TABLE instance_health RENAME COLUMN unproved_for TO missing_proof_field")
