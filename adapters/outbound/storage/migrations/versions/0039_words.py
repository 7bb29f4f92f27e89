"""Which chunks of a base are indexed under the words of an older version. What is being read begins again."""

from alembic import op

revision = "0039_words"
down_revision = "0038_files_of_a_base"


def upgrade() -> None:
    op.execute(
        """
        DELETE FROM kb_piece;
        UPDATE kb_file SET staged = false WHERE status = 'processing';
        -- Chunks behind the first number, up to the second, may be indexed under the words of an older version.
        ALTER TABLE knowledge_base ADD old_words_from bigint NOT NULL DEFAULT 0;
        ALTER TABLE knowledge_base ADD old_words_to bigint NOT NULL DEFAULT 0;
        UPDATE knowledge_base SET old_words_to = (SELECT last_value FROM chunk_seq) WHERE chunk_count > 0;
        CREATE INDEX knowledge_base_old_words ON knowledge_base (id) WHERE old_words_from < old_words_to;
        """
    )
