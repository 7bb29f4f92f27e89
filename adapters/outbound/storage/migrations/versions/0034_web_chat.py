"""What visitors of web pages see."""

from alembic import op

revision = "0034_web_chat"
down_revision = "0033_figures"


def upgrade() -> None:
    op.execute(
        """
        -- A conversation of the web chat. Whatever is stored of it gets its next version while its row is locked, so
        -- that a reader that has seen a version has seen all before it. since: the first version; versions are never
        -- used again. typing_until: an answer is shown as being written.
        CREATE SEQUENCE web_chat_version;
        CREATE TABLE web_chat (
            id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
            instance_id bigint NOT NULL REFERENCES channel_instance ON DELETE CASCADE,
            session_key text NOT NULL,
            since bigint NOT NULL,
            version bigint NOT NULL,
            touched_at timestamptz NOT NULL,
            typing_until timestamptz,
            CONSTRAINT web_chat_session UNIQUE (instance_id, session_key)
        ) WITH (fillfactor = 80);
        CREATE INDEX web_chat_by_age ON web_chat (touched_at);

        -- A message as the visitor sees it. place: its first version, the order in which messages are shown. body
        -- null: it was removed.
        CREATE TABLE web_chat_message (
            web_chat_id bigint NOT NULL REFERENCES web_chat ON DELETE CASCADE,
            message_key text NOT NULL,
            place bigint NOT NULL,
            version bigint NOT NULL,
            at timestamptz NOT NULL,
            draft boolean NOT NULL,
            body text,
            PRIMARY KEY (web_chat_id, message_key)
        );
        CREATE INDEX web_chat_message_changed ON web_chat_message (web_chat_id, version);
        CREATE INDEX web_chat_message_shown ON web_chat_message (web_chat_id, place) WHERE body IS NOT NULL;
        """
    )
