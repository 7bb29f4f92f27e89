"""Uploads are staged and published with less work for the database.

Postings are gathered in the list of pending entries of an index, of which a search reads a megabyte at most, and
enter it by word instead of one by one; rows of a few kilobytes stay in one place. A piece has the number of its chunk
from the beginning, and files know how many of their pieces have vectors. What is being read begins again.
"""

from alembic import op

revision = "0035_faster_ingest"
down_revision = "0034_web_chat"

PARTITIONS, PENDING_KILOBYTES = 16, 1024


def upgrade() -> None:
    op.execute(
        """
        DELETE FROM kb_piece;
        UPDATE kb_file SET staged = false WHERE status = 'processing';
        ALTER TABLE kb_file ADD embedded integer NOT NULL DEFAULT 0;
        DROP INDEX kb_piece_by_upload;
        ALTER TABLE kb_piece
            DROP words,
            ADD words text NOT NULL,  -- with blanks between them
            ADD seq bigint NOT NULL DEFAULT nextval('chunk_seq'),
            SET (toast_tuple_target = 8160);
        CREATE INDEX kb_piece_by_upload ON kb_piece (upload_id, seq);
        """
    )
    gathered = f"SET (fastupdate = on, gin_pending_list_limit = {PENDING_KILOBYTES})"
    for number in range(PARTITIONS):
        op.execute(
            f"""
            ALTER TABLE chunk_index_p{number} SET (toast_tuple_target = 8160);
            ALTER INDEX chunk_index_p{number}_terms {gathered};
            ALTER INDEX kb_term_p{number}_similar {gathered};
            """
        )
