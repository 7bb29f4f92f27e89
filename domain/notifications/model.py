"""Notifications, their causes, and the settings of users for them. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from domain.access.sharing import InstanceLevel
from domain.routing.routes import Hours
from domain.time_zones import time_zone

SAME_AGAIN = timedelta(hours=1)
"""Within this time nobody is notified of the same thing again."""
MOST_RECIPIENTS = 1000
"""Of one notification."""


class NotificationKind(StrEnum):
    """The subject of a notification."""

    WANTED = "wanted"
    ASSIGNED = "assigned"
    MENTIONED = "mentioned"
    APPROVAL = "approval"
    UNHEALTHY = "unhealthy"
    HEALTHY = "healthy"
    BUDGET = "budget"


NEEDED: Mapping[NotificationKind, InstanceLevel] = {
    NotificationKind.WANTED: InstanceLevel.ANSWER,
    NotificationKind.ASSIGNED: InstanceLevel.VIEW,
    NotificationKind.MENTIONED: InstanceLevel.VIEW,
    NotificationKind.APPROVAL: InstanceLevel.NONE,
    NotificationKind.UNHEALTHY: InstanceLevel.MANAGE,
    NotificationKind.HEALTHY: InstanceLevel.MANAGE,
    NotificationKind.BUDGET: InstanceLevel.NONE,
}
"""The level on the instance that a user needs to be notified, and to see the notification later. An approver needs
none: they are named by those who manage the instance."""
HEALTH = (NotificationKind.UNHEALTHY, NotificationKind.HEALTHY)
FOR_ALL = (NotificationKind.WANTED, *HEALTH)
"""Kinds that everybody with the needed level is notified of where nobody is named."""


class Way(StrEnum):
    """How a notification reaches a user beside the console, which shows all."""

    MAIL = "mail"
    MESSAGE = "message"


class MailPace(StrEnum):
    """When mails are sent: one for each notification, or one for all of an hour or a day."""

    AT_ONCE = "at_once"
    HOURLY = "hourly"
    DAILY = "daily"


@dataclass(frozen=True, slots=True)
class KindWays:
    """The ways for notifications of one kind."""

    kind: NotificationKind
    ways: tuple[Way, ...]


@dataclass(frozen=True, slots=True)
class NotifyVia:
    """Where messages to a user go: `to` is a session id or an address of the channel of an instance."""

    instance_id: int
    to: str


@dataclass(frozen=True, slots=True)
class NotificationSettings:
    """The settings of a user. Outside of `hours` mails and messages wait; None: there are no such hours."""

    kinds: tuple[KindWays, ...] = ()
    mail: MailPace = MailPace.AT_ONCE
    notify_via: NotifyVia | None = None
    language: str = "en"
    hours: Hours | None = None

    def ways_of(self, kind: NotificationKind) -> Sequence[Way]:
        return next((entry.ways for entry in self.kinds if entry.kind is kind), ())

    def daily_after(self, now: datetime, hour: int) -> datetime:
        """The next time at which it is that hour by the clock of the working hours, else in UTC."""
        zone = time_zone(self.hours.time_zone if self.hours else "UTC")
        local = now.astimezone(zone)
        at = local.replace(hour=hour, minute=0, second=0, microsecond=0)
        return (at if at > local else at + timedelta(days=1)).astimezone(UTC)

    @property
    def all_kinds(self) -> tuple[KindWays, ...]:
        """An entry for each kind, with each way once."""
        return tuple(KindWays(kind, tuple(dict.fromkeys(self.ways_of(kind)))) for kind in NotificationKind)


@dataclass(frozen=True, slots=True)
class Cause:
    """Something that happened, and of which users are to be notified.

    `actor`: the user who did it. `named`: users and teams that it is for, as "user:ID" and "team:ID". `ref`: the
    note, the confirmation or the budget. `assignee`: of the conversation. `is_taken`: a user has the conversation by
    now. `is_gone`: the instance was deleted meanwhile.
    """

    id: int
    kind: NotificationKind
    at: datetime
    instance_id: int | None = None
    session_id: str | None = None
    session_key: str | None = None
    ref: int | None = None
    actor: str | None = None
    named: tuple[str, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict)
    assignee: str | None = None
    is_taken: bool = False
    is_gone: bool = False

    @property
    def object(self) -> str:
        """The subject in one text, by which the same is known again."""
        if self.kind in HEALTH:
            return f"instance:{self.instance_id}"
        if self.kind is NotificationKind.BUDGET:
            return f"budget:{self.ref}:{self.data.get('month')}:{self.data.get('percent')}"
        if self.ref is not None:
            return f"{self.kind}:{self.ref}"
        return f"conversation:{self.instance_id}:{self.session_key}"


@dataclass(frozen=True, slots=True)
class Recipient:
    user_id: str
    email: str
    settings: NotificationSettings


@dataclass(frozen=True, slots=True)
class Planned:
    """A delivery of a new notification to a user, by one way."""

    user_id: str
    way: Way
    due_at: datetime


@dataclass(frozen=True, slots=True)
class Notification:
    """`instance_name`: None where it is about no instance. `message_id`: of the note that mentions the user. `text`:
    one sentence in the language of the user."""

    id: int
    kind: NotificationKind
    created_at: datetime
    instance_id: int | None = None
    instance_name: str | None = None
    session_id: str | None = None
    message_id: str | None = None
    confirmation_id: int | None = None
    budget_id: int | None = None
    actor: str | None = None
    data: Mapping[str, Any] = field(default_factory=dict)
    read_at: datetime | None = None
    text: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class Delivery:
    """A notification on its way. `is_allowed`: the user may still see what it is about."""

    notification: Notification
    attempts: int
    is_allowed: bool


@dataclass(frozen=True, slots=True)
class DueDeliveries:
    """Deliveries to one user by one way that are due together. `is_active`: the user is not suspended."""

    user_id: str
    email: str
    is_active: bool
    way: Way
    settings: NotificationSettings
    deliveries: tuple[Delivery, ...]
