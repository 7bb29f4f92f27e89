"""Signing in with an API key or a link that works once, and out."""

from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from adapters.inbound.console import sessions
from adapters.inbound.console.requests import ConsoleRequest, render
from adapters.inbound.rest.errors import headers_of, status_of
from domain.access.model import KeyKind, kind_of
from domain.refusals import TooMany, Unauthenticated


async def sign_in(request: ConsoleRequest) -> Response:
    """A link is exchanged by the form's POST: who only looks at its address does not use it up."""
    link, next_page = (request.query_params.get(name, "") for name in ("link", "next"))
    if not link and await _is_signed_in(request):
        return RedirectResponse(sessions.safe_next(next_page), 303)
    return _form(request, next_page, link=link)


async def signed_in(request: ConsoleRequest) -> Response:
    form = await request.posted()
    credential, next_page = str(form.get("credential", "")).strip(), str(form.get("next", ""))
    address = request.client.host if request.client else ""
    try:
        session = await request.services.sessions.sign_in(credential, address)
    except (Unauthenticated, TooMany) as refusal:
        if kind_of(credential) is KeyKind.LINK and await _is_signed_in(request):
            return RedirectResponse(sessions.safe_next(next_page), 303)  # a link that was clicked twice
        response = _form(request, next_page, fault=refusal.message, status=status_of(refusal))
        response.headers.update(headers_of(refusal))
        return response
    response = RedirectResponse(sessions.safe_next(next_page), 303)
    seconds = (session.expires_at - request.gateway.clock.now()).total_seconds()
    sessions.set_cookie(request, response, sessions.SESSION, session.token, int(seconds))
    return response


async def _is_signed_in(request: ConsoleRequest) -> bool:
    try:
        await sessions.authenticate(request, request.services.access)
    except Unauthenticated:
        return False
    return True


async def sign_out(request: ConsoleRequest) -> Response:
    if token := sessions.session_of(request):
        await request.services.sessions.sign_out(token)
    response = RedirectResponse(sessions.SIGN_IN, 303)
    sessions.set_cookie(request, response, sessions.SESSION, "", 0)
    return response


def _form(
    request: ConsoleRequest, next_page: str, *, link: str = "", fault: str | None = None, status: int = 200
) -> Response:
    values = {"next": next_page, "link": link, "fault": fault}
    return render(request, "sign_in.html", values, status=status)


ROUTES = [
    Route(sessions.SIGN_IN, sign_in),
    Route(sessions.SIGN_IN, signed_in, methods=["POST"]),
    Route("/console/sign-out", sign_out, methods=["POST"]),
]
