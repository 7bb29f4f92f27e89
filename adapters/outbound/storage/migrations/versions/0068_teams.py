"""Users, teams, permissions on instances and of teams, scopes of keys, and the audit log."""

from alembic import op

revision = "0068_teams"
down_revision = "0067_changes"


def upgrade() -> None:
    op.execute(
        """
        CREATE TABLE app_user (
            id text PRIMARY KEY,
            name text NOT NULL DEFAULT '',
            email text NOT NULL DEFAULT '',
            role text NOT NULL CHECK (role IN ('responder', 'member', 'admin')),
            state text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'suspended')),
            created_at timestamptz NOT NULL DEFAULT now(),
            last_seen_at timestamptz
        );
        CREATE UNIQUE INDEX app_user_email ON app_user (email) WHERE email <> '';

        CREATE TABLE team (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            name text NOT NULL UNIQUE,
            created_at timestamptz NOT NULL DEFAULT now()
        );
        CREATE TABLE team_member (
            team_id bigint NOT NULL REFERENCES team ON DELETE CASCADE,
            user_id text NOT NULL REFERENCES app_user ON DELETE CASCADE,
            lead boolean NOT NULL DEFAULT false,
            PRIMARY KEY (team_id, user_id)
        );
        CREATE INDEX team_member_by_user ON team_member (user_id, team_id);

        CREATE TABLE instance_permission (
            user_id text NOT NULL,
            instance_id bigint NOT NULL REFERENCES channel_instance ON DELETE CASCADE,
            level smallint NOT NULL,
            PRIMARY KEY (user_id, instance_id)
        );
        CREATE INDEX instance_permission_by_instance ON instance_permission (instance_id);
        CREATE TABLE instance_team_permission (
            team_id bigint NOT NULL REFERENCES team ON DELETE CASCADE,
            instance_id bigint NOT NULL REFERENCES channel_instance ON DELETE CASCADE,
            level smallint NOT NULL,
            PRIMARY KEY (team_id, instance_id)
        );
        CREATE INDEX instance_team_permission_by_instance ON instance_team_permission (instance_id);
        CREATE TABLE kb_team_permission (
            team_id bigint NOT NULL REFERENCES team ON DELETE CASCADE,
            kb_id integer NOT NULL REFERENCES knowledge_base ON DELETE CASCADE,
            level smallint NOT NULL,
            PRIMARY KEY (team_id, kb_id)
        );
        CREATE INDEX kb_team_permission_by_base ON kb_team_permission (kb_id);
        CREATE TABLE agent_team_permission (
            team_id bigint NOT NULL REFERENCES team ON DELETE CASCADE,
            agent_id bigint NOT NULL REFERENCES agent ON DELETE CASCADE,
            level smallint NOT NULL,
            PRIMARY KEY (team_id, agent_id)
        );
        CREATE INDEX agent_team_permission_by_agent ON agent_team_permission (agent_id);

        -- What each user may do with each object, by own permission or by that of a team.
        CREATE VIEW instance_access AS
            SELECT user_id, instance_id, level FROM instance_permission
            UNION ALL SELECT m.user_id, p.instance_id, p.level
            FROM instance_team_permission p JOIN team_member m ON m.team_id = p.team_id;
        CREATE VIEW kb_access AS
            SELECT user_id, kb_id, max(level) AS level FROM (
                SELECT user_id, kb_id, level FROM kb_permission
                UNION ALL SELECT m.user_id, p.kb_id, p.level
                FROM kb_team_permission p JOIN team_member m ON m.team_id = p.team_id
            ) a GROUP BY user_id, kb_id;
        CREATE VIEW agent_access AS
            SELECT user_id, agent_id, max(level) AS level FROM (
                SELECT user_id, agent_id, level FROM agent_permission
                UNION ALL SELECT m.user_id, p.agent_id, p.level
                FROM agent_team_permission p JOIN team_member m ON m.team_id = p.team_id
            ) a GROUP BY user_id, agent_id;

        -- `user` is the former name of `member`: processes of the former version go on writing it.
        ALTER TABLE api_key ADD COLUMN scopes text[], ADD COLUMN created_by text, ADD COLUMN address text,
            DROP CONSTRAINT api_key_role_check,
            ADD CONSTRAINT api_key_role_check CHECK (role IN ('user', 'responder', 'member', 'admin'));

        -- Whoever has a key, or owns something, is a user from now on.
        INSERT INTO app_user (id, role)
        SELECT user_id, CASE WHEN bool_or(is_admin) THEN 'admin' ELSE 'member' END FROM (
            SELECT user_id, role = 'admin' AND revoked_at IS NULL AS is_admin FROM api_key
            UNION ALL SELECT user_id, false FROM channel_instance
            UNION ALL SELECT owner, false FROM agent
            UNION ALL SELECT created_by, false FROM knowledge_base
            UNION ALL SELECT user_id, false FROM kb_permission
            UNION ALL SELECT user_id, false FROM agent_permission
            UNION ALL SELECT user_id, false FROM verified_identity
        ) known GROUP BY user_id;

        CREATE TABLE audit_entry (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            at timestamptz NOT NULL,
            user_id text NOT NULL,
            key_id bigint,
            session_id bigint,
            address text NOT NULL,
            action text NOT NULL,
            object text NOT NULL,
            result text NOT NULL,
            data text NOT NULL,
            request_id text NOT NULL,
            previous bytea NOT NULL,
            hash bytea NOT NULL
        );
        CREATE INDEX audit_entry_by_user ON audit_entry (user_id, id);
        CREATE INDEX audit_entry_by_action ON audit_entry (action, id);
        CREATE INDEX audit_entry_by_object ON audit_entry (object, id);
        CREATE INDEX audit_entry_by_age ON audit_entry (at);
        """
    )
