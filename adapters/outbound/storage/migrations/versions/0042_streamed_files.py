"""Texts of files that are being read: stretch by stretch, until they are whole."""

from alembic import op

revision = "0042_streamed_files"
down_revision = "0041_models"


def upgrade() -> None:
    op.execute(
        """
        CREATE TABLE kb_text (
            file_id bigint NOT NULL REFERENCES kb_file ON DELETE CASCADE,
            start integer NOT NULL,  -- the first character's place in the whole text
            upload_id bigint NOT NULL REFERENCES kb_upload ON DELETE CASCADE,
            text text NOT NULL,
            PRIMARY KEY (file_id, start)
        );
        ALTER TABLE kb_text ALTER text SET STORAGE EXTERNAL;
        CREATE INDEX kb_text_by_upload ON kb_text (upload_id);
        """
    )
