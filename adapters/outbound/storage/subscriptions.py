"""Subscriptions in PostgreSQL, as instances with a status of their own, and their pushes in the outbox."""

import json
import re
import uuid
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import orjson
from sqlalchemy import ColumnElement, Select, bindparam, delete, func, insert, select, update

from adapters.outbound.storage.arrays import Bigints, Texts
from adapters.outbound.storage.codec import dump, key_of
from adapters.outbound.storage.events import log_one
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.pool import Connection, Database
from adapters.outbound.storage.queue.statements import SQL as QUEUE_SQL
from adapters.outbound.storage.queue.statements import MessageStatus, read_statements
from adapters.outbound.storage.schema import columns_of
from adapters.outbound.storage.tables import app_user, channel_instance, event_position, outbox, queue
from adapters.outbound.system.encryption import ConfigCipher, DecryptionError
from domain.access.model import Role, UserState
from domain.events import EventKind, LoggedEvent
from domain.paging import Page
from domain.subscriptions.model import CHANNEL_ID, SUBSCRIPTION, Push, Subscription, SubscriptionFields
from domain.subscriptions.planning import MOST_WAITING, PushPlan, PushState

READER = "subscriptions"
FAILING_DAYS = 5
SQL = read_statements(
    Path(__file__).with_suffix(".sql"), most_waiting=MOST_WAITING, failing_days=FAILING_DAYS
)

LOCKED_SUBSCRIBERS = 0x5B_5B5C

columns = channel_instance.c
ROW = columns_of(channel_instance, "id user_id config created_at updated_at")
_OWNERS = channel_instance.outerjoin(app_user, app_user.c.id == columns.user_id)
_ALL = (
    select(*ROW, app_user.c.role, app_user.c.state)
    .select_from(_OWNERS)
    .where(columns.status == SUBSCRIPTION)
    .order_by(columns.id)
)
_VERSIONS = _ALL.with_only_columns(
    columns.id, columns.user_id, columns.updated_at, app_user.c.role, app_user.c.state
)
SUSPENDED = "its user is suspended"


LOCKED_PLAN = 0x5B_5B5D


FIRST = 2**63 - 1


