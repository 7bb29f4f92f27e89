"""The console as one ASGI application."""

from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from adapters.inbound.console import errors, static
from adapters.inbound.console.pages import (
    channel_forms,
    channels,
    conversation,
    identities,
    invitation,
    invitations,
    keys,
    knowledge,
    knowledge_files,
    knowledge_sources,
    knowledge_text,
    overview,
    passkeys,
    problems,
    resources,
    schedules,
    sign_in,
    subscriptions,
)
from adapters.inbound.console.requests import ConsoleRequest, Redirection
from adapters.inbound.console.sessions import ROOT, authenticate, check_origin, check_proved
from adapters.inbound.rest.events import Streams
from adapters.inbound.rest.routing import Gateway
from domain.refusals import TooMany

OPEN = (static, sign_in, invitation)
"""Modules whose pages need nobody to have signed in."""
PAGES = (
    overview,
    problems,
    channel_forms,
    channels,
    schedules,
    resources,
    subscriptions,
    conversation,
    keys,
    invitations,
    identities,
    knowledge,
    knowledge_files,
    knowledge_sources,
    knowledge_text,
)

Check = Callable[[ConsoleRequest], Awaitable[None]]


def build_console(gateway: Gateway, streams: Streams) -> Starlette:
    """`streams` counts the open streams of events of the whole gateway."""

    async def check_upload(request: ConsoleRequest) -> None:
        """The handler checks the token itself: the body is a stream, which is read once."""
        await authenticate(request, request.services.access)
        check_proved(request)
        check_origin(request)

    routes = [Route("/", lambda request: RedirectResponse(ROOT, 303))]
    routes += [_guarded(route, ConsoleRequest.check_form) for module in OPEN for route in module.ROUTES]
    routes += [_guarded(route, _check_page) for module in PAGES for route in module.ROUTES]
    routes += [_guarded(route, _check_own) for route in passkeys.ROUTES]
    routes += [_guarded(route, check_upload) for route in knowledge_files.UPLOADS]
    console = Starlette(routes=routes, exception_handlers=errors.HANDLERS)
    console.router.redirect_slashes = False
    console.state.gateway = gateway
    console.state.streams = streams
    return console


async def _check_page(request: ConsoleRequest) -> None:
    """Authenticates, and checks the form. A page, neither a part of one nor a stream, notes where events stand before
    it reads its data: its stream goes on from there. Where no more streams can be had it notes None, and fetches its
    live parts once its stream is open."""
    await authenticate(request, request.services.access)
    check_proved(request)
    await request.check_form()
    if "text/html" in request.headers.get("accept", ""):
        request.state.live_after = None
        with suppress(TooMany):
            async with aclosing(await request.services.events.watch(request.caller, None, (), ())) as pages:
                request.state.live_after = (await anext(pages)).cursor


async def _check_own(request: ConsoleRequest) -> None:
    """Also for a session that a passkey has to prove first."""
    await authenticate(request, request.services.access)
    await request.check_form()


def _guarded(route: Route, check: Check) -> Route:
    """The route with the check before its handler."""

    async def handler(plain: Request) -> Response:
        request = ConsoleRequest(plain.scope, plain.receive)
        try:
            await check(request)
            response: Response = await route.endpoint(request)
            if isinstance(response, Redirection):
                response.keep_notice(request)
            return response
        finally:
            await request.close()  # the files of a form

    return Route(route.path, handler, methods=route.methods)
