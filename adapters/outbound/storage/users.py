"""Users and teams in PostgreSQL."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
from sqlalchemy import Update, and_, delete, func, literal, literal_column, or_, select, update
from sqlalchemy.dialects.postgresql import Insert, aggregate_order_by, insert

from adapters.outbound.storage.codec import storable
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.knowledge.tables import kb_permission, kb_source, knowledge_base
from adapters.outbound.storage.pool import Connection, Database
from adapters.outbound.storage.routes import dump_hours, load_hours
from adapters.outbound.storage.schema import columns_of
from adapters.outbound.storage.subscriptions import remove_subscriptions
from adapters.outbound.storage.tables import (
    agent,
    agent_permission,
    api_key,
    app_user,
    approval_request,
    channel_instance,
    instance_permission,
    invitation,
    notification,
    passkey,
    person,
    privacy_request,
    provider_account,
    queue,
    snippet,
    team,
    team_member,
    verification_code,
    verification_link,
    verification_state,
    verified_identity,
)
from domain.access.model import Role, Team, TeamChange, TeamMember, User, UserState
from domain.refusals import Conflict, Fault, Invalid
from ports.access import UserChange

USER = columns_of(app_user, "id name email role state created_at last_seen_at")
SEEN_AGAIN = timedelta(minutes=5)
"""How exact it is when a user was last seen."""
users = app_user.c
MOST_NAMED = 50
"""Users, or teams, that one text may name."""

OWNED = (
    (channel_instance, "user_id"),
    (agent, "owner"),
    (knowledge_base, "created_by"),
    (kb_source, "user_id"),
    (person, "owner"),
    (privacy_request, "owner"),
)
"""Tables whose rows belong to a user, each with the column that names them."""
HELD = (
    (api_key, "user_id"),
    (instance_permission, "user_id"),
    (kb_permission, "user_id"),
    (agent_permission, "user_id"),
    (notification, "user_id"),
    (snippet, "user_id"),
    (verified_identity, "user_id"),
    (provider_account, "user_id"),
    (invitation, "user_id"),
    (passkey, "user_id"),
    (verification_code, "user_id"),
    (verification_link, "user_id"),
    (verification_state, "user_id"),
    (app_user, "id"),
)
"""Tables whose rows go away with a user."""

END_KEYS = """
WITH RECURSIVE made AS (
    SELECT id FROM api_key WHERE user_id = %(user)s
    UNION SELECT k.id FROM api_key k JOIN made m ON k.parent_id = m.id
)
UPDATE api_key SET revoked_at = %(now)s WHERE revoked_at IS NULL AND id IN (SELECT id FROM made)
"""
"""Ends the keys and sessions of a user, with all that was made with them. Indexes `api_key_by_user` and
`api_key_by_parent`."""


def mark_seen(user_id: str, now: datetime) -> Insert:
    """Makes the user where nobody has that id."""
    appeared = insert(app_user).values(
        id=user_id,
        name="",
        email="",
        role=Role.MEMBER,
        state=UserState.ACTIVE,
        created_at=now,
        last_seen_at=now,
    )
    return appeared.on_conflict_do_update(index_elements=[users.id], set_={"last_seen_at": now})


def raise_role(user_id: str, role: Role, now: datetime) -> Insert:
    """Makes the user where nobody has that id, and gives one with a lower role this one."""
    appeared = insert(app_user).values(
        id=user_id, name="", email="", role=role, state=UserState.ACTIVE, created_at=now
    )
    lower = [other.value for other in Role if other.rank < role.rank]
    return appeared.on_conflict_do_update(
        index_elements=[users.id], set_={"role": role.value}, where=users.role.in_(lower)
    )


class PostgresUsers:
    """`ports.access.UserStore`. Primary key, and index `app_user_email`. `instance_changed` is called with the id of
    each instance that got another owner, `agents_changed` when users are removed, after the commit."""

    def __init__(
        self,
        database: Database,
        instance_changed: Callable[[int], None],
        agents_changed: Callable[[], None],
    ) -> None:
        self._database = database
        self._instance_changed = instance_changed
        self._agents_changed = agents_changed

    async def find(self, user_id: str) -> User | None:
        return _user(await self._database.fetch_one(select(*USER).where(users.id == storable(user_id))))

    async def of_email(self, email: str) -> User | None:
        named = select(*USER).where(users.email == storable(email), users.email != "")
        return _user(await self._database.fetch_one(named))

    async def list(self, query: str, after: str, limit: int) -> Sequence[User]:
        listed = select(*USER).where(users.id > storable(after)).order_by(users.id).limit(limit)
        if query:
            texts = (func.lower(users.id), func.lower(users.name), users.email)
            listed = listed.where(or_(*(text.startswith(storable(query), autoescape=True) for text in texts)))
        rows = await self._database.fetch(listed)
        return [user for row in rows if (user := _user(row))]

    async def add(self, user: User) -> bool:
        added = insert(app_user).values(
            id=user.id,
            name=storable(user.name),
            email=storable(user.email),
            role=user.role,
            state=user.state,
            created_at=user.created_at,
        )
        try:
            return await self._database.execute(added.on_conflict_do_nothing(index_elements=[users.id])) == 1
        except psycopg.errors.UniqueViolation:
            raise _taken_email() from None

    async def named(self, names: Sequence[str]) -> Sequence[User]:
        """All users are looked at: few are named so seldom that an index would not pay."""
        plain = func.lower(func.replace(users.name, " ", ""))
        called = or_(func.lower(users.id).in_(names), plain.in_(names))
        rows = await self._database.fetch(
            select(*USER).where(called, users.state == UserState.ACTIVE).order_by(users.id).limit(MOST_NAMED)
        )
        return [user for row in rows if (user := _user(row))]

    async def appear(self, user_id: str, now: datetime) -> User:
        user = await self.find(user_id)
        if user is None or user.last_seen_at is None or now - user.last_seen_at > SEEN_AGAIN:
            [row] = await self._database.fetch(mark_seen(user_id, now).returning(*USER))
            user = _user(row)
        assert user is not None
        return user

    @retried
    async def change(self, user_id: str, change: UserChange, now: datetime) -> bool:
        fields = {"name": change.name, "email": change.email, "role": change.role, "state": change.state}
        values = {name: storable(text) for name, text in fields.items() if text is not None}
        changed: Update = update(app_user).where(users.id == user_id).values(**values or {"id": user_id})
        try:
            async with self._database.transaction() as connection:
                is_there = (await connection.run(changed)).rowcount == 1
                if change.state is UserState.SUSPENDED:
                    await connection.execute(END_KEYS, {"user": user_id, "now": now})
        except psycopg.errors.UniqueViolation:
            raise _taken_email() from None
        return is_there

    async def active_admins(self) -> int:
        admins = select(users.id).where(users.role == Role.ADMIN, users.state == UserState.ACTIVE)
        return len(await self._database.fetch_column(admins.order_by(users.id).with_for_update()))

    @retried
    async def remove(self, user_id: str, successor: str | None) -> None:
        instances = await self._database.fetch_column(
            select(channel_instance.c.id).where(channel_instance.c.user_id == user_id)
        )
        try:
            async with self._database.transaction() as connection:
                # Their addresses are those of the user: a successor's events are not pushed there.
                await remove_subscriptions(connection, channel_instance.c.user_id == user_id)
                if successor is None:
                    await _check_owns_nothing(connection, user_id)
                else:
                    await _hand_over(connection, user_id, successor)
                heir = None if successor is None else f"user:{successor}"
                await connection.run(_reassigned(f"user:{user_id}", heir))
                if heir is not None:
                    asked = update(approval_request).filter_by(approver=f"user:{user_id}", decision=None)
                    await connection.run(asked.values(approver=heir))
                await connection.execute(END_KEYS, {"user": user_id, "now": datetime.now(UTC)})
                for table, column in HELD:
                    await connection.run(delete(table).where(table.c[column] == user_id))
        except psycopg.errors.UniqueViolation:
            raise Conflict(
                f"{successor} has an instance of the same name on the same channel; rename one of both first"
            ) from None
        for instance_id in instances:
            self._instance_changed(instance_id)
        self._agents_changed()


async def _check_owns_nothing(connection: Connection, user_id: str) -> None:
    for table, column in OWNED:
        owned = select(literal(1)).select_from(table).where(table.c[column] == user_id).limit(1)
        if await (await connection.run(owned)).fetchone():
            raise Conflict(f"{user_id} owns instances, knowledge bases or agents; name a successor for them")


async def _hand_over(connection: Connection, user_id: str, successor: str) -> None:
    """What the user owns, with the permissions of an owner."""
    for table, column in OWNED:
        await connection.run(update(table).where(table.c[column] == user_id).values({column: successor}))
    for table in (kb_permission, agent_permission):
        object_id = "kb_id" if table is kb_permission else "agent_id"
        held = select(literal(successor), table.c[object_id], table.c.level).where(table.c.user_id == user_id)
        kept = insert(table).from_select(["user_id", object_id, "level"], held)
        higher = func.greatest(table.c.level, kept.excluded.level)
        await connection.run(
            kept.on_conflict_do_update(index_elements=["user_id", object_id], set_={"level": higher})
        )


def _taken_email() -> Conflict:
    return Conflict("email: another user has this e-mail address")


def _user(row: tuple[Any, ...] | None) -> User | None:
    if row is None:
        return None
    id, name, email, role, state, created_at, last_seen_at = row
    return User(id, name, email, Role(role), UserState(state), created_at, last_seen_at)


class PostgresTeams:
    """`ports.access.TeamStore`. Primary keys, and index `team_member_by_user`. Calls `changed` after a change of
    members, who may use agents by their teams."""

    def __init__(self, database: Database, changed: Callable[[], None]) -> None:
        self._database = database
        self._changed = changed

    async def find(self, team_id: int) -> Team | None:
        teams = await self._read(team.c.id == team_id, 1)
        return teams[0] if teams else None

    async def named(self, names: Sequence[str]) -> Sequence[Team]:
        """As those of users."""
        plain = func.lower(func.replace(team.c.name, " ", ""))
        return await self._read(or_(func.lower(team.c.name).in_(names), plain.in_(names)), MOST_NAMED)

    async def list(self, user_id: str | None, after: int, limit: int) -> Sequence[Team]:
        listed = team.c.id > after
        if user_id is not None:
            own = select(team_member.c.team_id).where(team_member.c.user_id == user_id)
            listed = and_(listed, team.c.id.in_(own))
        return await self._read(listed, limit)

    async def _read(self, condition: Any, limit: int) -> Sequence[Team]:
        member = team_member.c
        ids, leads = (
            func.array_agg(aggregate_order_by(column, member.user_id)).filter(member.user_id.is_not(None))
            for column in (member.user_id, member.lead)
        )
        read = select(*columns_of(team, "id name created_at hours away_text"), ids, leads)
        read = read.select_from(team.outerjoin(team_member, member.team_id == team.c.id)).where(condition)
        rows = await self._database.fetch(read.group_by(team.c.id).order_by(team.c.id).limit(limit))
        return [
            Team(id, name, members_of(user_ids, leading), created_at, load_hours(hours), away_text or "")
            for id, name, created_at, hours, away_text, user_ids, leading in rows
        ]

    @retried
    async def add(self, name: str, members: Sequence[TeamMember]) -> Team:
        try:
            async with self._database.transaction() as connection:
                added = insert(team).values(name=storable(name), created_at=func.now())
                row = await (await connection.run(added.returning(team.c.id, team.c.created_at))).fetchone()
                assert row is not None
                await _set_members(connection, row[0], members)
        except psycopg.errors.UniqueViolation:
            raise _taken_name() from None
        self._changed()
        return Team(row[0], name, tuple(members), row[1])

    @retried
    async def change(self, team_id: int, change: TeamChange) -> bool:
        texts = {"name": change.name, "away_text": change.away_text, "hours": dump_hours(change.hours)}
        values: dict[str, Any] = {name: storable(text) for name, text in texts.items() if text is not None}
        if change.clear_hours:
            values["hours"] = None
        changed: Update = update(team).where(team.c.id == team_id).values(**values or {"name": team.c.name})
        try:
            async with self._database.transaction() as connection:
                if (await connection.run(changed)).rowcount == 0:
                    return False
                if change.members is not None:
                    await connection.run(delete(team_member).where(team_member.c.team_id == team_id))
                    await _set_members(connection, team_id, change.members)
        except psycopg.errors.UniqueViolation:
            raise _taken_name() from None
        self._changed()
        return True

    @retried
    async def assign(self, user_id: str, places: Mapping[str, bool]) -> Mapping[str, bool]:
        joins, leaves = (
            [name for name, belongs in places.items() if belongs is side] for side in (True, False)
        )
        joined = insert(team_member).from_select(
            ["team_id", "user_id", "lead"],
            select(team.c.id, literal(user_id), literal(False)).where(team.c.name.in_(joins)),
        )
        left = delete(team_member).where(
            team_member.c.user_id == user_id,
            team_member.c.team_id.in_(select(team.c.id).where(team.c.name.in_(leaves))),
        )
        changes: dict[str, bool] = {}
        async with self._database.transaction() as connection:
            for statement, belongs in ((joined.on_conflict_do_nothing(), True), (left, False)):
                cursor = await connection.run(statement.returning(team_member.c.team_id))
                ids = [row[0] for row in await cursor.fetchall()]
                names = await connection.run(select(team.c.name).where(team.c.id.in_(ids)))
                changes |= {row[0]: belongs for row in await names.fetchall()}
        if changes:
            self._changed()
        return changes

    @retried
    async def remove(self, team_id: int) -> bool:
        async with self._database.transaction() as connection:
            removed = (await connection.run(delete(team).where(team.c.id == team_id))).rowcount == 1
            await connection.run(_reassigned(f"team:{team_id}", None))
        self._changed()
        return removed


def members_of(user_ids: Sequence[str] | None, leads: Sequence[bool] | None) -> tuple[TeamMember, ...]:
    return tuple(map(TeamMember, user_ids or (), leads or ()))


def _reassigned(assignee: str, successor: str | None) -> Update:
    """Gives the conversations of an assignee to another one, or to nobody. Index `queue_assigned`."""
    place = literal_column("queue.instance_id + 0") == channel_instance.c.id
    assigned = and_(queue.c.kind == 0, place, queue.c.assignee == assignee)
    return update(queue).where(assigned).values(assignee=successor)


async def _set_members(connection: Connection, team_id: int, members: Sequence[TeamMember]) -> None:
    for member in members:
        row = {"team_id": team_id, "user_id": storable(member.user_id), "lead": member.lead}
        try:
            await connection.run(insert(team_member).values(row))
        except psycopg.errors.ForeignKeyViolation:
            raise Invalid.of([Fault("members", f"names '{member.user_id}', who is no user")]) from None


def _taken_name() -> Conflict:
    return Conflict("name: there is a team of this name already")
