"""Who is responsible for conversations: the texts by which callers name users and teams."""

from collections.abc import Sequence
from dataclasses import dataclass

from domain import limits
from domain.access.model import Caller, Team, UserState
from domain.access.sharing import InstanceLevel
from domain.instances.lookup import level_on
from domain.instances.model import Instance
from domain.paging import LARGEST_LIMIT
from domain.refusals import Fault, Invalid
from ports.access import TeamStore, UserStore
from ports.instances import InstanceStore

NOBODY, ME, MY_TEAMS = "none", "me", "teams"
LARGEST_ID = 10**18


def of_user(user_id: str) -> str:
    return f"user:{user_id}"


def of_team(team_id: int) -> str:
    return f"team:{team_id}"


async def find_team(teams: TeamStore, name: str) -> Team | None:
    """The team with this id or name."""
    if (
        name.isdecimal()
        and name.isascii()
        and int(name[:20]) < LARGEST_ID
        and (team := await teams.find(int(name)))
    ):
        return team
    named = await teams.named([name.lower()])
    return named[0] if named else None


async def teams_of(teams: TeamStore, user_id: str) -> tuple[str, ...]:
    return tuple(of_team(team.id) for team in await teams.list(user_id, 0, LARGEST_LIMIT))


async def wanted_assignees(teams: TeamStore, caller: Caller, assignee: str | None) -> tuple[str, ...] | None:
    """What a list asks for, as conversations have it: "" for nobody, None for any. A team that is not known is looked
    for as it is written: a resource may have named it."""
    if assignee is None:
        return None
    if assignee == NOBODY:
        return ("",)
    if assignee == ME:
        return (of_user(caller.user),)
    if assignee == MY_TEAMS:
        return await teams_of(teams, caller.user)
    kind, _, name = assignee.partition(":")
    team = await find_team(teams, name.strip()) if kind == "team" else None
    return (of_team(team.id) if team else assignee,)


@dataclass(eq=False)
class AssigneeCheck:
    """Checks who is to be responsible for the conversations of an instance."""

    instances: InstanceStore
    users: UserStore
    teams: TeamStore

    async def checked(self, caller: Caller, instance: Instance, assignee: str) -> str:
        """Returns "user:ID", "team:ID", or "" for nobody. Raises `Invalid`."""
        if not assignee:
            return ""
        limits.check_text("assignee", assignee, limits.ASSIGNEE)
        if assignee == ME:
            assignee = of_user(caller.user)
        kind, _, name = assignee.partition(":")
        if kind == "user" and name:
            return await self._user(instance, name)
        if kind != "team" or not name:
            raise _fault('must be "user:ID", "team:ID", "me", or null for nobody')
        team = await find_team(self.teams, name.strip())
        if team is None:
            raise _fault(f"there is no team {name[:100]}")
        return of_team(team.id)

    async def _user(self, instance: Instance, user_id: str) -> str:
        user = await self.users.find(user_id)
        if user is None or user.state is not UserState.ACTIVE:
            raise _fault(f"there is no active user '{user_id[:100]}'")
        level = await level_on(self.instances, Caller(user.id, user.role), instance)
        if level < InstanceLevel.ANSWER:
            raise _fault(
                f"{user.id[:100]} may not answer here; give them the permission level 2 on the instance"
            )
        return of_user(user.id)

    async def mentioned(self, instance: Instance, names: Sequence[str]) -> tuple[str, ...]:
        """The users with these names who may see the instance, and the teams."""
        if not names:
            return ()
        users = [
            of_user(user.id)
            for user in await self.users.named(names)
            if await level_on(self.instances, Caller(user.id, user.role), instance) >= InstanceLevel.VIEW
        ]
        return (*users, *(of_team(team.id) for team in await self.teams.named(names)))


def _fault(message: str) -> Invalid:
    return Invalid.of([Fault("assignee", message)])
