"""Agents of users in PostgreSQL. How they are reached, secrets included, is encrypted."""

import json
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import psycopg
from sqlalchemy import Select, and_, delete, false, func, insert, literal, or_, select, update
from sqlalchemy.dialects.postgresql import aggregate_order_by

from adapters.outbound.storage.codec import storable
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.permissions import PermissionTables
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.routes import load_routes
from adapters.outbound.storage.schema import columns_of
from adapters.outbound.storage.tables import (
    agent,
    agent_access,
    agent_permission,
    agent_team_permission,
    channel_instance,
)
from adapters.outbound.system.encryption import ConfigCipher, DecryptionError
from domain.access.sharing import Grantee, Level, Permission
from domain.agents.model import Agent, AgentDefinition, AgentTool, Prices, slug_of
from domain.confirmations.policy import ApprovalRule
from domain.refusals import Conflict
from domain.routing.resource import parse_resource

log = logging.getLogger(__name__)

UNDECRYPTED = "its settings cannot be decrypted: CONFIG_ENCRYPTION_KEY lacks the key; enter them again"

access = agent_access.c
PERMISSIONS = PermissionTables(agent_permission, agent_team_permission, "agent_id")
AGENT = columns_of(agent, "id slug name owner definition created_at updated_at trusted")


class PostgresAgents:
    """`ports.agents.AgentStore`. Calls `changed` after each commit."""

    def __init__(self, database: Database, cipher: ConfigCipher, changed: Callable[[], None]) -> None:
        self._database = database
        self._cipher = cipher
        self._changed = changed

    @retried
    async def add(
        self,
        owner: str,
        slug: str,
        name: str,
        definition: AgentDefinition,
        readers: Collection[str],
        most: int,
    ) -> Agent | None:
        owned = select(agent.c.id).where(agent.c.owner == owner).limit(most)
        added = insert(agent).values(
            slug=slug, name=storable(name), owner=owner, definition=self._encrypted(definition)
        )
        levels = {owner: Level.DELETE} | {reader: Level.READ for reader in readers if reader != owner}
        async with self._database.transaction() as connection:
            if len(await (await connection.run(owned)).fetchall()) >= most:
                return None
            try:
                row = await (await connection.run(added.returning(*AGENT))).fetchone()
            except psycopg.errors.UniqueViolation:
                raise _taken(slug) from None
            assert row is not None
            for user_id, level in levels.items():
                granted = insert(agent_permission).values(user_id=user_id, agent_id=row[0], level=int(level))
                await connection.run(granted)
        self._changed()
        return self._agent((*row, Level.DELETE))

    async def find(self, agent_id: int, user_id: str) -> Agent | None:
        return await self._one(_with_level(user_id).where(agent.c.id == agent_id))

    async def of_slug(self, slug: str, user_id: str) -> Agent | None:
        return await self._one(_with_level(user_id).where(agent.c.slug == slug))

    async def of_user(self, user_id: str, after: int, limit: int) -> Sequence[Agent]:
        readable = _with_level(user_id).where(access.level >= Level.READ, agent.c.id > after)
        return await self._many(readable.order_by(agent.c.id).limit(limit))

    async def all(self, after: int, limit: int) -> Sequence[Agent]:
        everybody = select(*AGENT, literal(int(Level.DELETE))).where(agent.c.id > after)
        return await self._many(everybody.order_by(agent.c.id).limit(limit))

    async def running(self) -> Sequence[tuple[Agent, Mapping[str, Level]]]:
        by_user = aggregate_order_by(access.user_id, access.user_id)
        levels = aggregate_order_by(access.level, access.user_id)
        joined = agent.join(agent_access, access.agent_id == agent.c.id)
        statement = select(*AGENT, func.array_agg(by_user), func.array_agg(levels)).select_from(joined)
        rows = await self._database.fetch(statement.group_by(agent.c.id).order_by(agent.c.id))
        return [
            (self._agent((*row, Level.NONE)), dict(zip(users, map(Level, numbers), strict=True)))
            for *row, users, numbers in rows
        ]

    @retried
    async def change(
        self, before: Agent, name: str, slug: str, definition: AgentDefinition, *, ends_trust: bool
    ) -> bool:
        changed = update(agent).where(agent.c.id == before.id, agent.c.updated_at == before.updated_at)
        values = {"name": storable(name), "slug": slug, "definition": self._encrypted(definition)}
        trusted = false() if ends_trust else agent.c.trusted
        try:
            stored = changed.values(**values, trusted=trusted, updated_at=func.now())
            is_stored = await self._database.execute(stored) == 1
        except psycopg.errors.UniqueViolation:
            raise _taken(slug) from None
        self._changed()
        return is_stored

    async def set_trusted(self, agent_id: int, *, trusted: bool) -> None:
        changed = update(agent).where(agent.c.id == agent_id)
        await self._database.execute(changed.values(trusted=trusted, updated_at=func.now()))
        self._changed()

    async def remove(self, agent_id: int) -> None:
        await self._database.execute(delete(agent).where(agent.c.id == agent_id))
        self._changed()

    async def bound(self, slug: str) -> Sequence[tuple[int, str]]:
        """Indexes `channel_instance_by_resource` and `channel_instance_routed`. An id may be written bare, and with
        the index of an expert."""
        columns = channel_instance.c
        prefix = f"agent::{slug}"
        named = or_(
            columns.resource_id.in_((slug, prefix)),
            columns.resource_id.startswith(f"{prefix}_", autoescape=True),
            columns.routes.is_not(None),
            columns.fallback.is_not(None),
        )
        statement = select(columns.id, columns.user_id, columns.resource_id, columns.routes, columns.fallback)
        bound = []
        for instance_id, user_id, resource_id, routes, fallback in await self._database.fetch(
            statement.where(named).order_by(columns.id)
        ):
            ids = [
                resource_id,
                *(route.to for route in load_routes(routes or "[]")),
                *json.loads(fallback or "[]"),
            ]
            if any(resource and slug_of(parse_resource(resource)) == slug for resource in ids):
                bound.append((instance_id, user_id))
        return bound

    async def permissions(self, agent_id: int) -> Sequence[Permission]:
        return await PERMISSIONS.of(self._database, agent_id)

    async def grant(self, agent_id: int, grantee: Grantee, level: Level) -> bool:
        granted = await PERMISSIONS.grant(self._database, agent_id, grantee, level)
        self._changed()
        return granted

    async def _one(self, statement: Select[Any]) -> Agent | None:
        agents = await self._many(statement)
        return agents[0] if agents else None

    async def _many(self, statement: Select[Any]) -> list[Agent]:
        return [self._agent(row) for row in await self._database.fetch(statement)]

    def _encrypted(self, definition: AgentDefinition) -> bytes:
        document = {
            "kind": definition.kind,
            "settings": definition.settings,
            "knowledge": definition.knowledge,
            "tools": [_tool_document(tool) for tool in definition.tools],
            "mcpServers": [_tool_document(server) for server in definition.mcp_servers],
            "secret": definition.secret,
            "prices": definition.prices and asdict(definition.prices),
            "approvalPolicy": [asdict(approval) for approval in definition.approval_policy],
        }
        return self._cipher.encrypt(json.dumps(document))

    def _agent(self, row: Sequence[Any]) -> Agent:
        """One row that cannot be decrypted must not stand in the way of the others."""
        agent_id, slug, name, owner, stored, created_at, updated_at, trusted, level = row
        definition, fault = AgentDefinition(), ""
        try:
            document = json.loads(self._cipher.decrypt(stored))
            definition = AgentDefinition(
                document["kind"],
                document["settings"],
                tuple(document["knowledge"]),
                tuple(AgentTool(**tool) for tool in document["tools"]),
                tuple(AgentTool(**server) for server in document["mcpServers"]),
                document["secret"],
                Prices(**document["prices"]) if document["prices"] else None,
                tuple(ApprovalRule(**approval) for approval in document["approvalPolicy"]),
            )
        except DecryptionError as error:
            log.error("the settings of an agent cannot be decrypted: %s", error, extra={"agent": agent_id})
            fault = UNDECRYPTED
        shown = Level(level or Level.NONE)
        return Agent(agent_id, slug, name, owner, definition, created_at, updated_at, trusted, shown, fault)


def _tool_document(tool: AgentTool) -> dict[str, object]:
    return {"settings": tool.settings, "secret": tool.secret, "headers": tool.headers}


def _with_level(user_id: str) -> Select[Any]:
    of_user = and_(access.agent_id == agent.c.id, access.user_id == user_id)
    return select(*AGENT, access.level).select_from(agent.outerjoin(agent_access, of_user))


def _taken(slug: str) -> Conflict:
    return Conflict(f"resourceId: agent::{slug} is taken; choose another id")
