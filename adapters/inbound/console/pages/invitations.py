"""Invitations of people, for admins."""

from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from adapters.inbound.console.requests import ConsoleRequest, faults_of, redirect, render
from adapters.inbound.rest.routing import parsed_id, path_id
from domain.access.model import Role
from domain.refusals import Conflict, Fault, Invalid

INVITATIONS = "/console/invitations"
NONE_OF_THIS_ID = "there is no invitation {}"
BLANK = {"email": "", "role": Role.MEMBER.value}
MOST_TEAMS = 100
"""Teams to choose from."""


async def invitations(request: ConsoleRequest) -> Response:
    return await _page(request)


async def create(request: ConsoleRequest) -> Response:
    """A link that no mail took is shown in this answer alone, so nothing is redirected then."""
    form = await request.posted()
    values = {name: str(form.get(name, blank)) for name, blank in BLANK.items()}
    try:
        teams = [_team(str(text)) for text in form.getlist("team")]
        if values["role"] not in tuple(Role):
            raise Invalid.of([Fault("role", "choose one of the list")])
        created = await request.services.invitations.create(
            request.caller, values["email"], Role(values["role"]), teams
        )
    except Invalid as refusal:
        return await _page(request, values=values, faults=faults_of(refusal))
    except Conflict as refusal:
        return await _page(request, values=values, faults={"email": refusal.message})
    if created.link is None:
        return redirect(INVITATIONS, f"The invitation is on its way to {created.invitation.email}.")
    return await _page(request, created=created)


def _team(text: str) -> int:
    """Raises `Invalid`."""
    team_id = parsed_id(text)
    if team_id is None:
        raise Invalid.of([Fault("teams", "choose teams of the list")])
    return team_id


async def revoke(request: ConsoleRequest) -> Response:
    invitation_id = path_id(request.path_params["invitation"], NONE_OF_THIS_ID)
    await request.services.invitations.revoke(request.caller, invitation_id)
    return redirect(INVITATIONS, "The invitation was withdrawn.")


async def _page(request: ConsoleRequest, **shown: Any) -> Response:
    page = request.cursor_page
    listed = await request.services.invitations.list(request.caller, page.number, page.limit)
    teams = await request.services.teams.list(request.caller, 0, MOST_TEAMS)
    values = {
        "invitations": listed.items,
        "next": listed.next,
        "teams": teams.items,
        "now": request.gateway.clock.now(),
        "values": BLANK,
        "faults": {},
        "created": None,
        **shown,
    }
    return render(request, "invitations.html", values, status=400 if values["faults"] else 200)


ROUTES = [
    Route(INVITATIONS, invitations),
    Route(INVITATIONS, create, methods=["POST"]),
    Route(INVITATIONS + "/{invitation}/revoke", revoke, methods=["POST"]),
]
