"""Agents that users set up, and who may use them."""

from alembic import op

from adapters.outbound.storage.migrations.locks import make_index

revision = "0061_agents"
down_revision = "0060_routes"


def upgrade() -> None:
    op.execute(
        """
        CREATE TABLE agent (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            slug text NOT NULL UNIQUE,
            name text NOT NULL,
            owner text NOT NULL,
            definition bytea NOT NULL,
            trusted boolean NOT NULL DEFAULT false,
            created_at timestamptz NOT NULL DEFAULT now(),
            updated_at timestamptz NOT NULL DEFAULT now()
        );
        CREATE INDEX agent_by_owner ON agent (owner);
        CREATE TABLE agent_permission (
            user_id text NOT NULL,
            agent_id bigint NOT NULL REFERENCES agent ON DELETE CASCADE,
            level smallint NOT NULL,
            PRIMARY KEY (user_id, agent_id)
        );
        CREATE INDEX agent_permission_by_agent ON agent_permission (agent_id);
        """
    )
    make_index("channel_instance_by_resource", "channel_instance (resource_id text_pattern_ops)")
    make_index(
        "channel_instance_routed",
        "channel_instance (id) WHERE routes IS NOT NULL OR fallback IS NOT NULL",
    )
