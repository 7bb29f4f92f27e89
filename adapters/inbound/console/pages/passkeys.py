"""A user's own passkeys, and the proof of a session by one of them."""

from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from adapters.inbound.console.requests import SECURE_HEADERS, ConsoleRequest, faults_of, redirect, render
from adapters.inbound.console.sessions import PASSKEYS, ROOT
from adapters.inbound.rest.errors import status_of
from adapters.inbound.rest.routing import path_id
from domain.access.passkeys import Challenge
from domain.refusals import Conflict, Forbidden, Invalid, Refusal, Unauthenticated

NONE_OF_THIS_ID = "there is no passkey {}"


def challenge_answer(challenge: Challenge) -> Response:
    """What the script of the page needs."""
    content = {"state": challenge.state, "options": challenge.options}
    return JSONResponse(content, headers={**SECURE_HEADERS})


async def passkeys(request: ConsoleRequest) -> Response:
    return await _page(request)


async def start(request: ConsoleRequest) -> Response:
    return await _challenge(request, adds=True)


async def ask(request: ConsoleRequest) -> Response:
    return await _challenge(request, adds=False)


async def _challenge(request: ConsoleRequest, *, adds: bool) -> Response:
    service = request.services.passkeys
    try:
        challenge = await (service.start(request.caller) if adds else service.ask(request.caller))
    except Refusal as refusal:
        return JSONResponse({"error": refusal.message}, status_of(refusal), headers={**SECURE_HEADERS})
    return challenge_answer(challenge)


async def add(request: ConsoleRequest) -> Response:
    form = await request.posted()
    state, credential, name = (str(form.get(field, "")) for field in ("state", "credential", "name"))
    try:
        await request.services.passkeys.add(request.caller, state, credential, name)
    except Invalid as refusal:
        return await _page(request, "; ".join(faults_of(refusal).values()))
    except (Conflict, Forbidden) as refusal:
        return await _page(request, refusal.message)
    return redirect(PASSKEYS, "The passkey was added.")


async def confirm(request: ConsoleRequest) -> Response:
    form = await request.posted()
    state, credential = str(form.get("state", "")), str(form.get("credential", ""))
    try:
        await request.services.passkeys.confirm(request.caller, state, credential)
    except Invalid as refusal:
        return await _page(request, "; ".join(faults_of(refusal).values()))
    except Unauthenticated as refusal:
        return await _page(request, refusal.message)
    return redirect(ROOT)


async def remove(request: ConsoleRequest) -> Response:
    passkey_id = path_id(request.path_params["passkey"], NONE_OF_THIS_ID)
    await request.services.passkeys.remove(request.caller, passkey_id)
    return redirect(PASSKEYS, "The passkey was removed.")


async def _page(request: ConsoleRequest, fault: str = "") -> Response:
    values = {"passkeys": await request.services.passkeys.list(request.caller), "fault": fault}
    return render(request, "passkeys.html", values, status=400 if fault else 200)


ROUTES = [
    Route(PASSKEYS, passkeys),
    Route(PASSKEYS, add, methods=["POST"]),
    Route(PASSKEYS + "/start", start, methods=["POST"]),
    Route(PASSKEYS + "/ask", ask, methods=["POST"]),
    Route(PASSKEYS + "/confirm", confirm, methods=["POST"]),
    Route(PASSKEYS + "/{passkey}/remove", remove, methods=["POST"]),
]
"""Also for a session that a passkey has to prove first."""
