"""Users and teams over REST."""

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query
from pydantic import Field, StrictBool

from adapters.inbound.rest import bodies
from adapters.inbound.rest.instances import RouteHours, RouteHoursToSave
from adapters.inbound.rest.keys import RoleName
from adapters.inbound.rest.routing import Call, CursorPage, JsonRoute, errors, id_in_path
from domain import limits
from domain.access import model
from domain.access.model import Role, Scope, TeamChange, TeamMember, UserState
from domain.access.users import Me, NewUser
from domain.paging import Page
from ports.access import UserChange

Name = Annotated[bodies.Text, Field(min_length=1, max_length=limits.KEY_NAME, examples=["Ann Archer"])]
Email = Annotated[bodies.Text, Field(min_length=1, max_length=limits.USER_ID, examples=["ann@example.com"])]


class User(bodies.Answer):
    id: str = Field(examples=["ann"])
    name: str = Field(description="Empty where nobody said it.", examples=["Ann Archer"])
    email: str = Field(
        description="In lower case; empty where it is not known.", examples=["ann@example.com"]
    )
    role: Role = Field(examples=["member"])
    state: UserState
    createdAt: bodies.Timestamp
    lastSeenAt: bodies.OptionalTimestamp = Field(description="The last call, to about five minutes.")


class Member(bodies.Answer):
    userId: str = Field(examples=["ann"])
    lead: bool = Field(description="They may change the members of the team.")


class Team(bodies.Answer):
    id: int = Field(examples=[3])
    name: str = Field(examples=["Billing"])
    members: list[Member]
    hours: RouteHours | None = Field(description="Null: the team has no hours.")
    awayText: str = Field(
        description="What those who want a person are sent outside of the hours.",
        examples=["We are back at nine."],
    )
    createdAt: bodies.Timestamp


class MeAnswer(bodies.Answer):
    id: str = bodies.attribute("user.id", examples=["ann"])
    name: str = bodies.attribute("user.name", examples=["Ann Archer"])
    email: str = bodies.attribute("user.email", examples=["ann@example.com"])
    role: Role = Field(
        description="What this call may do: a key may have less than its user.", examples=["member"]
    )
    state: UserState = bodies.attribute("user.state")
    createdAt: bodies.Timestamp = bodies.attribute("user.created_at")
    lastSeenAt: bodies.OptionalTimestamp = bodies.attribute("user.last_seen_at")
    scopes: list[Scope] | None = Field(description="Of the key; null: all.", examples=[None])
    teams: list[Team]


class UserList(bodies.Answer):
    users: list[User] = bodies.attribute("items")
    next: str | None


class TeamList(bodies.Answer):
    teams: list[Team] = bodies.attribute("items")
    next: int | None


class CreateUser(bodies.StrictBody):
    id: bodies.Text = Field(min_length=1, max_length=limits.USER_ID, examples=["ann"])
    name: Name | None = None
    email: Email | None = None
    role: RoleName = "member"


class ChangeUser(bodies.StrictBody):
    name: Name | None = None
    email: Email | None = None
    role: RoleName | None = None
    state: Literal["active", "suspended"] | None = Field(
        None, description="Suspending ends all keys and sessions of the user."
    )

    def change(self) -> UserChange:
        role, state = self.role and Role(self.role), self.state and UserState(self.state)
        return UserChange(self.name, self.email, role or None, state or None)


class MemberToSave(bodies.StrictBody):
    userId: bodies.Text = Field(min_length=1, max_length=limits.USER_ID, examples=["ann"])
    lead: StrictBool = False


class CreateTeam(bodies.StrictBody):
    name: bodies.Text = Field(min_length=1, max_length=limits.KEY_NAME, examples=["Billing"])
    members: list[MemberToSave] = Field([], description="At most 500.")


class ChangeTeam(bodies.StrictBody):
    name: bodies.Text | None = Field(None, max_length=limits.KEY_NAME, examples=["Billing"])
    members: list[MemberToSave] | None = Field(None, description="All members from then on.")
    hours: RouteHoursToSave | None = Field(None, description="null: the team has no hours any more.")
    awayText: bodies.Text | None = Field(
        None,
        max_length=limits.AWAY_TEXT,
        description="Sent once to those who want a person outside of the hours; empty: nothing is.",
        examples=["We are back at nine."],
    )

    def change(self) -> TeamChange:
        return TeamChange(
            self.name,
            None if self.members is None else _members(self.members),
            self.hours.value() if self.hours else None,
            self.awayText,
            clear_hours="hours" in self.model_fields_set and self.hours is None,
        )