class PostgresSubscriptions:
    """`ports.subscriptions.SubscriptionStore`. Calls `changed` with the id of each that was changed, after
    the commit, and `enqueued` when there are new pushes."""

    def __init__(
        self,
        database: Database,
        cipher: ConfigCipher,
        changed: Callable[[int], None],
        enqueued: Callable[[], None],
    ) -> None:
        self._database = database
        self._cipher = cipher
        self._changed = changed
        self._enqueued = enqueued
        self._latest: Sequence[Subscription] = ()
        self._versions: Sequence[tuple[Any, ...]] = ()

    async def find(self, subscription_id: int) -> Subscription | None:
        rows = await self._subscriptions(_ALL.where(columns.id == subscription_id))
        return rows[0] if rows else None

    async def of_user(self, user_id: str | None, after: int, limit: int) -> Sequence[Subscription]:
        following = _ALL.where(columns.id > after).limit(limit)
        if user_id is not None:
            following = following.where(columns.user_id == user_id)
        return await self._subscriptions(following)

    async def active(self) -> Sequence[Subscription]:
        versions = await self._database.fetch(_VERSIONS)
        if versions != self._versions:
            self._latest = await self._subscriptions(_ALL)
            self._versions = versions
        return [subscription for subscription in self._latest if not subscription.off]

    @retried
    async def add(
        self, user_id: str, fields: SubscriptionFields, since: int, most: int, *, all_users: bool
    ) -> Subscription | None:
        config = {**_given(fields), "since": since, "allUsers": all_users}
        added = insert(channel_instance).values(
            user_id=user_id,
            channel_id=CHANNEL_ID,
            channel_name=str(uuid.uuid4()),
            config=self._cipher.encrypt(json.dumps(config)),
            status=SUBSCRIPTION,
        )
        async with self._database.transaction() as connection:
            [(_, count)] = await (
                await connection.execute(SQL["count_subscriptions"], (LOCKED_SUBSCRIBERS, user_id, user_id))
            ).fetchall()
            if count >= most:
                return None
            row = await (await connection.run(added.returning(*ROW))).fetchone()
        assert row is not None
        self._changed(row[0])
        return self._subscription(*(*row, Role.ADMIN, UserState.ACTIVE))

    async def change(self, subscription_id: int, fields: SubscriptionFields, since: int) -> None:
        def changed(config: dict[str, Any]) -> dict[str, Any]:
            resumed = {"since": since, "off": ""} if config.get("off") else {}
            return {**config, **_given(fields), **resumed}

        await self._update(subscription_id, changed)

    async def switch_off(self, subscription_id: int, reason: str) -> None:
        await self._update(subscription_id, lambda config: {**config, "off": reason}, off=reason)

    @retried
    async def _update(
        self, subscription_id: int, change: Callable[[dict[str, Any]], dict[str, Any]], off: str = ""
    ) -> None:
        here = (columns.id == subscription_id, columns.status == SUBSCRIPTION)
        stored = select(columns.config, columns.user_id).where(*here).with_for_update()
        async with self._database.transaction() as connection:
            row = await (await connection.run(stored)).fetchone()
            if row is None:
                return
            config = change(json.loads(self._cipher.decrypt(row[0])))
            encrypted = self._cipher.encrypt(json.dumps(config))
            await connection.run(
                update(channel_instance).where(*here).values(config=encrypted, updated_at=func.now())
            )
            if off:
                data = dump({"subscriptionId": subscription_id, "healthy": False, "reason": off})
                await connection.run(log_one(EventKind.INSTANCE_HEALTH, user_id=row[1], data=data))
        self._changed(subscription_id)

    @retried
    async def remove(self, subscription_id: int) -> None:
        async with self._database.transaction() as connection:
            await remove_subscriptions(connection, columns.id == subscription_id)
        self._changed(subscription_id)

    async def position(self) -> int:
        stored = select(event_position.c.position).where(event_position.c.reader == bindparam("reader"))
        return int(await self._database.fetch_value(stored, {"reader": READER}) or 0)

    def session_key(self, event: LoggedEvent) -> str:
        """Events of one conversation, and those of one instance beside them, are pushed in order."""
        return key_of(f"{event.instance_id or ''}:{event.session_id or ''}")

    async def behind(self) -> PushState:
        return _state(*await self._database.fetch_one(SQL["push_state"], {"all": False}) or (0, None, None))

    @retried
    async def plan(self, decide: Callable[[PushState], PushPlan | None]) -> bool:
        async with self._database.transaction() as connection:
            await connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCKED_PLAN,))
            row = await (await connection.execute(SQL["push_state"], {"all": True})).fetchone()
            state = _state(*row or (0, None, None))
            plan = decide(state)
            if plan is None:
                return False
            moved = await (
                await connection.execute(QUEUE_SQL["enqueue_pushes"], _enqueued_columns(state, plan))
            ).fetchone()
            if not (moved and moved[0]):
                return False
            if plan.cursors != state.cursors:
                places = list(plan.cursors)
                cursors = {
                    "instances": Bigints(subscription_id for subscription_id, _ in places),
                    "sessions": Texts(session_key for _, session_key in places),
                    "positions": Bigints(plan.cursors.values()),
                }
                await connection.execute(SQL["keep_cursors"], cursors)
        if plan.pushes:
            self._enqueued()
        return True

    async def pushes(
        self, subscription_id: int, status: str | None, before: int, limit: int
    ) -> Page[Push, int]:
        statuses = [MessageStatus[status.upper()]] if status else list(MessageStatus)
        parameters = {
            "subscription": subscription_id,
            "statuses": [int(code) for code in statuses],
            "before": before or FIRST,
            "limit": limit + 1,
        }
        rows = await self._database.fetch(SQL["list_pushes"], parameters)
        pushes = [_push(*row) for row in rows[:limit]]
        return Page(pushes, pushes[-1].id if len(rows) > limit else None)

    async def failing(self) -> Sequence[int]:
        return await self._database.fetch_column(SQL["failing_subscriptions"])

    async def _subscriptions(self, statement: Select[Any]) -> list[Subscription]:
        return [self._subscription(*row) for row in await self._database.fetch(statement)]

    def _subscription(
        self,
        id: int,
        user_id: str,
        stored: bytes,
        created_at: datetime,
        updated_at: datetime,
        role: str | None,
        state: str | None,
    ) -> Subscription:
        """One whose secret cannot be decrypted is off, and says so; and one of a suspended user. One for the events
        of all users is that for as long as its user is an admin. `role`, `state`: of its user."""
        try:
            config = json.loads(self._cipher.decrypt(stored))
        except (DecryptionError, ValueError):
            config = {"off": "the stored configuration cannot be decrypted; delete it and subscribe again"}
        return Subscription(
            id,
            user_id,
            config.get("url", ""),
            tuple(config.get("kinds", ())),
            tuple(config.get("instanceIds", ())),
            created_at,
            updated_at,
            config.get("allUsers", False) and role == Role.ADMIN,
            config.get("since", 0),
            config.get("off", "") or (SUSPENDED if state == UserState.SUSPENDED else ""),
        )


