"""Permissions of users and teams on instances, bases and agents in PostgreSQL."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
from sqlalchemy import ColumnElement, Table, delete, literal, null, select, union_all

from adapters.outbound.storage.codec import storable
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.statements import upsert
from adapters.outbound.storage.tables import channel_instance, instance_access
from domain.access.sharing import Grantee, Permission


def visible_to(user_id: str | ColumnElement[str]) -> ColumnElement[bool]:
    """The instances of a user, and those of others that they may at least VIEW. Indexes `channel_instance_by_user`
    and `team_member_by_user`, and primary keys."""
    own = channel_instance.alias().c
    owned = select(own.id).where(own.user_id == user_id)
    shared = select(instance_access.c.instance_id).where(instance_access.c.user_id == user_id)
    return channel_instance.c.id.in_(union_all(owned, shared))


@dataclass(frozen=True, slots=True)
class PermissionTables:
    """The permissions on one kind of object. `object_id`: the column with its id. Both are read by their primary keys
    and by the index of that column."""

    of_users: Table
    of_teams: Table
    object_id: str

    async def of(self, database: Database, object_id: int) -> Sequence[Permission]:
        """Those of users, ordered by their ids, before those of teams."""
        users, teams = self.of_users.c, self.of_teams.c
        of_users = select(users.user_id, literal(0).label("team_id"), users.level)
        of_teams = select(null().label("user_id"), teams.team_id, teams.level)
        both = union_all(
            of_users.where(users[self.object_id] == object_id),
            of_teams.where(teams[self.object_id] == object_id),
        ).subquery()
        rows = await database.fetch(select(both).order_by(both.c.user_id.nulls_last(), both.c.team_id))
        return [Permission(user_id, level, team_id or None) for user_id, team_id, level in rows]

    async def grant(self, database: Database, object_id: int, grantee: Grantee, level: int) -> bool:
        """Sets the level; 0 removes it. False where the team or the object is not there any more."""
        table: Table = self.of_users
        holder: dict[str, Any] = {"user_id": storable(grantee.user_id or "")}
        if grantee.team_id is not None:
            table, holder = self.of_teams, {"team_id": grantee.team_id}
        permission = {**holder, self.object_id: object_id}
        if not level:
            await database.execute(delete(table).filter_by(**permission))
            return True
        try:
            await database.execute(upsert(table, {**permission, "level": level}))
        except psycopg.errors.ForeignKeyViolation:
            return False
        return True
