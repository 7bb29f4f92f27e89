"""What went wrong: messages of both directions that were given up, and the health of each channel."""

from collections.abc import Awaitable, Callable, Sequence
from urllib.parse import urlencode

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adapters.inbound.console.channel_setup import FAILING_KINDS, attention
from adapters.inbound.console.requests import caller_of, form_of, redirect, render, render_part, services_of
from adapters.inbound.rest.routing import parsed_id
from domain.access.model import Caller
from domain.events import EventKind
from domain.monitoring.model import DeadLetterId, DeadLetterView, InstanceState, ItemResult, parse_direction
from domain.monitoring.service import DeadLetterService
from domain.paging import LARGEST_LIMIT, Page
from domain.refusals import NotFound

PROBLEMS = "/console/problems"
PER_PAGE = 25
DONE = {
    "replay": ("replayed", "It is processed or sent again."),
    "drop": ("dropped", "It is listed no more."),
}
Action = Callable[[Caller, Sequence[DeadLetterId]], Awaitable[Sequence[ItemResult]]]
NONE_CHOSEN = "Choose at least one message: tick the box in front of it."


def _letters(request: Request) -> DeadLetterService:
    return services_of(request).monitoring.dead_letters


async def problems(request: Request) -> Response:
    return await _list(request)


async def _list(request: Request, fault: str = "", status: int = 200) -> Response:
    query = request.query_params
    instance, direction = query.get("instanceId", ""), query.get("direction", "")
    if instance and parsed_id(instance) is None:
        raise NotFound(f"there is no instance {instance[:30]}")
    page = await _letters(request).list(
        caller_of(request),
        parsed_id(instance),
        parse_direction(direction),
        PER_PAGE,
        query.get("cursor") or None,
    )
    filters = urlencode({name: query[name] for name in ("instanceId", "direction") if query.get(name)})
    values = {
        "page": page,
        "direction": direction,
        "instance": instance,
        "address": f"{PROBLEMS}?{filters}" if filters else PROBLEMS,
        "first": page.items[0].message.id if page.items else "",
        "fault": fault,
    }
    kinds = (EventKind.MESSAGE_FAILED, EventKind.DELIVERY_DEAD)
    return render(request, "problems.html", values, status=status, live_kinds=kinds)


async def newer(request: Request) -> Response:
    """A notice if messages failed since the list was shown; the list itself stays as it is."""
    page = await _letters(request).list(caller_of(request), None, None, 1, None)
    latest = page.items[0].message.id if page.items else ""
    is_new = bool(latest) and latest != request.query_params.get("seen", "")
    return render_part(request, "problems_newer.html", {"is_new": is_new})


async def problem(request: Request) -> Response:
    view = await _view(request)
    return render(request, "problem.html", {"view": view, "payloads": _payloads(view)})


async def payload(request: Request) -> Response:
    view = await _view(request)
    return render_part(request, "problem_payload.html", {"view": view, "payloads": _payloads(view)})


async def _view(request: Request) -> DeadLetterView:
    text = request.path_params["instance"]
    instance = parsed_id(text)
    if instance is None:
        raise NotFound(f"there is no instance {text[:30]}")
    return await _letters(request).get(
        caller_of(request), DeadLetterId(instance, request.path_params["message"])
    )


def _payloads(view: DeadLetterView) -> Sequence[str]:
    """The indented JSON of each part; one that was cut stays as it is."""
    payloads = []
    for part in view.parts:
        try:
            payloads.append(orjson.dumps(orjson.loads(part.payload), option=orjson.OPT_INDENT_2).decode())
        except orjson.JSONDecodeError:
            payloads.append(part.payload)
    return payloads


async def replay(request: Request) -> Response:
    return await _act(request, "replay", _letters(request).replay)


async def drop(request: Request) -> Response:
    return await _act(request, "drop", _letters(request).drop)


async def _act(request: Request, action: str, act: Action) -> Response:
    """Replays or drops the chosen messages."""
    form = await form_of(request)
    chosen = []
    for item in form.getlist("item")[:LARGEST_LIMIT]:
        instance, _, message = str(item).partition(":")
        chosen.append(DeadLetterId(parsed_id(instance) or 0, message))
    if not chosen:
        return await _list(request, NONE_CHOSEN, 400)
    results = await act(caller_of(request), chosen)
    done, refused = (
        sum(result.success for result in results),
        [result for result in results if result.error],
    )
    word, single = DONE[action]
    texts = []
    if done:
        texts.append(single if done == 1 else f"{done} messages are {word}.")
    if refused:
        texts.append(f"{len(refused)} could not be {word}: {refused[0].error}.")
    return redirect(PROBLEMS, " ".join(texts))


async def channels(request: Request) -> Response:
    page = await _health(request)
    return render(request, "problems_channels.html", _health_values(request, page), live_kinds=FAILING_KINDS)


async def channels_list(request: Request) -> Response:
    page = await _health(request)
    return render_part(request, "problems_channels_list.html", _health_values(request, page))


async def _health(request: Request) -> Page[InstanceState, str]:
    query = request.query_params
    failing, cursor = query.get("failing") == "true", query.get("cursor") or None
    health = services_of(request).monitoring.health
    return await health.list(caller_of(request), PER_PAGE, cursor, failing=failing)


def _health_values(request: Request, page: Page[InstanceState, str]) -> dict[str, object]:
    failing = request.query_params.get("failing") == "true"
    broken_first = sorted(page.items, key=lambda state: state.health.healthy)
    address = f"{PROBLEMS}/channels"
    return {
        "states": [(state, attention(state)) for state in broken_first],
        "next": page.next,
        "failing": failing,
        "address": f"{address}?failing=true" if failing else address,
        "query": f"?{request.url.query}" if request.url.query else "",
    }


ROUTES = [
    Route(PROBLEMS, problems),
    Route(f"{PROBLEMS}/newer", newer),
    Route(f"{PROBLEMS}/channels", channels),
    Route(f"{PROBLEMS}/channels/list", channels_list),
    Route(f"{PROBLEMS}/replay", replay, methods=["POST"]),
    Route(f"{PROBLEMS}/drop", drop, methods=["POST"]),
    Route(f"{PROBLEMS}/{{instance}}/{{message}}", problem),
    Route(f"{PROBLEMS}/{{instance}}/{{message}}/payload", payload),
]
