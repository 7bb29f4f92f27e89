"""All chunks that are there may be indexed under the words of an older version again."""

from alembic import op

revision = "0055_chinese_words"
down_revision = "0054_push_cursors"


def upgrade() -> None:
    op.execute(
        """
        UPDATE knowledge_base SET old_words_from = 0, old_words_to = (SELECT last_value FROM chunk_seq)
        WHERE chunk_count > 0
        """
    )
