"""Lists of the files of a base go on from an id without reading all of its files."""

from alembic import op

revision = "0038_files_of_a_base"
down_revision = "0037_short_uploads"


def upgrade() -> None:
    op.execute("CREATE INDEX kb_file_by_base ON kb_file (kb_id, id)")
