"""Rows of files are found by their age."""

from adapters.outbound.storage.migrations.locks import make_index

revision = "0045_age_of_files"
down_revision = "0044_retention"


def upgrade() -> None:
    make_index("message_file_by_age", "message_file (created_at)")
