"""Sources of knowledge bases: web pages, sitemaps and folders whose files are kept in step."""

from alembic import op

revision = "0036_sources"
down_revision = "0035_faster_ingest"


def upgrade() -> None:
    op.execute(
        """
        -- A source of a base. key: SHA-256 of what it reads. due_at: when it is read next, or while owner is set,
        -- when that worker's lease ends; null: not again by itself. round counts its passes; trouble: how many
        -- pages in a row could not be reached.
        CREATE TABLE kb_source (
            id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
            kb_id integer NOT NULL REFERENCES knowledge_base ON DELETE CASCADE,
            kind text NOT NULL CHECK (kind IN ('web', 'drive')),
            key bytea NOT NULL,
            address text NOT NULL,
            instance_id bigint REFERENCES channel_instance ON DELETE SET NULL,
            user_id text NOT NULL,
            by_admin boolean NOT NULL DEFAULT false,
            every_minutes double precision,
            state text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'reading', 'idle')),
            round bigint NOT NULL DEFAULT 0,
            trouble integer NOT NULL DEFAULT 0,
            owner bigint,
            due_at timestamptz DEFAULT clock_timestamp(),
            created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
            read_at timestamptz,
            note text,
            error text,
            CONSTRAINT kb_source_key UNIQUE (kb_id, key)
        );
        CREATE INDEX kb_source_due ON kb_source (due_at) WHERE due_at IS NOT NULL;
        CREATE INDEX kb_source_leased ON kb_source (owner) WHERE owner IS NOT NULL;
        CREATE INDEX kb_source_by_instance ON kb_source (instance_id) WHERE instance_id IS NOT NULL;

        -- A page or file of a source. round: the last pass in which it was listed, by listed_by. file_id: the file
        -- that is found today; next_file_id: the version that takes its place once it is ready. version: of what was
        -- read, as lists tell it; etag and last_modified: as the server told it.
        CREATE TABLE kb_source_page (
            id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
            source_id bigint NOT NULL REFERENCES kb_source ON DELETE CASCADE,
            key bytea NOT NULL,
            kind text NOT NULL CHECK (kind IN ('root', 'list', 'page')),
            address text NOT NULL,
            name text NOT NULL DEFAULT '',
            listed_by bigint,
            listed_version text,
            round bigint NOT NULL,
            status text NOT NULL DEFAULT 'waiting' CHECK (
                status IN ('waiting', 'processing', 'read', 'failed', 'skipped', 'gone', 'listed')
            ),
            attempts integer NOT NULL DEFAULT 0,
            version text,
            etag text,
            last_modified text,
            file_id bigint REFERENCES kb_file ON DELETE SET NULL,
            next_file_id bigint REFERENCES kb_file ON DELETE SET NULL,
            read_at timestamptz,
            error text,
            CONSTRAINT kb_source_page_key UNIQUE (source_id, key)
        );
        CREATE INDEX kb_source_page_by_status ON kb_source_page (source_id, status, id);
        CREATE INDEX kb_source_page_by_round ON kb_source_page (source_id, round);
        CREATE INDEX kb_source_page_by_list ON kb_source_page (source_id, listed_by) WHERE listed_by IS NOT NULL;
        CREATE INDEX kb_source_page_by_file ON kb_source_page (file_id) WHERE file_id IS NOT NULL;
        CREATE INDEX kb_source_page_by_next_file ON kb_source_page (next_file_id) WHERE next_file_id IS NOT NULL;

        -- Files that a page had: they are deleted unless another page has them.
        CREATE TABLE kb_unused_file (
            file_id bigint PRIMARY KEY REFERENCES kb_file ON DELETE CASCADE
        );

        -- A web server: no request to it before free_at, in any process. robots: its robots.txt, good until
        -- robots_until; robots_error: why there is none that could be read.
        CREATE TABLE web_host (
            key bytea PRIMARY KEY,
            free_at timestamptz NOT NULL DEFAULT '-infinity',
            robots text,
            robots_until timestamptz,
            robots_error text
        );
        CREATE INDEX web_host_by_age ON web_host (free_at);

        -- source_url: where the file was read. synced: a source feeds it, and deletes it.
        ALTER TABLE kb_file ADD COLUMN source_url text, ADD COLUMN synced boolean NOT NULL DEFAULT false;
        """
    )
