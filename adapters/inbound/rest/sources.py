"""The sources of a knowledge base over REST: web pages and sitemaps that are read into it, and again."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request

from adapters.inbound.rest import source_schemas as schemas
from adapters.inbound.rest.knowledge import BASE
from adapters.inbound.rest.routing import (
    CURSOR_PARAMETERS,
    BaseId,
    CurrentCaller,
    CursorPage,
    JsonRoute,
    Services,
    errors,
    path_id,
    query_word,
)
from adapters.inbound.rest.schemas import Accepted
from domain.knowledge.sources.model import Source, SourcePage
from domain.knowledge.sources.service import NO_SOURCE
from domain.paging import Page

SOURCE = BASE + "/{id}/sources/{sourceId}"

router = APIRouter(route_class=JsonRoute, tags=["knowledge bases"])


async def _source_id(sourceId: str) -> int:
    return path_id(sourceId, NO_SOURCE)


SourceId = Annotated[int, Depends(_source_id)]


@router.post(
    BASE + "/{id}/pages",
    status_code=201,
    response_model=schemas.SourceAnswer,
    responses=errors(400, 403, 404),
    summary="Read a web page or a sitemap into a knowledge base; needs UPDATE",
)
async def add_pages(
    services: Services, caller: CurrentCaller, base: BaseId, body: schemas.AddPages
) -> dict[str, Source]:
    """Has a web page, the pages of a sitemap, or a file at a web address read in the background, with `every` again
    after so many minutes. An address that the base reads already gets the new interval, and is read now. Needs UPDATE
    (level 2)."""
    return {"source": await services.sources.add_pages(caller, base, body.url, body.every)}


@router.get(
    BASE + "/{id}/sources",
    response_model=schemas.SourceList,
    responses=errors(400, 403, 404),
    summary="The sources of a knowledge base",
    openapi_extra={"parameters": CURSOR_PARAMETERS},
)
async def list_sources(
    services: Services, caller: CurrentCaller, base: BaseId, page: CursorPage
) -> Page[Source, int]:
    """Web pages, sitemaps and folders that are read into the base, the newest first, with what came of it."""
    return await services.sources.list(caller, base, page.limit, page.number)


@router.get(
    SOURCE + "/pages",
    response_model=schemas.SourcePageList,
    responses=errors(400, 403, 404),
    summary="The pages of a source; query: state",
    openapi_extra={"parameters": CURSOR_PARAMETERS},
)
async def list_pages(
    services: Services,
    caller: CurrentCaller,
    base: BaseId,
    source: SourceId,
    page: CursorPage,
    state: Annotated[str, Query(description="Only pages in this state.")] = "",
) -> Page[SourcePage, int]:
    """The pages or files of a source in the order in which they are read, and why some are not."""
    return await services.sources.pages(caller, base, source, state, page.limit, page.number)


@router.post(
    SOURCE + "/read",
    status_code=202,
    response_model=Accepted,
    responses=errors(403, 404),
    summary="Read a source now; needs UPDATE",
)
async def read_source(services: Services, caller: CurrentCaller, base: BaseId, source: SourceId) -> Accepted:
    """Begins the next pass at once, or as soon as one that is under way has ended. Needs level 2 (UPDATE)."""
    await services.sources.read_now(caller, base, source)
    return Accepted(message="The source is read")


@router.delete(
    SOURCE,
    status_code=204,
    responses=errors(400, 403, 404, 409),
    summary="Remove a source; query: keepFiles; needs UPDATE",
    openapi_extra={
        "parameters": [
            {
                "name": "keepFiles",
                "in": "query",
                "description": "true: what was read stays in the base.",
                "schema": {"type": "boolean", "default": False},
            }
        ]
    },
)
async def remove_source(
    services: Services, caller: CurrentCaller, base: BaseId, source: SourceId, request: Request
) -> None:
    """Removes a source; its files are deleted in the background, unless `keepFiles` is true. 409 for a folder that a
    channel feeds. Needs level 2 (UPDATE)."""
    keep = query_word(request, "keepFiles") or False
    await services.sources.remove(caller, base, source, keep_files=keep)
