"""What went wrong: messages of both directions that were given up, the health of each channel, and answers that
people did not like."""

from collections.abc import Awaitable, Callable, Sequence
from urllib.parse import urlencode

import orjson
from starlette.responses import Response
from starlette.routing import Route

from adapters.inbound.console.channel_setup import FAILING_KINDS, attention
from adapters.inbound.console.navigation import conversation_path
from adapters.inbound.console.requests import ConsoleRequest, redirect, render, render_part
from adapters.inbound.rest.routing import NO_INSTANCE, parsed_id, path_id
from domain.access.model import Caller
from domain.events import EventKind
from domain.feedback.model import FeedbackFilter, Rating, parse_rating
from domain.monitoring.model import DeadLetterId, ItemResult, parse_direction
from domain.paging import LARGEST_LIMIT

PROBLEMS = "/console/problems"
PER_PAGE = 25
DONE = {
    "replay": ("replayed", "It is processed or sent again."),
    "drop": ("dropped", "It is listed no more."),
}
Action = Callable[[Caller, Sequence[DeadLetterId]], Awaitable[Sequence[ItemResult]]]
NONE_CHOSEN = "Choose at least one message: tick the box in front of it."


async def problems(request: ConsoleRequest) -> Response:
    return await _list(request)


async def _list(request: ConsoleRequest, fault: str = "") -> Response:
    query = request.query_params
    instance, direction = query.get("instanceId", ""), query.get("direction", "")
    instance_id = path_id(instance, NO_INSTANCE) if instance else None
    page = await request.services.monitoring.dead_letters.list(
        request.caller, instance_id, parse_direction(direction), PER_PAGE, query.get("cursor") or None
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
    return render(request, "problems.html", values, status=400 if fault else 200, live_kinds=kinds)


async def newer(request: ConsoleRequest) -> Response:
    """A notice if messages failed since the list was shown; the list itself stays as it is."""
    page = await request.services.monitoring.dead_letters.list(request.caller, None, None, 1, None)
    latest = page.items[0].message.id if page.items else ""
    is_new = bool(latest) and latest != request.query_params.get("seen", "")
    return render_part(request, "problems_newer.html", {"is_new": is_new})


async def problem(request: ConsoleRequest) -> Response:
    return render(request, "problem.html", await _letter_values(request))


async def payload(request: ConsoleRequest) -> Response:
    return render_part(request, "problem_payload.html", await _letter_values(request))


async def _letter_values(request: ConsoleRequest) -> dict[str, object]:
    """A dead letter with the indented JSON of each part; one that was cut stays as it is."""
    letter = DeadLetterId(request.instance_id, request.path_params["message"])
    view = await request.services.monitoring.dead_letters.get(request.caller, letter)
    payloads = []
    for part in view.parts:
        try:
            payloads.append(orjson.dumps(orjson.loads(part.payload), option=orjson.OPT_INDENT_2).decode())
        except orjson.JSONDecodeError:
            payloads.append(part.payload)
    return {"view": view, "payloads": payloads}


async def replay(request: ConsoleRequest) -> Response:
    return await _act(request, "replay", request.services.monitoring.dead_letters.replay)


async def drop(request: ConsoleRequest) -> Response:
    return await _act(request, "drop", request.services.monitoring.dead_letters.drop)


async def _act(request: ConsoleRequest, action: str, act: Action) -> Response:
    """Replays or drops the chosen messages."""
    form = await request.posted()
    chosen = []
    for item in form.getlist("item")[:LARGEST_LIMIT]:
        instance, _, message = str(item).partition(":")
        chosen.append(DeadLetterId(parsed_id(instance) or 0, message))
    if not chosen:
        return await _list(request, NONE_CHOSEN)
    results = await act(request.caller, chosen)
    done, refused = sum(result.success for result in results), [result for result in results if result.error]
    word, single = DONE[action]
    texts = []
    if done:
        texts.append(single if done == 1 else f"{done} messages are {word}.")
    if refused:
        texts.append(f"{len(refused)} could not be {word}: {refused[0].error}.")
    return redirect(PROBLEMS, " ".join(texts))


async def channels(request: ConsoleRequest) -> Response:
    values = await _health_values(request)
    return render(request, "problems_channels.html", values, live_kinds=FAILING_KINDS)


async def channels_list(request: ConsoleRequest) -> Response:
    return render_part(request, "problems_channels_list.html", await _health_values(request))


async def _health_values(request: ConsoleRequest) -> dict[str, object]:
    failing = request.query_params.get("failing") == "true"
    cursor = request.query_params.get("cursor") or None
    page = await request.services.monitoring.health.list(request.caller, PER_PAGE, cursor, failing=failing)
    broken_first = sorted(page.items, key=lambda state: state.health.healthy)
    return {
        "states": [(state, attention(state)) for state in broken_first],
        "next": page.next,
        "failing": failing,
        "address": f"{PROBLEMS}/channels" + ("?failing=true" if failing else ""),
        "query": f"?{request.url.query}" if request.url.query else "",
    }


async def feedback(request: ConsoleRequest) -> Response:
    """Votes on answers, those of people who did not like them first of all."""
    query = request.query_params
    instance, rating = query.get("instanceId", ""), query.get("rating", Rating.DOWN)
    selected = FeedbackFilter(
        None if rating == "all" else parse_rating(rating),
        (path_id(instance, NO_INSTANCE),) if instance else (),
    )
    page = await request.services.feedback.list(
        request.caller, selected, PER_PAGE, query.get("cursor") or None
    )
    filters = urlencode({name: query[name] for name in ("instanceId", "rating") if query.get(name)})
    address = f"{PROBLEMS}/feedback?{filters}" if filters else f"{PROBLEMS}/feedback"
    values = {
        "page": page,
        "rating": rating,
        "instance": instance,
        "address": address,
        "path": conversation_path,
    }
    return render(request, "problems_feedback.html", values)


ROUTES = [
    Route(PROBLEMS, problems),
    Route(f"{PROBLEMS}/newer", newer),
    Route(f"{PROBLEMS}/feedback", feedback),
    Route(f"{PROBLEMS}/channels", channels),
    Route(f"{PROBLEMS}/channels/list", channels_list),
    Route(f"{PROBLEMS}/replay", replay, methods=["POST"]),
    Route(f"{PROBLEMS}/drop", drop, methods=["POST"]),
    Route(f"{PROBLEMS}/{{instance}}/{{message}}", problem),
    Route(f"{PROBLEMS}/{{instance}}/{{message}}/payload", payload),
]
