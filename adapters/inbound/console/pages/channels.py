"""The connected channels, the gallery of all channels, and the set-up and health of one that is connected."""

import asyncio
from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from adapters.inbound.console import channel_setup as setup
from adapters.inbound.console.pages.channel_forms import CHANNELS
from adapters.inbound.console.requests import ConsoleRequest, redirect, render, render_part
from adapters.inbound.rest.routing import path_id
from domain.access.sharing import InstanceLevel
from domain.conversations.model import ConversationFilter, ConversationView
from domain.instances.model import ConfigDraft, CredentialsCheck, CredentialsState
from domain.routing.model import NOTHING

FIRST = "web-chat"
"""The channel for which nobody needs an account stands first in the gallery."""
ON_A_PAGE = 50
PAIRING = "waStatus"
"""Where the configuration of a linked device says how the link is."""
ONE = CHANNELS + "/{instance}"


async def channels(request: ConsoleRequest) -> Response:
    failing, cursor = request.query_params.get("show") == "failing", request.query_params.get("cursor")
    services, caller = request.services, request.caller
    page, definitions = await asyncio.gather(
        services.monitoring.health.list(caller, ON_A_PAGE, cursor, failing=failing),
        services.catalogue.definitions(),
    )
    by_id = {definition.id: definition for definition in definitions}
    context = {"page": page, "definitions": by_id, "failing": failing}
    return render(request, "channels.html", context, live_kinds=("instance.health",))


async def gallery(request: ConsoleRequest) -> Response:
    query = request.query_params.get("q", "").strip()
    base = request.gateway.options.agent_url
    words = query.casefold().split()
    matching = []
    for definition in await request.services.catalogue.definitions():
        text = f"{definition.id} {definition.name} {definition.description}".casefold()
        if all(word in text for word in words):
            matching.append(definition)
    context = {
        "definitions": sorted(matching, key=lambda definition: definition.id != FIRST),
        "query": query,
        "public": setup.is_public(base),
        "unreachable": {
            definition.id for definition in matching if not setup.works_from_here(definition, base)
        },
    }
    return render(request, "channel_gallery.html", context)


async def channel(request: ConsoleRequest) -> Response:
    return await _page(request)


async def _page(request: ConsoleRequest, check: CredentialsCheck | None = None) -> Response:
    """The set-up and health of an instance, with the outcome of a check where one was asked for."""
    services, caller = request.services, request.caller
    shown, first = await asyncio.gather(_health_values(request), _first_conversation(request))
    instance, definition = shown["instance"], shown["definition"]
    base = request.gateway.options.agent_url
    address = setup.callback_address(base, definition, instance)
    is_taken = True  # a resource that is named may have nothing behind it
    if instance.resource_id and shown["may_manage"]:
        trial = await services.resources.try_out(caller, instance.resource_id, "", ask=False)
        is_taken = trial.source != NOTHING
    context = {
        **shown,
        "address": address if setup.has_callback(definition) else "",
        "steps": setup.steps_of(definition, address),
        "public": setup.is_public(base),
        "base": base,
        "number": instance.id,
        "first": first,
        "check": check,
        "is_taken": is_taken,
        "identifies": definition.identifies(instance.config),
    }
    return render(request, "channel.html", context, live_kinds=("message.received", "instance.health"))


async def _health_values(request: ConsoleRequest) -> dict[str, Any]:
    """The health of an instance, and the pairing of a linked device."""
    number, services, caller = request.instance_id, request.services, request.caller
    view, health = await asyncio.gather(
        services.instances.get(caller, number), services.operations.health(caller, number)
    )
    return {
        "instance": view.instance,
        "may_manage": view.level is InstanceLevel.MANAGE,
        "definition": await services.catalogue.definition(view.instance.channel_id),
        "embed_tag": view.embed_tag,
        "health": health,
        "next_steps": setup.next_steps(view.instance, health),
        "pairing": view.instance.config.get(PAIRING),
    }


async def _first_conversation(request: ConsoleRequest) -> ConversationView | None:
    """The latest conversation, None before the first message."""
    of_instance = ConversationFilter(instance_ids=(request.instance_id,))
    page = await request.services.conversations.list(request.caller, of_instance, 1, None)
    return page.items[0] if page.items else None


async def first_message(request: ConsoleRequest) -> Response:
    context = {"number": request.instance_id, "first": await _first_conversation(request)}
    return render_part(request, "channel_first_message.html", context)


async def health(request: ConsoleRequest) -> Response:
    return render_part(request, "channel_health.html", await _health_values(request))


async def check_credentials(request: ConsoleRequest) -> Response:
    draft = ConfigDraft(instance_id=request.instance_id)
    result = await request.services.checks.credentials(request.caller, draft)
    if request.is_htmx:
        part = render_part(request, "channel_credentials.html", {"check": result})
        part.headers["HX-Trigger"] = "checked"  # the health beside it may have changed
        return part
    return await _page(request, result)


async def pair(request: ConsoleRequest) -> Response:
    pairing = await request.services.instances.request_pairing(request.caller, request.instance_id)
    if not pairing.success:
        return await _page(request, CredentialsCheck(CredentialsState.REFUSED, pairing.message))
    return redirect(f"{CHANNELS}/{request.instance_id}", "There is a new code.")


async def trusted(request: ConsoleRequest) -> Response:
    number, form = request.instance_id, await request.posted()
    is_trusted = form.get("trusted") == "yes"
    await request.services.instances.set_trusted(request.caller, number, trusted=is_trusted)
    done = "The senders are trusted." if is_trusted else "The senders are no longer trusted."
    return redirect(f"{CHANNELS}/{number}", done)


async def delete(request: ConsoleRequest) -> Response:
    await request.services.instances.delete(request.caller, request.instance_id)
    return redirect(CHANNELS, "The channel is disconnected.")


async def unanswered(request: ConsoleRequest) -> Response:
    """The messages that are not answered, with the reason."""
    number, services, caller = request.instance_id, request.services, request.caller
    text = request.query_params.get("offset", "")
    offset = int(text) if text.isdecimal() and len(text) < 6 else 0
    view, messages = await asyncio.gather(
        services.instances.get(caller, number),
        services.operations.unanswered(caller, number, ON_A_PAGE, offset),
    )
    context = {"instance": view.instance, "messages": messages, "older": offset + ON_A_PAGE}
    return render(request, "channel_unanswered.html", context)


async def release(request: ConsoleRequest) -> Response:
    number = request.instance_id
    message = path_id(request.path_params["message"], "there is no unanswered message {}")
    await request.services.operations.release(request.caller, number, message)
    return redirect(f"{CHANNELS}/{number}/unanswered", "The message is answered.")


ROUTES = [
    Route(CHANNELS, channels),
    Route(CHANNELS + "/new", gallery),
    Route(ONE, channel),
    Route(ONE + "/first-message", first_message),
    Route(ONE + "/health", health),
    Route(ONE + "/check-credentials", check_credentials, methods=["POST"]),
    Route(ONE + "/pairing", pair, methods=["POST"]),
    Route(ONE + "/trusted", trusted, methods=["POST"]),
    Route(ONE + "/delete", delete, methods=["POST"]),
    Route(ONE + "/unanswered", unanswered),
    Route(ONE + "/unanswered/{message}/release", release, methods=["POST"]),
]
