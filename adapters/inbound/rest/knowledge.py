"""Knowledge bases over REST: the bases, who may use them, search. Files: knowledge_files.py."""

from functools import partial

from fastapi import APIRouter, Request

from adapters.inbound.rest import knowledge_schemas as schemas
from adapters.inbound.rest.routing import (
    BaseId,
    CurrentCaller,
    JsonRoute,
    Services,
    base_id,
    before_body,
    caller_of,
    errors,
)
from domain.knowledge.model import BaseChange, Level, NewBase
from domain.knowledge.rules import require
from ports.use_cases import UseCases

BASE = "/api/agent/kb"

router = APIRouter(route_class=JsonRoute, tags=["knowledge bases"])


async def _require(needed: Level, services: UseCases, request: Request) -> None:
    """Raises `NotFound`, `Forbidden`."""
    base = await services.bases.get(await caller_of(request), await base_id(request.path_params["id"]))
    require(base.level or Level.NONE, needed)


@router.get(
    BASE,
    response_model=schemas.KnowledgeBaseList,
    responses=errors(),
    summary="The knowledge bases that the caller may access",
)
async def list_bases(services: Services, caller: CurrentCaller) -> dict[str, object]:
    """The knowledge bases that the caller may access, with the caller's level on each."""
    return {"knowledgeBases": await services.bases.list(caller)}


@router.post(
    BASE,
    status_code=201,
    response_model=schemas.CreatedKnowledgeBase,
    responses=errors(400, 413),
    summary="Create a knowledge base",
)
async def create_base(
    services: Services, caller: CurrentCaller, body: schemas.CreateKnowledgeBase
) -> schemas.CreatedKnowledgeBase:
    """Creates a knowledge base of the caller, who gets level 3 (DELETE) on it."""
    new = NewBase(body.name, body.description or "")
    if body.kb_manifest is not None:
        new = NewBase(body.name, body.description or "", body.kb_manifest)
    base = await services.bases.create(caller, new)
    return schemas.CreatedKnowledgeBase(
        id=base.id, name=base.name, description=base.description, type="kb", status="published"
    )


@router.get(
    BASE + "/{id}",
    response_model=schemas.KnowledgeBaseAnswer,
    responses=errors(403, 404),
    summary="One knowledge base; needs READ",
)
async def get_base(services: Services, caller: CurrentCaller, base: BaseId) -> dict[str, object]:
    """One knowledge base. Needs level 1 (READ)."""
    return {"knowledgeBase": await services.bases.get(caller, base)}


@router.put(
    BASE + "/{id}",
    status_code=204,
    responses=errors(400, 403, 404),
    summary="Rename or describe a knowledge base; needs UPDATE",
)
@before_body(partial(_require, Level.UPDATE))
async def update_base(
    services: Services, caller: CurrentCaller, base: BaseId, body: schemas.UpdateKnowledgeBase
) -> None:
    """Changes the name or the description. Needs level 2 (UPDATE)."""
    await services.bases.update(caller, base, BaseChange(body.name, body.description))


@router.delete(
    BASE + "/{id}",
    status_code=204,
    responses=errors(403, 404),
    summary="Delete a knowledge base with its files and chunks; needs DELETE",
)
async def delete_base(services: Services, caller: CurrentCaller, base: BaseId) -> None:
    """Deletes the knowledge base with its files and chunks. Needs level 3 (DELETE)."""
    await services.bases.delete(caller, base)


@router.get(
    BASE + "/{id}/permissions",
    response_model=schemas.PermissionList,
    responses=errors(403, 404),
    summary="Who may use a knowledge base; needs DELETE",
)
async def list_permissions(services: Services, caller: CurrentCaller, base: BaseId) -> dict[str, object]:
    """Who may use the knowledge base, at which level. Needs level 3 (DELETE)."""
    return {"permissions": await services.bases.permissions(caller, base)}


@router.put(
    BASE + "/{id}/permissions",
    status_code=204,
    responses=errors(400, 403, 404),
    summary="Share a knowledge base, or stop sharing it; needs DELETE",
)
@before_body(partial(_require, Level.DELETE))
async def set_permission(
    services: Services, caller: CurrentCaller, base: BaseId, body: schemas.SetPermission
) -> None:
    """Gives a user a level, or takes it away with 0. Needs level 3 (DELETE)."""
    await services.bases.set_permission(caller, base, body.userId, body.permission_level)


@router.post(
    BASE + "/{id}/search",
    response_model=schemas.SearchAnswer,
    responses=errors(400, 403, 404),
    summary="Search by words and by meaning; ten results unless more are asked for",
)
async def search_base(
    services: Services, caller: CurrentCaller, base: BaseId, body: schemas.SearchRequest
) -> dict[str, object]:
    """Searches by words and by meaning and returns the best chunks. An unknown field is refused."""
    return {"results": await services.search.search(caller, base, body.query, body.options())}
