"""API keys over REST."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request

from adapters.inbound.rest import key_schemas as schemas
from adapters.inbound.rest.routing import (
    CURSOR_PARAMETERS,
    CurrentCaller,
    CursorPage,
    JsonRoute,
    Services,
    errors,
    path_id,
)
from domain.access.model import ApiKey, CreatedKey, KeyKind
from domain.access.service import NO_KEY
from domain.paging import Page

BASE = "/api/agent/keys"
KIND = {
    "name": "kind",
    "in": "query",
    "schema": {"enum": [KeyKind.KEY, KeyKind.SESSION], "default": KeyKind.KEY},
}

router = APIRouter(route_class=JsonRoute, tags=["keys"])


async def _key_id(keyId: str) -> int:
    return path_id(keyId, NO_KEY)


KeyId = Annotated[int, Depends(_key_id)]


@router.get(
    BASE,
    response_model=schemas.KeyList,
    responses=errors(400),
    summary="API keys",
    openapi_extra={"parameters": [KIND, *CURSOR_PARAMETERS]},
)
async def list_keys(
    services: Services, caller: CurrentCaller, page: CursorPage, request: Request
) -> Page[ApiKey, int]:
    """The caller's keys, or with `kind=session` the caller's sessions in browsers; an admin sees those of all users.

    Ordered by id; revoked and expired keys stay in the list, sessions that have ended do not.
    """
    kind = request.query_params.get("kind") or KeyKind.KEY
    return await services.keys.list(caller, kind, page.number, page.limit)


@router.post(
    BASE,
    status_code=201,
    response_model=schemas.CreatedKeyAnswer,
    responses=errors(400, 403, 413),
    summary="Create an API key",
)
async def create(services: Services, caller: CurrentCaller, body: schemas.CreateKey) -> CreatedKey:
    """The key is shown in this answer alone, and ends with the key that makes it. Only an admin makes keys for other
    users, and with the role admin."""
    return await services.keys.create(caller, body.new())


@router.delete(BASE + "/{keyId}", status_code=204, responses=errors(403, 404), summary="Revoke an API key")
async def revoke(services: Services, caller: CurrentCaller, key: KeyId) -> None:
    """Ends the key or the session at once, with all sessions and keys that were made with it."""
    await services.keys.revoke(caller, key)
