"""Answers those who want a person while the team is away."""

import hashlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from domain.channels.answers import Answer
from domain.conversations.sending import SendingService
from domain.notifications.model import Cause
from domain.refusals import Refusal, Unavailable
from ports.instances import InstanceStore
from ports.notifications import CauseStore, TeamHours

log = logging.getLogger(__name__)


@dataclass(eq=False)
class TeamAnswer:
    store: CauseStore
    instances: InstanceStore
    sending: SendingService

    async def answer(self, cause: Cause, now: datetime) -> None:
        """Outside of the hours of all teams that count, the sender is sent the text of the team that is there first,
        once until then, and the conversation waits for it. Raises `Unavailable`."""
        team = first_there(await self.store.team_hours(cause), now)
        if team is None or cause.instance_id is None or cause.session_id is None:
            return
        start = team.hours.next_start(now)
        if team.away_text:
            await self._send(cause, cause.instance_id, cause.session_id, team, start)
        await self.store.wait_for_team(cause, start)

    async def _send(
        self, cause: Cause, instance_id: int, session_id: str, team: TeamHours, start: datetime
    ) -> None:
        instance = await self.instances.find(instance_id)
        if instance is None or not instance.exists:
            return
        place = hashlib.sha256(f"{session_id}\n{start.isoformat()}".encode()).hexdigest()
        try:
            await self.sending.send_result(
                instance, session_id, Answer(team.away_text), f"team-away-{team.team_id}-{place}"
            )
        except Unavailable:
            raise
        except Refusal as refusal:  # the person may have opted out, or takes templates only
            log.warning(
                "the text of team %s was not sent: %s", team.team_id, refusal, extra={"instance": instance_id}
            )


def first_there(teams: Sequence[TeamHours], now: datetime) -> TeamHours | None:
    """The team whose hours begin first; None where one is there now, or none has hours. Of several with the same
    beginning one that has a text."""
    if any(team.hours.hold(now) for team in teams):
        return None
    return min(teams, key=lambda team: (team.hours.next_start(now), not team.away_text), default=None)
