"""Notifications of users: what caused them, what is listed, and what is on its way."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from domain.notifications.model import (
    Cause,
    DueDeliveries,
    Notification,
    NotificationSettings,
    Planned,
    Recipient,
    Way,
)
from domain.routing.routes import Hours


@dataclass(frozen=True, slots=True)
class TeamHours:
    """The hours of a team, and the text that senders get outside of them; empty: none."""

    team_id: int
    hours: Hours
    away_text: str


class NotificationStore(Protocol):
    """What users see and set. Lists and counts leave out what a user may not see any more."""

    async def list(
        self, user_id: str, before: int | None, limit: int, *, unread: bool
    ) -> Sequence[Notification]:
        """The latest first; with ids under `before` where it is given."""

    async def count_unread(self, user_id: str, most: int) -> int: ...

    async def mark_read(self, user_id: str, ids: Sequence[int], up_to: int, now: datetime) -> None:
        """Those with these ids, and all up to the id `up_to`."""

    async def settings(self, user_id: str) -> NotificationSettings: ...

    async def set_settings(self, user_id: str, settings: NotificationSettings) -> None: ...


class CauseStore(Protocol):
    """What happened, until users are notified of it."""

    async def causes(self, limit: int) -> Sequence[Cause]:
        """The oldest first; of the same change the call for people before what it was assigned to."""

    async def recipients(self, cause: Cause) -> Sequence[Recipient]:
        """Active users who are to be notified, without the one who caused it."""

    async def settle(
        self, cause: Cause, recipients: Sequence[Recipient], planned: Sequence[Planned], now: datetime
    ) -> int:
        """Removes the cause and stores its notifications, once; how many. None for those who were notified of the
        same within the last hour."""

    async def team_hours(self, cause: Cause) -> Sequence[TeamHours]:
        """Those that count for the conversation."""

    async def wait_for_team(self, cause: Cause, start: datetime) -> None:
        """Keeps a conversation that no user has from its resource until people are there."""


class DeliveryStore(Protocol):
    """Mails and messages that are to be sent."""

    async def claim(self, now: datetime, limit: int) -> DueDeliveries | None:
        """Takes what is due to one user by one way; it is due again some minutes later, unless it is ended."""

    async def end(self, way: Way, ids: Sequence[int]) -> None: ...

    async def postpone(self, way: Way, ids: Sequence[int], until: datetime) -> None: ...
