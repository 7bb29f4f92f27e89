"""The first page: how things are."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adapters.inbound.console.requests import ROOT, caller_of, render, services_of


async def overview(request: Request) -> Response:
    instances = await services_of(request).instances.list(caller_of(request))
    return render(request, "overview.html", {"instances": instances})


ROUTES = [Route(ROOT, overview)]
