"""An upload knows how many bytes it has, so that short ones pass long ones of the same user."""

from alembic import op

revision = "0037_short_uploads"
down_revision = "0036_sources"


def upgrade() -> None:
    op.execute(
        """
        ALTER TABLE kb_upload ADD size bigint NOT NULL DEFAULT 0;
        UPDATE kb_upload u SET size = f.size
        FROM (SELECT upload_id, sum(size) AS size FROM kb_file WHERE upload_id IS NOT NULL GROUP BY upload_id) f
        WHERE f.upload_id = u.id AND u.state < 2;
        """
    )
