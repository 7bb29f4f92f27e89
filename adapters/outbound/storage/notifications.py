"""Notifications in PostgreSQL: `ports.notifications`."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson
from sqlalchemy import Insert, insert, select, update

from adapters.outbound.storage.arrays import Bigints, Texts
from adapters.outbound.storage.codec import dump
from adapters.outbound.storage.events import LISTENED
from adapters.outbound.storage.failures import retried
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.queue.statements import read_statements
from adapters.outbound.storage.routes import dump_hours, load_hours
from adapters.outbound.storage.tables import app_user, notification_cause
from domain.conversations.model import MessageId, MessageKind
from domain.notifications.model import (
    FOR_ALL,
    MOST_RECIPIENTS,
    NEEDED,
    SAME_AGAIN,
    Cause,
    Delivery,
    DueDeliveries,
    KindWays,
    MailPace,
    Notification,
    NotificationKind,
    NotificationSettings,
    NotifyVia,
    Planned,
    Recipient,
    Way,
)
from ports.notifications import TeamHours

LOCK = 1_985_174_051
"""The advisory lock of whoever stores notifications."""
NEWEST = 2**63 - 1
SQL = read_statements(
    Path(__file__).with_suffix(".sql"),
    listened=LISTENED,
    lock=LOCK,
    levels={kind.value: int(level) for kind, level in NEEDED.items()},
)


def note_one(kind: NotificationKind, **columns: object) -> Insert:
    """Notes a cause; `columns` are those of `notification_cause`. Part of the transaction of what happened."""
    return insert(notification_cause).values(kind=kind.value, **columns)


class PostgresNotifications:
    """`ports.notifications.NotificationStore`, `CauseStore` and `DeliveryStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list(
        self, user_id: str, before: int | None, limit: int, *, unread: bool
    ) -> Sequence[Notification]:
        statement = SQL["list_unread" if unread else "list_notifications"]
        values = {"user": user_id, "before": NEWEST if before is None else before, "count": limit}
        return [_notification(*row) for row in await self._database.fetch(statement, values)]

    async def count_unread(self, user_id: str, most: int) -> int:
        count: int = await self._database.fetch_value(SQL["count_unread"], {"user": user_id, "most": most})
        return count

    async def mark_read(self, user_id: str, ids: Sequence[int], up_to: int, now: datetime) -> None:
        values = {"user": user_id, "ids": Bigints(ids), "up_to": up_to, "now": now}
        await self._database.execute(SQL["mark_read"], values)

    async def settings(self, user_id: str) -> NotificationSettings:
        query = select(app_user.c.notifications).where(app_user.c.id == user_id)
        return load_settings(await self._database.fetch_value(query))

    async def set_settings(self, user_id: str, settings: NotificationSettings) -> None:
        changed = update(app_user).where(app_user.c.id == user_id)
        await self._database.execute(changed.values(notifications=dump_settings(settings)))

    async def causes(self, limit: int) -> Sequence[Cause]:
        causes = [_cause(*row) for row in await self._database.fetch(SQL["causes"], {"count": limit})]
        return sorted(causes, key=lambda cause: (cause.at, cause.kind is NotificationKind.ASSIGNED))

    async def recipients(self, cause: Cause) -> Sequence[Recipient]:
        if cause.is_gone:
            return []
        if cause.kind is NotificationKind.BUDGET:
            about = {"of": cause.data.get("of"), "subject": cause.data.get("subject"), "budget": cause.ref}
            return await self._recipients("budget_recipients", about)
        about = {"instance": cause.instance_id, "actor": cause.actor, "level": int(NEEDED[cause.kind])}
        recipients: Sequence[Recipient] = []
        if names := cause.named or ((cause.assignee,) if cause.assignee else ()):
            recipients = await self._recipients("recipients", {**about, **_split(names), "everybody": False})
        if not recipients and cause.kind is NotificationKind.APPROVAL:  # admins decide in their place
            recipients = await self._recipients("admin_recipients", {})
        if not recipients and cause.kind in FOR_ALL:
            recipients = await self._recipients("recipients", {**about, **_split(()), "everybody": True})
        return recipients

    async def _recipients(self, name: str, about: Mapping[str, Any]) -> Sequence[Recipient]:
        rows = await self._database.fetch(SQL[name], {**about, "most": MOST_RECIPIENTS})
        return [Recipient(user_id, email, load_settings(settings)) for user_id, email, settings in rows]

    @retried
    async def settle(
        self, cause: Cause, recipients: Sequence[Recipient], planned: Sequence[Planned], now: datetime
    ) -> int:
        values = {
            "cause": cause.id,
            "kind": cause.kind.value,
            "object": cause.object,
            "instance": cause.instance_id,
            "session": cause.session_key,
            "ref": cause.ref,
            "actor": cause.actor,
            "data": dump(cause.data) if cause.data else None,
            "now": now,
            "again": SAME_AGAIN,
            "users": Texts(recipient.user_id for recipient in recipients),
            "planned": Texts(plan.user_id for plan in planned),
            "ways": Texts(plan.way.value for plan in planned),
            "dues": [plan.due_at for plan in planned],
        }
        async with self._database.transaction() as connection:
            await connection.execute(SQL["lock_notifications"])
            row = await (await connection.execute(SQL["settle_cause"], values)).fetchone()
        assert row is not None
        return int(row[0])

    async def team_hours(self, cause: Cause) -> Sequence[TeamHours]:
        teams = _split([cause.assignee] if cause.assignee else [])["teams"]
        values = {"instance": cause.instance_id, "team": next(iter(teams), None)}
        rows = await self._database.fetch(SQL["team_hours"], values)
        return [
            TeamHours(team_id, hours, away_text or "")
            for team_id, stored, away_text in rows
            if (hours := load_hours(stored))
        ]

    async def wait_for_team(self, cause: Cause, start: datetime) -> None:
        values = {"instance": cause.instance_id, "session": cause.session_key, "start": start}
        await self._database.execute(SQL["wait_for_team"], values)

    @retried
    async def claim(self, now: datetime, limit: int) -> DueDeliveries | None:
        rows = await self._database.fetch(SQL["claim_deliveries"], {"now": now, "count": limit})
        if not rows:
            return None
        user_id, email, is_active, way, settings = rows[0][:5]
        deliveries = tuple(
            Delivery(_notification(*columns), attempts, is_allowed)
            for _, _, _, _, _, attempts, is_allowed, *columns in rows
        )
        return DueDeliveries(user_id, email, is_active, Way(way), load_settings(settings), deliveries)

    async def end(self, way: Way, ids: Sequence[int]) -> None:
        await self._database.execute(SQL["end_deliveries"], {"way": way.value, "ids": Bigints(ids)})

    async def postpone(self, way: Way, ids: Sequence[int], until: datetime) -> None:
        values = {"way": way.value, "ids": Bigints(ids), "until": until}
        await self._database.execute(SQL["postpone_deliveries"], values)


def _split(names: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """The ids of users, and the ids or names of teams in lower case."""
    pairs = [name.partition(":") for name in names]
    return {
        "users": [id for kind, _, id in pairs if kind == "user"],
        "teams": [id.strip().lower() for kind, _, id in pairs if kind == "team"],
    }


def _session(session_key: str | None, event: str | None) -> str | None:
    return str(orjson.loads(event).get("session", session_key)) if event else session_key


def _cause(
    id: int,
    kind: str,
    at: datetime,
    instance_id: int | None,
    session_key: str | None,
    event: str | None,
    ref: int | None,
    actor: str | None,
    named: Sequence[str] | None,
    data: str | None,
    assignee: str | None,
    is_taken: bool | None,
    is_gone: bool,
    team: str | None,
) -> Cause:
    return Cause(
        id,
        NotificationKind(kind),
        at,
        instance_id,
        _session(session_key, event),
        session_key,
        ref,
        actor,
        tuple(named or ()),
        {**orjson.loads(data or "{}"), **({"team": team} if team else {})},
        assignee,
        bool(is_taken),
        is_gone,
    )


def _notification(
    id: int,
    kind: str,
    created_at: datetime,
    instance_id: int | None,
    instance_name: str | None,
    session_key: str | None,
    event: str | None,
    ref: int | None,
    actor: str | None,
    data: str | None,
    read_at: datetime | None,
) -> Notification:
    return Notification(
        id,
        NotificationKind(kind),
        created_at,
        instance_id,
        instance_name,
        _session(session_key, event),
        str(MessageId(MessageKind.NOTE, ref)) if ref and kind == NotificationKind.MENTIONED else None,
        ref if kind == NotificationKind.APPROVAL else None,
        ref if kind == NotificationKind.BUDGET else None,
        actor,
        orjson.loads(data or "{}"),
        read_at,
    )


def dump_settings(settings: NotificationSettings) -> str:
    via = settings.notify_via
    return dump(
        {
            "kinds": {entry.kind.value: [way.value for way in entry.ways] for entry in settings.kinds},
            "mail": settings.mail.value,
            "via": [via.instance_id, via.to] if via else None,
            "language": settings.language,
            "hours": dump_hours(settings.hours),
        }
    )


def load_settings(stored: str | None) -> NotificationSettings:
    """What a newer version has added is left out."""
    if not stored:
        return NotificationSettings()
    values = orjson.loads(stored)
    kinds = tuple(
        KindWays(NotificationKind(kind), tuple(Way(way) for way in ways if way in tuple(Way)))
        for kind, ways in values["kinds"].items()
        if kind in tuple(NotificationKind)
    )
    via = values["via"]
    return NotificationSettings(
        kinds,
        MailPace(values["mail"]),
        NotifyVia(*via) if via else None,
        values["language"],
        load_hours(values["hours"]),
    )
