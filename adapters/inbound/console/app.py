"""The console as one ASGI application."""

from collections.abc import Awaitable, Callable
from contextlib import aclosing

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
    keys,
    knowledge,
    knowledge_files,
    knowledge_sources,
    knowledge_text,
    overview,
    problems,
    resources,
    schedules,
    sign_in,
    subscriptions,
)
from adapters.inbound.console.requests import Redirection, caller_of, check_form, services_of
from adapters.inbound.console.sessions import ROOT, authenticate, check_origin
from adapters.inbound.rest.events import Streams
from adapters.inbound.rest.routing import Gateway
from domain.refusals import TooMany

OPEN = (static, sign_in)
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
    identities,
    knowledge,
    knowledge_files,
    knowledge_sources,
    knowledge_text,
)

Check = Callable[[Request], Awaitable[None]]


def build_console(gateway: Gateway, streams: Streams) -> Starlette:
    """`streams` counts the open streams of events of the whole gateway."""
    routes = [Route("/", lambda request: RedirectResponse(ROOT, 303))]
    routes += [_guarded(route, check_form) for module in OPEN for route in module.ROUTES]
    routes += [_guarded(route, _signed_in) for module in PAGES for route in module.ROUTES]
    routes += [_guarded(route, _uploading) for route in knowledge_files.UPLOADS]
    console = Starlette(routes=routes, exception_handlers=errors.HANDLERS)
    console.router.redirect_slashes = False
    console.state.gateway = gateway
    console.state.streams = streams
    return console


async def _uploading(request: Request) -> None:
    """The handler checks the token itself: the body is a stream, which is read once."""
    await authenticate(request, services_of(request).access)
    check_origin(request)


async def _signed_in(request: Request) -> None:
    await authenticate(request, services_of(request).access)
    await check_form(request)
    if "text/html" in request.headers.get("accept", ""):  # a page, neither a part of one nor a stream
        request.state.live_after = await _position(request)


async def _position(request: Request) -> int | None:
    """Where events stand before the page reads its data: its stream goes on from there. None, and the page fetches
    its live parts once its stream is open, where no more streams can be had."""
    try:
        pages = await services_of(request).events.watch(caller_of(request), None, (), ())
        async with aclosing(pages):
            return (await anext(pages)).cursor
    except TooMany:
        return None


def _guarded(route: Route, check: Check) -> Route:
    """The route with the check before its handler."""

    async def handler(request: Request) -> Response:
        try:
            await check(request)
            response: Response = await route.endpoint(request)
            if isinstance(response, Redirection):
                response.keep_notice(request)
            return response
        finally:
            await request.close()  # the files of a form

    return Route(route.path, handler, methods=route.methods)
