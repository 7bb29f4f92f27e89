"""The stream of events behind the live parts of a page."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adapters.inbound.console.requests import caller_of, services_of
from adapters.inbound.console.sessions import LIVE
from adapters.inbound.rest.events import stream_of


async def live(request: Request) -> Response:
    """As `GET /api/agent/events`."""
    return await stream_of(request, services_of(request), caller_of(request))


ROUTES = [Route(LIVE, live)]
