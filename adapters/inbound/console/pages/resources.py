"""Resources: the rules behind their ids, a trial with a text, and a web chat with one in the browser."""

from collections.abc import Mapping, Sequence

from starlette.responses import Response
from starlette.routing import Route

from adapters.inbound.console.requests import ConsoleRequest, faults_of, redirect, render
from adapters.inbound.console.sessions import ROOT
from adapters.inbound.rest.routing import parsed_id
from domain.instances.model import InstanceView, NewInstance
from domain.limits import CHANNEL_NAME
from domain.refusals import Invalid, NotFound, TooMany
from domain.routing.model import ResourceTrial

PAGE = "/console/resources"
SOURCES = {
    "rule": "a rule of the rules file",
    "agent": "a stored agent",
    "built-in": "a built-in",
    "default": "DOWNSTREAM_URL",
}


async def resources(request: ConsoleRequest) -> Response:
    return await _page(request, {"resource": request.query_params.get("resource", "")[:300], "text": ""})


async def tried(request: ConsoleRequest) -> Response:
    form = await request.posted()
    typed = {"resource": str(form.get("resource", "")).strip(), "text": str(form.get("text", ""))}
    ask, trials = form.get("ask") == "true", request.services.resources
    try:
        trial = await trials.try_out(request.caller, typed["resource"], typed["text"], ask=ask)
    except Invalid as refusal:
        return await _page(request, typed, faults=faults_of(refusal), status=400)
    except TooMany as refusal:
        return await _page(request, typed, faults={"": refusal.message}, status=429)
    return await _page(request, typed, trial)


async def _page(
    request: ConsoleRequest,
    typed: Mapping[str, str],
    trial: ResourceTrial | None = None,
    *,
    faults: Mapping[str, str] | None = None,
    status: int = 200,
) -> Response:
    caller = request.caller
    rules = await request.services.resources.rules(caller) if caller.is_admin else None
    values = {"given": typed, "trial": trial, "faults": faults or {}, "rules": rules, "sources": SOURCES}
    return render(request, "resources.html", values, status=status)


PATH = f"{ROOT}/try"
CHANNEL = "web-chat"
NAME = "Try it: "
BUILT_IN = "agent::echo"
OFFERED = 12
"""Resources of the caller's channels that are one press away; the others are suggested as one types."""


async def try_it(request: ConsoleRequest) -> Response:
    """Asks for a resource; an instance of the web chat that is named in the query is shown as its visitors see it."""
    instances = request.services.instances
    views = await instances.list(request.caller)
    text = request.query_params.get("instance")
    if text is None:
        return _try_page(request, views, None, BUILT_IN)
    if (instance_id := parsed_id(text)) is None:
        raise NotFound(f"there is no channel instance {text[:30]}")
    own = [view for view in views if view.instance.id == instance_id]
    view = own[0] if own else await instances.get(request.caller, instance_id)
    return _try_page(request, views, view if view.public_id else None, view.instance.resource_id or "")


async def start(request: ConsoleRequest) -> Response:
    """Shows the instance through which the caller tries the resource; it is made on first use."""
    resource = str((await request.posted()).get("resource", "")).strip()
    instances, caller = request.services.instances, request.caller
    views = await instances.list(caller)
    name = (NAME + resource)[:CHANNEL_NAME]
    config = {"title": "Try it", "greeting": f"Write something. {resource} answers."}
    for view in views:
        own = view.instance
        if resource and (own.user_id, own.channel_id, own.channel_name) == (caller.user_id, CHANNEL, name):
            return redirect(f"{PATH}?instance={own.id}")
    try:
        if not resource:
            raise Invalid("enter the id of a resource")
        made = await instances.create(caller, NewInstance(CHANNEL, name, config, resource))
    except Invalid as invalid:
        return _try_page(request, views, None, resource, next(iter(faults_of(invalid).values())))
    return redirect(f"{PATH}?instance={made.instance_id}")


def _try_page(
    request: ConsoleRequest,
    views: Sequence[InstanceView],
    chat: InstanceView | None,
    resource: str,
    fault: str = "",
) -> Response:
    channels = {
        view.instance.resource_id: view.instance.channel_name
        for view in reversed(views)
        if view.instance.resource_id and not view.instance.channel_name.startswith(NAME)
    }
    values = {
        "chat": chat,
        "resource": resource,
        "fault": fault,
        "channels": list(channels.items())[:OFFERED],
        "resources": [*channels, BUILT_IN],
    }
    return render(request, "try.html", values, status=400 if fault else 200)


ROUTES = [
    Route(PAGE, resources),
    Route(PAGE, tried, methods=["POST"]),
    Route(PATH, try_it, methods=["GET"]),
    Route(PATH, start, methods=["POST"]),
]
