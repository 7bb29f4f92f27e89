"""Invitations over REST."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import Field

from adapters.inbound.rest import bodies
from adapters.inbound.rest.keys import RoleName
from adapters.inbound.rest.routing import Call, CursorPage, JsonRoute, errors, id_in_path
from domain import limits
from domain.access import model
from domain.access.invitations import MOST_TEAMS, CreatedInvitation
from domain.access.model import Role
from domain.paging import Page

INVITATIONS = "/api/agent/invitations"
router = APIRouter(route_class=JsonRoute, tags=["users"])


class Invitation(bodies.Answer):
    id: int = Field(examples=[5])
    email: str = Field(examples=["ann@example.com"])
    role: Role = Field(examples=["member"])
    teams: list[int] = bodies.attribute("team_ids", description="Ids of teams.", examples=[[3]])
    createdBy: str = Field(examples=["admin"])
    createdAt: bodies.Timestamp
    expiresAt: bodies.Timestamp
    acceptedAt: bodies.OptionalTimestamp = Field(description="Null: it is open, or has expired.")
    userId: str | None = Field(description="The user that it made.", examples=[None])


class CreatedAnswer(bodies.Answer):
    invitation: Invitation
    link: str | None = Field(
        description="Where the person accepts it; null where it went to them by mail.",
        examples=["https://agents.example.com/console/invitation?token=Zp3vHkQ2"],
    )


class InvitationList(bodies.Answer):
    invitations: list[Invitation] = bodies.attribute("items")
    next: int | None


class CreateInvitation(bodies.StrictBody):
    email: bodies.Text = Field(min_length=3, max_length=limits.EMAIL, examples=["ann@example.com"])
    role: RoleName = "member"
    teams: list[bodies.WholeNumber] = Field(
        [], description=f"Ids of teams; at most {MOST_TEAMS}.", examples=[[3]]
    )


InvitationId = Annotated[int, id_in_path("invitationId", "Id of an invitation.", 5)]


@router.post(
    INVITATIONS,
    status_code=201,
    response_model=CreatedAnswer,
    responses=errors(400, 403, 409),
    summary="Invite a person; for admins",
)
async def create_invitation(call: Call, body: CreateInvitation) -> CreatedInvitation:
    """For seven days, usable once. An open invitation of the same address ends. 409 for the address of a user."""
    return await call.services.invitations.create(call.caller, body.email, Role(body.role), body.teams)


@router.get(
    INVITATIONS,
    response_model=InvitationList,
    responses=errors(400, 403),
    summary="Invitations; for admins",
)
async def list_invitations(call: Call, page: CursorPage) -> Page[model.Invitation, int]:
    """Open and accepted ones, ordered by id."""
    return await call.services.invitations.list(call.caller, page.number, page.limit)


@router.delete(
    INVITATIONS + "/{invitationId}",
    status_code=204,
    responses=errors(403, 404),
    summary="Withdraw an open invitation; for admins",
)
async def revoke_invitation(call: Call, invitation: InvitationId) -> None:
    """Its link is good for nothing any more."""
    await call.services.invitations.revoke(call.caller, invitation)
