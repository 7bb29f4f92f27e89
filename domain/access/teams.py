"""Manages teams, which have permissions and take conversations together."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from domain import limits
from domain.access.model import Caller, Scope, Team, TeamChange, TeamMember
from domain.access.sharing import needs
from domain.audit.model import Action
from domain.paging import Page, checked_limit
from domain.refusals import Fault, Forbidden, Invalid, NotFound
from domain.routing.route_faults import hours_faults
from ports.access import TeamStore
from ports.audit import Audit

MOST_MEMBERS = 500


@dataclass(eq=False)
class TeamService:
    """Teams. Admins see and change all; others see those that they are members of, and change the members of those
    that they lead."""

    store: TeamStore
    audit: Audit

    @needs(Scope.ADMIN, Scope.CONVERSATIONS_READ)
    async def list(self, caller: Caller, cursor: int, limit: int) -> Page[Team, int]:
        """Ordered by id. Raises `Invalid`."""
        teams = await self.store.list(caller.scope, cursor, checked_limit(limit) + 1)
        return Page(teams[:limit], teams[limit - 1].id if len(teams) > limit else None)

    @needs(Scope.ADMIN, Scope.CONVERSATIONS_READ)
    async def get(self, caller: Caller, team_id: int) -> Team:
        """Raises `NotFound`, `Forbidden` for another team."""
        team = await self._known(team_id)
        if not caller.is_admin and caller.user_id not in _ids(team.members):
            raise Forbidden("you are no member of this team")
        return team

    @needs(Scope.ADMIN)
    async def create(self, caller: Caller, name: str, members: Sequence[TeamMember]) -> Team:
        """Raises `Forbidden`, `Invalid`, `Conflict` for a taken name."""
        caller.require_admin("makes teams")
        name = _checked_name(name)
        _check_members(members)
        async with self.audit.change(caller, Action.TEAM_CREATED, "team") as details:
            team = await self.store.add(name, members)
            details.update(object=f"team:{team.id}", name=name, members=_shown(members))
        return team

    @needs(Scope.ADMIN)
    async def change(self, caller: Caller, team_id: int, change: TeamChange) -> Team:
        """Raises `NotFound`, `Forbidden`, `Invalid`, `Conflict` for a taken name."""
        team = await self._known(team_id)
        leads = {member.user_id for member in team.members if member.lead}
        if not caller.is_admin and (caller.user_id not in leads or change.name is not None):
            raise Forbidden("only an admin changes a team; those who lead it change its members and hours")
        change = _checked(change)
        data = {"before": _described(team)}
        async with self.audit.change(caller, Action.TEAM_CHANGED, f"team:{team_id}", data) as details:
            if not await self.store.change(team_id, change):
                raise _unknown(team_id)
            changed = await self._known(team_id)
            details["after"] = _described(changed)
        return changed

    @needs(Scope.ADMIN)
    async def delete(self, caller: Caller, team_id: int) -> None:
        """Its permissions end. Raises `NotFound`, `Forbidden`."""
        caller.require_admin("deletes teams")
        team = await self._known(team_id)
        async with self.audit.change(caller, Action.TEAM_DELETED, f"team:{team_id}", {"name": team.name}):
            if not await self.store.remove(team_id):
                raise _unknown(team_id)

    async def _known(self, team_id: int) -> Team:
        team = await self.store.find(team_id)
        if team is None:
            raise _unknown(team_id)
        return team


def _ids(members: Sequence[TeamMember]) -> Sequence[str]:
    return [member.user_id for member in members]


def _shown(members: Sequence[TeamMember]) -> Sequence[str]:
    return [f"{member.user_id} (lead)" if member.lead else member.user_id for member in members]


def _described(team: Team) -> dict[str, object]:
    hours, text = team.hours and str(team.hours), team.away_text
    more = {"hours": hours, "awayText": text} if hours or text else {}
    return {"name": team.name, "members": _shown(team.members), **more}


def _checked(change: TeamChange) -> TeamChange:
    """Raises `Invalid`."""
    if change.members is not None:
        _check_members(change.members)
    if change.hours and (faults := [*hours_faults(change.hours, "hours")]):
        raise Invalid.of(faults)
    away_text = change.away_text
    if away_text is not None:
        away_text = limits.check_text("awayText", away_text, limits.AWAY_TEXT).strip()
    name = None if change.name is None else _checked_name(change.name)
    return replace(change, name=name, away_text=away_text)


def _check_members(members: Sequence[TeamMember]) -> None:
    ids = _ids(members)
    if len(ids) > MOST_MEMBERS:
        raise Invalid.of([Fault("members", f"must be at most {MOST_MEMBERS}")])
    if len(set(ids)) < len(ids):
        raise Invalid.of([Fault("members", "must name each user once")])


def _checked_name(name: str) -> str:
    return limits.check_filled("name", name, limits.KEY_NAME).strip()


def _unknown(team_id: int) -> NotFound:
    return NotFound(f"there is no team {team_id}")
