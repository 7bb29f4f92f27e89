"""Resources: the rules behind their ids, a trial with a text, and a web chat with one in the browser."""

from collections.abc import Mapping, Sequence

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adapters.inbound.console.requests import caller_of, faults_of, form_of, redirect, render, services_of
from adapters.inbound.console.sessions import ROOT
from adapters.inbound.rest.routing import parsed_id
from domain.instances.model import InstanceView, NewInstance
from domain.limits import CHANNEL_NAME
from domain.refusals import Invalid, NotFound, TooMany
from domain.routing.model import ResourceTrial

PAGE = "/console/resources"
SOURCES = {"rule": "a rule of the rules file", "built-in": "a built-in", "default": "DOWNSTREAM_URL"}


async def resources(request: Request) -> Response:
    return await _page(request, {"resource": request.query_params.get("resource", "")[:300], "text": ""})


async def tried(request: Request) -> Response:
    form = await form_of(request)
    typed = {"resource": str(form.get("resource", "")).strip(), "text": str(form.get("text", ""))}
    ask = form.get("ask") == "true"
    trials = services_of(request).resources
    try:
        trial = await trials.try_out(caller_of(request), typed["resource"], typed["text"], ask=ask)
    except Invalid as refusal:
        return await _page(request, typed, faults=faults_of(refusal), status=400)
    except TooMany as refusal:
        return await _page(request, typed, faults={"": refusal.message}, status=429)
    return await _page(request, typed, trial)


async def _page(
    request: Request,
    typed: Mapping[str, str],
    trial: ResourceTrial | None = None,
    *,
    faults: Mapping[str, str] | None = None,
    status: int = 200,
) -> Response:
    caller = caller_of(request)
    rules = await services_of(request).resources.rules(caller) if caller.is_admin else None
    values = {"given": typed, "trial": trial, "faults": faults or {}, "rules": rules, "sources": SOURCES}
    return render(request, "resources.html", values, status=status)


PATH = f"{ROOT}/try"
CHANNEL = "web-chat"
NAME = "Try it: "
BUILT_IN = "agent::echo"
OFFERED = 12
"""Resources of the caller's channels that are one press away; the others are suggested as one types."""


async def try_it(request: Request) -> Response:
    """Asks for a resource; an instance of the web chat that is named in the query is shown as its visitors see it."""
    views = await services_of(request).instances.list(caller_of(request))
    view = await _chat_of(request, views)
    chat = view if view is not None and view.public_id else None
    resource = view.instance.resource_id if view is not None else None
    return _try_page(request, views, chat, (resource or "") if view is not None else BUILT_IN)


async def start(request: Request) -> Response:
    resource = str((await form_of(request)).get("resource", "")).strip()
    try:
        if not resource:
            raise Invalid("enter the id of a resource")
        return redirect(f"{PATH}?instance={await _chat_with(request, resource)}")
    except Invalid as invalid:
        views = await services_of(request).instances.list(caller_of(request))
        return _try_page(request, views, None, resource, next(iter(faults_of(invalid).values())))


async def _chat_of(request: Request, views: Sequence[InstanceView]) -> InstanceView | None:
    """Raises `NotFound`, `Forbidden`."""
    if (text := request.query_params.get("instance")) is None:
        return None
    if (instance_id := parsed_id(text)) is None:
        raise NotFound(f"there is no channel instance {text[:30]}")
    for view in views:
        if view.instance.id == instance_id:
            return view
    return await services_of(request).instances.get(caller_of(request), instance_id)


async def _chat_with(request: Request, resource: str) -> int:
    """The instance through which the caller tries the resource; it is made on first use. Raises `Invalid`."""
    instances, caller = services_of(request).instances, caller_of(request)
    name = (NAME + resource)[:CHANNEL_NAME]
    config = {"title": "Try it", "greeting": f"Write something. {resource} answers."}
    for view in await instances.list(caller):
        own = view.instance
        if (own.user_id, own.channel_id, own.channel_name) == (caller.user_id, CHANNEL, name):
            return own.id
    return (await instances.create(caller, NewInstance(CHANNEL, name, config, resource))).instance_id


def _try_page(
    request: Request, views: Sequence[InstanceView], chat: InstanceView | None, resource: str, fault: str = ""
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
