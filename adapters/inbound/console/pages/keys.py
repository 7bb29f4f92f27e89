"""API keys, and the sessions that were opened with them."""

from collections.abc import Mapping
from contextlib import suppress

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adapters.inbound.console.requests import (
    caller_of,
    cursor_page,
    faults_of,
    form_of,
    redirect,
    render,
    services_of,
)
from adapters.inbound.console.sessions import session_of
from adapters.inbound.rest.routing import path_id
from domain.access.model import Caller, CreatedKey, KeyKind, NewKey, Role
from domain.access.service import NO_KEY
from domain.refusals import Fault, Invalid, Unauthenticated

KEYS = "/console/keys"
SESSIONS = "/console/keys/sessions"
DAYS = (("30", "In 30 days"), ("90", "In 90 days"), ("365", "In a year"), ("", "Never"))
WITH_MAKER = "With what makes it"
BLANK = {"name": "", "days": "", "role": Role.USER.value, "user": "", "credential": ""}
FIELDS = {"userId": "user", "expiresInDays": "days"}
"""Where the form calls a field of the use case by another name."""


async def keys(request: Request) -> Response:
    return await _page(request, BLANK)


async def sessions(request: Request) -> Response:
    page = cursor_page(request)
    listed = await services_of(request).keys.list(
        caller_of(request), KeyKind.SESSION, page.number, page.limit
    )
    values = {"sessions": listed.items, "next": listed.next, "own": session_of(request)}
    return render(request, "sessions.html", values)


async def create(request: Request) -> Response:
    """The key is shown in this answer alone, so nothing is redirected."""
    form = await form_of(request)
    values = {name: str(form.get(name, blank)) for name, blank in BLANK.items()}
    created, faults = None, {}
    try:
        created = await services_of(request).keys.create(await _maker(request, values), _new_key(values))
    except Invalid as refusal:
        faults = {FIELDS.get(field, field): text for field, text in faults_of(refusal).items()}
    await request.state.authenticate()  # the list is that of the session again
    values = BLANK if created else {**values, "credential": ""}
    return await _page(request, values, faults=faults, created=created, status=400 if faults else 200)


async def _maker(request: Request, values: Mapping[str, str]) -> Caller:
    """Who makes a key: the session, or the API key that was typed in, whose life may be longer. Raises `Invalid`."""
    if not values["credential"].strip():
        return caller_of(request)
    with suppress(Unauthenticated):
        maker = await services_of(request).access.authenticate(values["credential"].strip())
        if not maker.is_service:
            return maker
    raise Invalid.of([Fault("credential", "is no API key that works; check that you copied all of it")])


async def revoke(request: Request) -> Response:
    form = await form_of(request)
    await services_of(request).keys.revoke(caller_of(request), path_id(request.path_params["key"], NO_KEY))
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
    request: Request,
    values: Mapping[str, str],
    *,
    faults: Mapping[str, str] | None = None,
    created: CreatedKey | None = None,
    status: int = 200,
) -> Response:
    page = cursor_page(request)
    listed = await services_of(request).keys.list(caller_of(request), KeyKind.KEY, page.number, page.limit)
    days = [*DAYS[:-1], ("", WITH_MAKER)] if caller_of(request).expires_at else DAYS
    shown = {
        "keys": listed.items,
        "next": listed.next,
        "days": days,
        "values": values,
        "faults": faults or {},
    }
    return render(request, "keys.html", {**shown, "created": created}, status=status)


ROUTES = [
    Route(KEYS, keys),
    Route(KEYS, create, methods=["POST"]),
    Route(SESSIONS, sessions),
    Route(KEYS + "/{key}/revoke", revoke, methods=["POST"]),
]
