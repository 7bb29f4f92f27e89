"""The connected channels, the gallery of all channels, and the set-up and health of one that is connected."""

import asyncio

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adapters.inbound.console.channel_setup import (
    callback_address,
    has_callback,
    is_public,
    next_steps,
    steps_of,
    works_from_here,
)
from adapters.inbound.console.pages.channel_forms import CHANNELS
from adapters.inbound.console.requests import (
    caller_of,
    form_of,
    gateway_of,
    instance_of,
    is_htmx,
    redirect,
    render,
    render_part,
    services_of,
)
from adapters.inbound.rest.routing import path_id
from domain.conversations.model import ConversationFilter, ConversationView
from domain.instances.model import ConfigDraft, CredentialsCheck, CredentialsState
from domain.routing.model import NOTHING

FIRST = "web-chat"
"""The channel for which nobody needs an account stands first in the gallery."""
ON_A_PAGE = 50
PAIRING = "waStatus"
"""Where the configuration of a linked device says how the link is."""
ONE = CHANNELS + "/{instance}"


async def channels(request: Request) -> Response:
    failing = request.query_params.get("show") == "failing"
    services, caller = services_of(request), caller_of(request)
    page, definitions = await asyncio.gather(
        services.monitoring.health.list(
            caller, ON_A_PAGE, request.query_params.get("cursor"), failing=failing
        ),
        services.catalogue.definitions(),
    )
    by_id = {definition.id: definition for definition in definitions}
    context = {"page": page, "definitions": by_id, "failing": failing}
    return render(request, "channels.html", context, live_kinds=("instance.health",))


async def gallery(request: Request) -> Response:
    query = request.query_params.get("q", "").strip()
    base = gateway_of(request).options.agent_url
    words = query.casefold().split()
    matching = [
        definition
        for definition in await services_of(request).catalogue.definitions()
        if all(
            word in f"{definition.id} {definition.name} {definition.description}".casefold() for word in words
        )
    ]
    context = {
        "definitions": sorted(matching, key=lambda definition: definition.id != FIRST),
        "query": query,
        "public": is_public(base),
        "unreachable": {definition.id for definition in matching if not works_from_here(definition, base)},
    }
    return render(request, "channel_gallery.html", context)


async def channel(request: Request) -> Response:
    return await _page(request)


async def _page(request: Request, check: CredentialsCheck | None = None) -> Response:
    """The set-up and health of an instance, with the outcome of a check where one was asked for."""
    services, caller, number = services_of(request), caller_of(request), instance_of(request)
    view, health, first = await asyncio.gather(
        services.instances.get(caller, number),
        services.operations.health(caller, number),
        _first_conversation(request, number),
    )
    definition, is_taken = await asyncio.gather(
        services.catalogue.definition(view.instance.channel_id), _is_taken(request, view.instance.resource_id)
    )
    base = gateway_of(request).options.agent_url
    address = callback_address(base, definition, view.instance)
    context = {
        "address": address if has_callback(definition) else "",
        "steps": steps_of(definition, address),
        "public": is_public(base),
        "base": base,
        "instance": view.instance,
        "definition": definition,
        "embed_tag": view.embed_tag,
        "health": health,
        "pairing": view.instance.config.get(PAIRING),
        "next_steps": next_steps(view.instance, health),
        "number": number,
        "first": first,
        "check": check,
        "is_taken": is_taken,
        "identifies": definition.identifies(view.instance.config),
    }
    return render(request, "channel.html", context, live_kinds=("message.received", "instance.health"))


async def _is_taken(request: Request, resource_id: str | None) -> bool:
    """Return False if the channel names a resource behind which there is nothing."""
    if not resource_id:
        return True
    trial = await services_of(request).resources.try_out(caller_of(request), resource_id, "", ask=False)
    return trial.source != NOTHING


async def _first_conversation(request: Request, number: int) -> ConversationView | None:
    """The latest conversation, None before the first message."""
    of_instance = ConversationFilter(instance_ids=(number,))
    page = await services_of(request).conversations.list(caller_of(request), of_instance, 1, None)
    return page.items[0] if page.items else None


async def first_message(request: Request) -> Response:
    number = instance_of(request)
    context = {"number": number, "first": await _first_conversation(request, number)}
    return render_part(request, "channel_first_message.html", context)


async def health(request: Request) -> Response:
    """The health of an instance, and the pairing of a linked device."""
    number = instance_of(request)
    services, caller = services_of(request), caller_of(request)
    view, health_ = await asyncio.gather(
        services.instances.get(caller, number), services.operations.health(caller, number)
    )
    definition = await services.catalogue.definition(view.instance.channel_id)
    context = {
        "instance": view.instance,
        "definition": definition,
        "health": health_,
        "next_steps": next_steps(view.instance, health_),
        "pairing": view.instance.config.get(PAIRING),
    }
    return render_part(request, "channel_health.html", context)


async def check_credentials(request: Request) -> Response:
    number = instance_of(request)
    result = await services_of(request).checks.credentials(
        caller_of(request), ConfigDraft(instance_id=number)
    )
    if is_htmx(request):
        part = render_part(request, "channel_credentials.html", {"check": result})
        part.headers["HX-Trigger"] = "checked"  # the health beside it may have changed
        return part
    return await _page(request, result)


async def pair(request: Request) -> Response:
    number = instance_of(request)
    pairing = await services_of(request).instances.request_pairing(caller_of(request), number)
    if not pairing.success:
        return await _page(request, CredentialsCheck(CredentialsState.REFUSED, pairing.message))
    return redirect(f"{CHANNELS}/{number}", "There is a new code.")


async def trusted(request: Request) -> Response:
    number, form = instance_of(request), await form_of(request)
    is_trusted = form.get("trusted") == "yes"
    await services_of(request).instances.set_trusted(caller_of(request), number, trusted=is_trusted)
    done = "The senders are trusted." if is_trusted else "The senders are no longer trusted."
    return redirect(f"{CHANNELS}/{number}", done)


async def delete(request: Request) -> Response:
    await services_of(request).instances.delete(caller_of(request), instance_of(request))
    return redirect(CHANNELS, "The channel is disconnected.")


async def unanswered(request: Request) -> Response:
    """The messages that are not answered, with the reason."""
    number = instance_of(request)
    services, caller = services_of(request), caller_of(request)
    offset = (
        int(text) if (text := request.query_params.get("offset", "")).isdecimal() and len(text) < 6 else 0
    )
    view, messages = await asyncio.gather(
        services.instances.get(caller, number),
        services.operations.unanswered(caller, number, ON_A_PAGE, offset),
    )
    context = {"instance": view.instance, "messages": messages, "older": offset + ON_A_PAGE}
    return render(request, "channel_unanswered.html", context)


async def release(request: Request) -> Response:
    number = instance_of(request)
    message = path_id(request.path_params["message"], "there is no unanswered message {}")
    await services_of(request).operations.release(caller_of(request), number, message)
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
