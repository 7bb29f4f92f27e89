"""Knowledge bases over REST: the bases, who may use them, search. Files: knowledge_files.py."""

from __future__ import annotations

from functools import partial

from fastapi import APIRouter, Request, Response

from adapters.inbound.rest import knowledge_schemas as schemas
from adapters.inbound.rest import knowledge_serializers as serializers
from adapters.inbound.rest.errors import JsonResponse
from adapters.inbound.rest.routing import JsonRoute, before_body, caller_of, errors, path_id
from domain.knowledge.model import BaseChange, Level, NewBase
from domain.knowledge.rules import NO_BASE, require
from ports.knowledge import KnowledgeBases, KnowledgeSearch

BASE = "/api/agent/kb"


def router(bases: KnowledgeBases, search: KnowledgeSearch) -> APIRouter:
    routes = APIRouter(route_class=JsonRoute, tags=["knowledge bases"])

    @routes.get(
        BASE,
        response_model=schemas.KnowledgeBaseList,
        responses=errors(),
        summary="The knowledge bases that the caller may access",
    )
    async def list_bases(request: Request) -> JsonResponse:
        found = await bases.list(caller_of(request))
        return JsonResponse({"knowledgeBases": [serializers.listed(each) for each in found]})

    @routes.post(
        BASE,
        status_code=201,
        response_model=schemas.CreatedKnowledgeBase,
        responses=errors(400, 413),
        summary="Create a knowledge base",
    )
    async def create_base(request: Request, body: schemas.CreateKnowledgeBase) -> JsonResponse:
        new = NewBase(body.name, body.description or "")
        if body.kb_manifest is not None:
            new = NewBase(body.name, body.description or "", body.kb_manifest)
        made = await bases.create(caller_of(request), new)
        answer = {"id": made.id, "name": made.name, "description": made.description}
        return JsonResponse({**answer, "type": "kb", "status": "published"}, status_code=201)

    @routes.get(
        BASE + "/{id}",
        response_model=schemas.KnowledgeBaseAnswer,
        responses=errors(403, 404),
        summary="One knowledge base; needs READ",
    )
    async def get_base(request: Request, id: str) -> JsonResponse:
        found = await bases.get(caller_of(request), path_id(id, NO_BASE))
        return JsonResponse({"knowledgeBase": serializers.base(found)})

    @routes.put(
        BASE + "/{id}",
        status_code=204,
        responses=errors(400, 403, 404),
        summary="Rename or describe a knowledge base; needs UPDATE",
    )
    @before_body(partial(_require, bases, Level.UPDATE))
    async def update_base(request: Request, id: str, body: schemas.UpdateKnowledgeBase) -> Response:
        change = BaseChange(body.name, body.description)
        await bases.update(caller_of(request), path_id(id, NO_BASE), change)
        return Response(status_code=204)

    @routes.delete(
        BASE + "/{id}",
        status_code=204,
        responses=errors(403, 404),
        summary="Delete a knowledge base with its files and chunks; needs DELETE",
    )
    async def delete_base(request: Request, id: str) -> Response:
        await bases.delete(caller_of(request), path_id(id, NO_BASE))
        return Response(status_code=204)

    @routes.get(
        BASE + "/{id}/permissions",
        response_model=schemas.PermissionList,
        responses=errors(403, 404),
        summary="Who may use a knowledge base; needs DELETE",
    )
    async def list_permissions(request: Request, id: str) -> JsonResponse:
        found = await bases.permissions(caller_of(request), path_id(id, NO_BASE))
        shown = [{"userId": each.user_id, "permission_level": int(each.level)} for each in found]
        return JsonResponse({"permissions": shown})

    @routes.put(
        BASE + "/{id}/permissions",
        status_code=204,
        responses=errors(400, 403, 404),
        summary="Share a knowledge base, or stop sharing it; needs DELETE",
    )
    @before_body(partial(_require, bases, Level.DELETE))
    async def set_permission(request: Request, id: str, body: schemas.SetPermission) -> Response:
        base_id = path_id(id, NO_BASE)
        await bases.set_permission(caller_of(request), base_id, body.userId, body.permission_level)
        return Response(status_code=204)

    @routes.post(
        BASE + "/{id}/search",
        response_model=schemas.SearchAnswer,
        responses=errors(400, 403, 404),
        summary="Search by text and by meaning; at most ten results",
    )
    async def search_base(request: Request, id: str, body: schemas.SearchRequest) -> JsonResponse:
        found = await search.search(caller_of(request), path_id(id, NO_BASE), body.query)
        return JsonResponse({"results": [serializers.result(each) for each in found]})

    return routes


async def _require(bases: KnowledgeBases, needed: Level, request: Request) -> None:
    """Raises `NotFound`, `Forbidden`."""
    base = await bases.get(caller_of(request), path_id(request.path_params["id"], NO_BASE))
    require(base.level or Level.NONE, needed)
