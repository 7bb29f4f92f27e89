"""Knowledge bases: files, uploads, chunks with their index, vocabulary, blobs, memory tasks."""

from alembic import op

revision = "0003_knowledge"
down_revision = "0002_chat_history"

PARTITIONS = 16


def upgrade() -> None:
    op.execute(
        """
        CREATE TABLE knowledge_base (
            id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            name text NOT NULL,
            description text NOT NULL,
            manifest text NOT NULL,
            created_by text NOT NULL,
            chunk_count bigint NOT NULL DEFAULT 0,
            created_at timestamptz NOT NULL DEFAULT now(),
            updated_at timestamptz NOT NULL DEFAULT now()
        );
        -- For the maintenance of vector indexes: only the large bases.
        CREATE INDEX knowledge_base_large ON knowledge_base (chunk_count) WHERE chunk_count > 5000;

        CREATE TABLE kb_permission (
            user_id text NOT NULL,
            kb_id integer NOT NULL REFERENCES knowledge_base ON DELETE CASCADE,
            level smallint NOT NULL CHECK (level BETWEEN 1 AND 3),
            PRIMARY KEY (user_id, kb_id)
        );
        CREATE INDEX kb_permission_by_base ON kb_permission (kb_id);

        CREATE TABLE embedding_model (
            id smallint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            fingerprint text NOT NULL UNIQUE
        );

        -- One upload request. state: 0 to do, 1 in work, 2 done, 3 failed.
        CREATE TABLE kb_upload (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            kb_id integer NOT NULL REFERENCES knowledge_base ON DELETE CASCADE,
            user_id text NOT NULL,
            respond_async boolean NOT NULL,
            state smallint NOT NULL DEFAULT 0,
            attempts smallint NOT NULL DEFAULT 0,
            owner bigint,
            due_at timestamptz NOT NULL DEFAULT now(),
            failure_reason text,
            failure_message text,
            created_at timestamptz NOT NULL DEFAULT now(),
            ended_at timestamptz
        );
        CREATE INDEX kb_upload_open ON kb_upload (due_at) WHERE state < 2;
        CREATE INDEX kb_upload_by_base ON kb_upload (kb_id);
        CREATE INDEX kb_upload_ended ON kb_upload (ended_at) WHERE state >= 2;

        -- The bytes of files. holds counts the uploads under way that need them.
        CREATE TABLE blob (
            key text PRIMARY KEY,
            size bigint NOT NULL,
            holds integer NOT NULL DEFAULT 0,
            touched_at timestamptz NOT NULL DEFAULT now()
        );
        CREATE INDEX blob_by_touch ON blob (touched_at);

        CREATE TABLE kb_file (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            kb_id integer NOT NULL REFERENCES knowledge_base ON DELETE CASCADE,
            upload_id bigint REFERENCES kb_upload ON DELETE SET NULL,
            file_name text NOT NULL,
            blob_key text NOT NULL,
            file_hash text NOT NULL,
            size bigint NOT NULL,
            mime_type text NOT NULL,
            text text NOT NULL DEFAULT '',
            uploaded_by text NOT NULL,
            status text NOT NULL CHECK (status IN ('processing', 'ready', 'failed')),
            progress real NOT NULL DEFAULT 0,
            error text,
            staged boolean NOT NULL DEFAULT false,
            chunk_count integer NOT NULL DEFAULT 0,
            created_at timestamptz NOT NULL DEFAULT now(),
            updated_at timestamptz NOT NULL DEFAULT now(),
            UNIQUE (kb_id, file_hash)
        );
        CREATE INDEX kb_file_by_hash ON kb_file (file_hash);
        CREATE INDEX kb_file_by_blob ON kb_file (blob_key);
        CREATE INDEX kb_file_by_upload ON kb_file (upload_id) WHERE upload_id IS NOT NULL;
        CREATE INDEX kb_file_failed ON kb_file (updated_at) WHERE status = 'failed';

        -- Pieces of uploads under way. They become chunks all at once, when the upload is published.
        CREATE TABLE kb_piece (
            file_id bigint NOT NULL REFERENCES kb_file ON DELETE CASCADE,
            position integer NOT NULL,
            upload_id bigint NOT NULL REFERENCES kb_upload ON DELETE CASCADE,
            chunk_id text NOT NULL,
            text text NOT NULL,
            context text NOT NULL,
            metadata text NOT NULL,
            words text[] NOT NULL,
            terms int4[] NOT NULL,
            lex sparsevec(1000000000) NOT NULL,
            PRIMARY KEY (file_id, position)
        );
        CREATE INDEX kb_piece_by_upload ON kb_piece (upload_id);

        CREATE TABLE kb_piece_vector (
            file_id bigint NOT NULL,
            position integer NOT NULL,
            embedding halfvec(384) NOT NULL,
            PRIMARY KEY (file_id, position),
            FOREIGN KEY (file_id, position) REFERENCES kb_piece ON DELETE CASCADE
        );

        CREATE SEQUENCE chunk_seq;
        CREATE TABLE chunk (
            kb_id integer NOT NULL,
            seq bigint NOT NULL,
            chunk_id text NOT NULL,
            file_id bigint NOT NULL,
            position integer NOT NULL,
            text text NOT NULL,
            context text NOT NULL,
            metadata text,
            created_at timestamptz NOT NULL DEFAULT now(),
            PRIMARY KEY (kb_id, seq)
        ) PARTITION BY HASH (kb_id);
        CREATE INDEX chunk_by_file ON chunk (kb_id, file_id, position);
        CREATE INDEX chunk_by_id ON chunk (chunk_id);

        -- terms: hashes of (base, word), so a posting list belongs to one base. lex: the same as a sparse
        -- vector of ones, for ranking by weight. model: who made the embedding.
        CREATE TABLE chunk_index (
            kb_id integer NOT NULL,
            seq bigint NOT NULL,
            model smallint NOT NULL,
            terms int4[] NOT NULL,
            lex sparsevec(1000000000) NOT NULL,
            embedding halfvec(384) NOT NULL,
            PRIMARY KEY (kb_id, seq)
        ) PARTITION BY HASH (kb_id);

        -- The vocabulary of each base; df counts the chunks that hold the term.
        CREATE TABLE kb_term (
            kb_id integer NOT NULL,
            term text COLLATE "C" NOT NULL,
            df integer NOT NULL,
            PRIMARY KEY (kb_id, term)
        ) PARTITION BY HASH (kb_id);

        -- Memory nodes of deleted bases that are still to be deleted.
        CREATE TABLE memory_task (
            kb_id integer PRIMARY KEY,
            attempts integer NOT NULL DEFAULT 0,
            due_at timestamptz NOT NULL DEFAULT now(),
            last_error text,
            created_at timestamptz NOT NULL DEFAULT now()
        );
        CREATE INDEX memory_task_due ON memory_task (due_at);
        """
    )
    for number in range(PARTITIONS):
        bounds = f"FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {number})"
        op.execute(
            f"""
            CREATE TABLE chunk_p{number} PARTITION OF chunk {bounds};
            CREATE TABLE chunk_index_p{number} PARTITION OF chunk_index {bounds};
            ALTER TABLE chunk_index_p{number} ALTER lex SET STORAGE PLAIN, ALTER embedding SET STORAGE PLAIN;
            CREATE TABLE kb_term_p{number} PARTITION OF kb_term {bounds} WITH (fillfactor = 80);
            CREATE INDEX chunk_index_p{number}_terms ON chunk_index_p{number} USING gin (terms)
                WITH (fastupdate = off);
            CREATE INDEX kb_term_p{number}_similar ON kb_term_p{number} USING gin (term gin_trgm_ops)
                WITH (fastupdate = off);
            """
        )