def _members(members: list[MemberToSave]) -> tuple[TeamMember, ...]:
    return tuple(TeamMember(member.userId.strip(), member.lead) for member in members)


USERS, TEAMS = "/api/agent/users", "/api/agent/teams"
router = APIRouter(route_class=JsonRoute, tags=["users"])

UserId = Annotated[str, Path(alias="userId", description="Id of a user.", examples=["ann"])]
TeamId = Annotated[int, id_in_path("teamId", "Id of a team.", 3)]


@router.get("/api/agent/me", response_model=MeAnswer, responses=errors(400), summary="Who calls")
async def me(call: Call) -> Me:
    """The user of the call, with what the call may do, and the teams."""
    return await call.services.users.me(call.caller)


@router.get(USERS, response_model=UserList, responses=errors(400, 403), summary="Users; for admins")
async def list_users(
    call: Call,
    page: CursorPage,
    query: Annotated[
        str,
        Query(
            max_length=limits.USER_ID,
            description="What an id, a name or an e-mail address begins with.",
            examples=["an"],
        ),
    ] = "",
) -> Page[model.User, str]:
    """Ordered by id. A user appears with the first key, or the first call of a service for them."""
    return await call.services.users.list(call.caller, query, page.limit, page.cursor or None)


@router.post(
    USERS,
    status_code=201,
    response_model=User,
    responses=errors(400, 403, 409),
    summary="Make a user; for admins",
)
async def create_user(call: Call, body: CreateUser) -> model.User:
    """409 where the id or the e-mail address is taken."""
    new = NewUser(body.id, body.name or "", body.email or "", Role(body.role))
    return await call.services.users.create(call.caller, new)


@router.get(
    USERS + "/{userId}", response_model=User, responses=errors(403, 404), summary="One user; for admins"
)
async def get_user(call: Call, user: UserId) -> model.User:
    """One user, with role and state."""
    return await call.services.users.get(call.caller, user)


@router.put(
    USERS + "/{userId}",
    response_model=User,
    responses=errors(400, 403, 404, 409),
    summary="Change or suspend a user; for admins",
)
async def change_user(call: Call, user: UserId, body: ChangeUser) -> model.User:
    """Fields that are left out stay. Suspending ends all keys and sessions at once. 409 for the last admin."""
    return await call.services.users.change(call.caller, user, body.change())


@router.delete(
    USERS + "/{userId}",
    status_code=204,
    responses=errors(400, 403, 404, 409),
    summary="Delete a user; for admins",
)
async def delete_user(
    call: Call,
    user: UserId,
    successor: Annotated[
        bodies.Text | None,
        Query(
            max_length=limits.USER_ID,
            description="The user who gets what this one owns: instances, knowledge bases, agents.",
            examples=["bob"],
        ),
    ] = None,
) -> None:
    """Ends keys, sessions, permissions and memberships. 409 where they own something and `successor` is missing."""
    await call.services.users.delete(call.caller, user, successor or None)


@router.get(TEAMS, response_model=TeamList, responses=errors(400), summary="Teams")
async def list_teams(call: Call, page: CursorPage) -> Page[model.Team, int]:
    """Those that the caller is a member of, for an admin all; ordered by id."""
    return await call.services.teams.list(call.caller, page.number, page.limit)


@router.post(
    TEAMS,
    status_code=201,
    response_model=Team,
    responses=errors(400, 403, 409),
    summary="Make a team; for admins",
)
async def create_team(call: Call, body: CreateTeam) -> model.Team:
    """409 where the name is taken."""
    return await call.services.teams.create(call.caller, body.name, _members(body.members))


@router.get(TEAMS + "/{teamId}", response_model=Team, responses=errors(403, 404), summary="One team")
async def get_team(call: Call, team: TeamId) -> model.Team:
    """One team with its members, for them and for admins."""
    return await call.services.teams.get(call.caller, team)


@router.put(
    TEAMS + "/{teamId}", response_model=Team, responses=errors(400, 403, 404, 409), summary="Change a team"
)
async def change_team(call: Call, team: TeamId, body: ChangeTeam) -> model.Team:
    """Admins change all of it, those who lead it its members, hours and text. Fields that are left out stay."""
    return await call.services.teams.change(call.caller, team, body.change())


@router.delete(
    TEAMS + "/{teamId}", status_code=204, responses=errors(403, 404), summary="Delete a team; for admins"
)
async def delete_team(call: Call, team: TeamId) -> None:
    """Its permissions end."""
    await call.services.teams.delete(call.caller, team)
