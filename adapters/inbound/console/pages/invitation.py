"""Where an invited person accepts: by a name, or by signing in at the provider."""

from urllib.parse import urlsplit

from starlette.responses import Response
from starlette.routing import Route

from adapters.inbound.console.pages.sign_in import browser_of, opened, refused
from adapters.inbound.console.requests import ConsoleRequest, faults_of, render
from domain.refusals import Invalid, Refusal

INVITATION = "/console/invitation"


async def invitation(request: ConsoleRequest) -> Response:
    """Looking at the link does not use it up."""
    return await _page(request, request.query_params.get("token", ""))


async def accept(request: ConsoleRequest) -> Response:
    form = await request.posted()
    token, name = str(form.get("token", "")), str(form.get("name", ""))
    try:
        session = await request.services.invitations.accept(token, name, browser_of(request))
    except Invalid as refusal:
        return await _page(request, token, name, faults_of(refusal))
    except Refusal as refusal:
        return refused(request, refusal)
    return opened(request, session, "")


async def _page(
    request: ConsoleRequest, token: str, name: str = "", faults: dict[str, str] | None = None
) -> Response:
    try:
        invited = await request.services.invitations.look(token)
    except Refusal as refusal:
        return refused(request, refusal)
    issuer = await request.services.single_sign_on.name()
    values = {
        "invited": invited,
        "token": token,
        "name": name,
        "faults": faults or {},
        "provider": urlsplit(issuer).netloc,
    }
    return render(request, "invitation.html", values, status=400 if faults else 200)


ROUTES = [Route(INVITATION, invitation), Route(INVITATION, accept, methods=["POST"])]
