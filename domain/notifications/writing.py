"""Turns causes into notifications: who is notified, by which ways and when."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from domain.notifications.model import Cause, MailPace, NotificationKind, Planned, Recipient, Way
from domain.notifications.team_hours import TeamAnswer
from domain.refusals import Unavailable
from ports.notifications import CauseStore
from ports.system import Clock

log = logging.getLogger(__name__)

BATCH = 100
"""Causes that are read at once."""
DAILY_AT = 8
"""The hour, by the user's clock, at which the mail of a day is sent."""


@dataclass(eq=False)
class NotificationWriter:
    store: CauseStore
    team_answer: TeamAnswer
    clock: Clock

    async def work(self) -> None:
        """Works off the causes that wait. One that fails stays, and stops no other. Raises `Unavailable`."""
        while True:
            causes = await self.store.causes(BATCH)
            done = [await self._settled(cause) for cause in causes]
            if len(causes) < BATCH or not any(done):
                return

    async def _settled(self, cause: Cause) -> bool:
        try:
            await self._settle(cause)
        except Unavailable:
            raise
        except Exception:
            log.exception("nobody was notified yet: %s", cause.kind, extra={"instance": cause.instance_id})
            return False
        return True

    async def _settle(self, cause: Cause) -> None:
        """A conversation that a user has taken meanwhile wants nobody any more."""
        now = self.clock.now()
        is_over = cause.kind is NotificationKind.WANTED and cause.is_taken
        recipients = [] if is_over else await self.store.recipients(cause)
        if cause.kind is NotificationKind.WANTED and not (is_over or cause.is_gone):
            await self.team_answer.answer(cause, now)
        planned = [plan for recipient in recipients for plan in _planned(cause.kind, recipient, now)]
        await self.store.settle(cause, recipients, planned, now)


def _planned(kind: NotificationKind, recipient: Recipient, now: datetime) -> Iterator[Planned]:
    for way in recipient.settings.ways_of(kind):
        due_at = _paced(recipient, now) if way is Way.MAIL else now
        hours = recipient.settings.hours
        yield Planned(recipient.user_id, way, hours.next_start(due_at) if hours else due_at)


def _paced(recipient: Recipient, now: datetime) -> datetime:
    """When a mail is sent that is to hold all of an hour or a day."""
    settings = recipient.settings
    if settings.mail is MailPace.HOURLY:
        return now.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
    if settings.mail is MailPace.DAILY:
        return settings.daily_after(now, DAILY_AT)
    return now
