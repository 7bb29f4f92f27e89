"""The model of each base, the model that is chosen, and vectors of another model beside those in use."""

from alembic import op

revision = "0041_models"
down_revision = "0040_sources_again"

PARTITIONS = 16


def upgrade() -> None:
    op.execute(
        """
        ALTER TABLE knowledge_base ADD model smallint;  -- whose vectors searches compare; none: it holds none
        UPDATE knowledge_base b SET model = (
            SELECT model FROM chunk_index i WHERE i.kb_id = b.id ORDER BY seq DESC LIMIT 1
        );
        DELETE FROM kb_piece_vector;
        ALTER TABLE kb_piece_vector ADD model smallint NOT NULL;
        UPDATE kb_file SET embedded = 0 WHERE status = 'processing';

        -- owner: of the process that embeds anew, until due_at or longer.
        CREATE TABLE chosen_model (
            kind text PRIMARY KEY,
            name text NOT NULL,
            precision text NOT NULL,
            owner bigint,
            due_at timestamptz NOT NULL DEFAULT now()
        );

        -- Vectors that are to follow those of chunk_index once all of a base are there.
        CREATE TABLE chunk_vector (
            kb_id integer NOT NULL,
            seq bigint NOT NULL,
            model smallint NOT NULL,
            embedding halfvec(384) NOT NULL,
            PRIMARY KEY (kb_id, seq)
        ) PARTITION BY HASH (kb_id);
        """
    )
    for number in range(PARTITIONS):
        op.execute(
            f"""
            CREATE TABLE chunk_vector_p{number} PARTITION OF chunk_vector
                FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {number});
            ALTER TABLE chunk_vector_p{number} ALTER embedding SET STORAGE PLAIN;
            """
        )
