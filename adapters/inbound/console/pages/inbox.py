"""The inbox: the conversations of all instances, the latest first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adapters.inbound.console.addresses import INBOX
from adapters.inbound.console.live import CONVERSATION_KINDS, live_trigger
from adapters.inbound.console.requests import caller_of, is_htmx, render, render_part, services_of
from adapters.inbound.rest.routing import named_instances
from domain.conversations.model import ConversationFilter, Handler
from domain.instances.model import InstanceView
from domain.limits import CONVERSATION_QUERY

LISTED = 25
"""Conversations of a page."""
MOST_NAMED = 100
"""Instances that the form offers to choose from."""
STATES: dict[str, tuple[str, dict[str, Any]]] = {
    "": ("All", {}),
    "waiting": ("Waiting for an answer", {"waiting": True}),
    "person": ("With a person", {"handler": Handler.PERSON}),
    "resource": ("With the bot", {"handler": Handler.RESOURCE}),
}
FIELDS = ("query", "state", "instanceId")


async def inbox(request: Request) -> Response:
    """The list; htmx gets it alone."""
    services, caller = services_of(request), caller_of(request)
    query = {name: request.query_params.get(name, "").strip() for name in FIELDS}
    state = query["state"] if query["state"] in STATES else ""
    wanted = ConversationFilter(
        query["query"][:CONVERSATION_QUERY], instance_ids=tuple(named_instances(request)), **STATES[state][1]
    )
    cursor = request.query_params.get("cursor") or None
    page = await services.conversations.list(caller, wanted, LISTED, cursor)
    given = {name: value for name, value in query.items() if value}
    values = {
        "page": page,
        "address": INBOX + (f"?{urlencode(given)}" if given else ""),
        "is_first": cursor is None,
        "trigger": live_trigger(CONVERSATION_KINDS),
        "is_filtered": bool(given),
    }
    if is_htmx(request):
        return render_part(request, "inbox_list.html", values)
    instances = await services.instances.list(caller)
    choices = _choices(instances, query["instanceId"])
    more = {"query": query, "states": [(name, title) for name, (title, _) in STATES.items()]}
    kinds = CONVERSATION_KINDS if cursor is None else ()
    return render(request, "inbox.html", {**values, **more, "choices": choices}, live_kinds=kinds)


def _choices(instances: Sequence[InstanceView], chosen: str) -> list[tuple[str, str]]:
    """The instances to choose from, by id; none where there is nothing to choose."""
    named = [(str(view.instance.id), view.instance.channel_name) for view in instances[:MOST_NAMED]]
    if chosen and chosen not in dict(named):
        named.append((chosen, f"Channel {chosen}"))
    return [("", "All channels"), *named] if len(named) > 1 or chosen else []


ROUTES = [Route(INBOX, inbox)]
