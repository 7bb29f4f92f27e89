"""Indexes that no text from outside can outgrow, and how often the work on a message failed."""

from alembic import op

revision = "0012_bounded_keys"
down_revision = "0011_prompts"


def upgrade() -> None:
    op.execute(
        """
        -- A platform's message id is kept whole, as it is needed to change the message: its hash is indexed.
        DROP INDEX outbox_by_ref;
        CREATE INDEX outbox_by_ref ON outbox (instance_id, hashtextextended(ref, 0)) WHERE ref IS NOT NULL;

        -- So is the name of a tool: tool_key is what codec.key_of makes of it.
        ALTER TABLE tool_approval ADD COLUMN tool_key text, DROP CONSTRAINT tool_approval_pkey;
        UPDATE tool_approval SET tool_key = CASE WHEN length(tool) <= 200 THEN tool
            ELSE 'sha256:' || encode(sha256(convert_to(tool, 'UTF8')), 'hex') END;
        ALTER TABLE tool_approval ADD PRIMARY KEY (instance_id, lane_key, tool_key);

        UPDATE verified_identity SET normal = 'sha256:' || encode(sha256(convert_to(normal, 'UTF8')), 'hex')
            WHERE length(normal) > 200;
        UPDATE access_notice SET external_id = 'sha256:' || encode(sha256(convert_to(external_id, 'UTF8')), 'hex')
            WHERE length(external_id) > 200;

        -- How often the work on the message failed while the database answered; attempts counts dead workers.
        ALTER TABLE inbox ADD COLUMN failures smallint NOT NULL DEFAULT 0;
        """
    )
