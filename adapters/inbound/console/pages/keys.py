"""API keys, and the sessions that were opened with them."""

from collections.abc import Mapping
from contextlib import suppress

from starlette.responses import Response
from starlette.routing import Route

from adapters.inbound.console.requests import ConsoleRequest, faults_of, redirect, render
from adapters.inbound.console.sessions import session_of
from adapters.inbound.rest.routing import path_id
from domain.access.model import Caller, CreatedKey, KeyKind, NewKey, Role
from domain.access.service import NO_KEY
from domain.refusals import Fault, Invalid, Unauthenticated

KEYS = "/console/keys"
SESSIONS = "/console/keys/sessions"
DAYS = (("30", "In 30 days"), ("90", "In 90 days"), ("365", "In a year"), ("", "Never"))
WITH_MAKER = "With what makes it"
BLANK = {"name": "", "days": "", "role": Role.MEMBER.value, "user": "", "credential": ""}
FIELDS = {"userId": "user", "expiresInDays": "days"}
"""Where the form calls a field of the use case by another name."""


async def keys(request: ConsoleRequest) -> Response:
    return await _page(request, BLANK)


async def sessions(request: ConsoleRequest) -> Response:
    page = request.cursor_page
    listed = await request.services.keys.list(request.caller, KeyKind.SESSION, page.number, page.limit)
    values = {"sessions": listed.items, "next": listed.next, "own": session_of(request)}
    return render(request, "sessions.html", values)


async def create(request: ConsoleRequest) -> Response:
    """Makes a key by the session, or by the API key that was typed in, whose life may be longer. The key is shown in
    this answer alone, so nothing is redirected."""
    form = await request.posted()
    values = {name: str(form.get(name, blank)) for name, blank in BLANK.items()}
    created, faults = None, {}
    try:
        maker = request.caller
        if credential := values["credential"].strip():
            maker = await _maker(request, credential)
        created = await request.services.keys.create(maker, _new_key(values))
    except Invalid as refusal:
        faults = {FIELDS.get(field, field): text for field, text in faults_of(refusal).items()}
    await request.state.authenticate()  # the list is that of the session again
    values = BLANK if created else {**values, "credential": ""}
    return await _page(request, values, faults, created)


async def _maker(request: ConsoleRequest, credential: str) -> Caller:
    """Whose key it is. Raises `Invalid`."""
    with suppress(Unauthenticated):
        maker = await request.services.access.authenticate(credential)
        if not maker.is_service:
            return maker
    raise Invalid.of([Fault("credential", "is no API key that works; check that you copied all of it")])


async def revoke(request: ConsoleRequest) -> Response:
    form = await request.posted()
    await request.services.keys.revoke(request.caller, path_id(request.path_params["key"], NO_KEY))
    if form.get("kind") == KeyKind.SESSION:
        return redirect(SESSIONS, "The session was ended.")
    return redirect(KEYS, "The key was revoked. Nothing can be done with it any more.")


def _new_key(values: Mapping[str, str]) -> NewKey:
    """Raises `Invalid`."""
    name, days, user_id = values["name"].strip(), values["days"], values["user"].strip()
    if not name:
        raise Invalid.of([Fault("name", "is required: say what the key is for")])
    if days not in dict(DAYS) or values["role"] not in [*Role]:
        raise Invalid.of([Fault("days", "choose one of the list")])
    return NewKey(Role(values["role"]), name, user_id or None, int(days) if days else None)


async def _page(
    request: ConsoleRequest,
    values: Mapping[str, str],
    faults: Mapping[str, str] | None = None,
    created: CreatedKey | None = None,
) -> Response:
    page = request.cursor_page
    listed = await request.services.keys.list(request.caller, KeyKind.KEY, page.number, page.limit)
    shown = {
        "keys": listed.items,
        "next": listed.next,
        "days": [*DAYS[:-1], ("", WITH_MAKER)] if request.caller.expires_at else DAYS,
        "values": values,
        "faults": faults or {},
        "created": created,
    }
    return render(request, "keys.html", shown, status=400 if faults else 200)


ROUTES = [
    Route(KEYS, keys),
    Route(KEYS, create, methods=["POST"]),
    Route(SESSIONS, sessions),
    Route(KEYS + "/{key}/revoke", revoke, methods=["POST"]),
]
