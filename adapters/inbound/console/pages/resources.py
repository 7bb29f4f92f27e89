"""What stands behind resource ids, and a resource tried with a text."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adapters.inbound.console.requests import caller_of, faults_of, form_of, render, services_of
from domain.refusals import Invalid, TooMany
from domain.routing.model import ResourceTrial

PAGE = "/console/resources"
SOURCES = {"rule": "a rule of the rules file", "built-in": "a built-in", "default": "DOWNSTREAM_URL"}


async def resources(request: Request) -> Response:
    return await _page(request, {"resource": request.query_params.get("resource", "")[:300], "text": ""})


async def tried(request: Request) -> Response:
    form = await form_of(request)
    given = {"resource": str(form.get("resource", "")).strip(), "text": str(form.get("text", ""))}
    ask = form.get("ask") == "true"
    trials = services_of(request).resources
    try:
        trial = await trials.try_out(caller_of(request), given["resource"], given["text"], ask=ask)
    except Invalid as refusal:
        return await _page(request, given, faults=faults_of(refusal), status=400)
    except TooMany as refusal:
        return await _page(request, given, faults={"": refusal.message}, status=429)
    return await _page(request, given, trial)


async def _page(
    request: Request,
    given: Mapping[str, str],
    trial: ResourceTrial | None = None,
    *,
    faults: Mapping[str, str] | None = None,
    status: int = 200,
) -> Response:
    caller = caller_of(request)
    rules = await services_of(request).resources.rules(caller) if caller.is_admin else None
    values = {"given": given, "trial": trial, "faults": faults or {}, "rules": rules, "sources": SOURCES}
    return render(request, "resources.html", values, status=status)


ROUTES = [Route(PAGE, resources), Route(PAGE, tried, methods=["POST"])]