async def remove_subscriptions(connection: Connection, condition: ColumnElement[bool]) -> None:
    """Removes subscriptions with their pushes."""
    here = (condition, columns.status == SUBSCRIPTION)
    removed = await connection.run(delete(channel_instance).where(*here).returning(columns.id))
    ids = [row[0] for row in await removed.fetchall()]
    if ids:
        for table in (outbox, queue):
            await connection.run(delete(table).where(table.c.instance_id.in_(ids)))


def _given(fields: SubscriptionFields) -> dict[str, Any]:
    values = {
        "url": fields.url,
        "kinds": fields.kinds,
        "instanceIds": fields.instance_ids,
        "secret": fields.secret,
    }
    return {name: value for name, value in values.items() if value is not None}


def _state(position: int, cursors: list[Any] | None, waiting: list[Any] | None) -> PushState:
    return PushState(
        int(position),
        {(id, session_key): position for id, session_key, position in cursors or ()},
        {(id, session_key): count for id, session_key, count in waiting or ()},
    )


def _enqueued_columns(state: PushState, plan: PushPlan) -> dict[str, object]:
    """The parameters of `enqueue_pushes`."""
    pushes = plan.pushes
    keys = (str(uuid5(NAMESPACE_URL, f"{push.subscription_id}#{push.event_id}")) for push in pushes)
    return {
        "position": state.position,
        "until": plan.position,
        "instances": Bigints(push.subscription_id for push in pushes),
        "sessions": Texts(push.session_key for push in pushes),
        "messages": Texts(dump({"event": push.event_id}) for push in pushes),
        "targets": Texts(dump({"subscription": push.subscription_id}) for push in pushes),
        "keys": Texts(keys),
    }


def _push(id: int, message: str, status: int, attempts: int, error: str | None, *more: Any) -> Push:
    """With the HTTP status of a push that was taken, or of the last try that failed."""
    created_at, next_attempt_at, kind, reference = more
    answer: int | None = None
    if reference and reference.isdecimal():
        answer = int(reference)
    elif failed := re.match(r"HTTP ([1-5][0-9]{2})\b", error or ""):
        answer = int(failed[1])
    event_id = orjson.loads(message).get("event", 0)
    state = MessageStatus(status).name.lower()
    return Push(id, event_id, state, attempts, error, created_at, next_attempt_at, kind or "", answer)
