"""The sources of a knowledge base over REST: web pages and sitemaps that are read into it, and again."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import BeforeValidator, ConfigDict, Field

from adapters.inbound.rest import bodies
from adapters.inbound.rest.knowledge import BASE
from adapters.inbound.rest.routing import (
    BaseId,
    Call,
    CursorPage,
    EmptyIsFalse,
    JsonRoute,
    errors,
    id_in_path,
)
from domain import limits
from domain.knowledge.sources import model
from domain.knowledge.sources.model import SourceKind, SourceState
from domain.knowledge.sources.service import LEAST_MINUTES, MOST_MINUTES
from domain.paging import Page


class AddPages(bodies.Body):
    model_config = ConfigDict(extra="forbid")

    url: bodies.Text = Field(
        max_length=limits.ADDRESS,
        description="A web page, a sitemap or sitemap index (XML, also as .gz), or a file of a known format.",
        examples=["https://docs.example.com/sitemap.xml"],
    )
    every: float | None = Field(
        None,
        strict=True,
        description=f"Minutes between two passes, {LEAST_MINUTES:g} to {MOST_MINUTES:g}, fractions allowed;"
        " without it the page is read once.",
        examples=[1440],
    )


class Source(bodies.Answer):
    id: int = Field(examples=[5])
    knowledgeBaseId: int = bodies.attribute("base_id")
    kind: Annotated[Literal["web", "drive"], BeforeValidator(SourceKind.__str__)]
    address: str = Field(examples=["https://docs.example.com/sitemap.xml"])
    instanceId: int | None = Field(description="The channel instance that feeds a folder.")
    every: float | None = Field(
        description="Minutes between two passes; null: it was read once.", examples=[1440]
    )
    createdBy: str = Field(examples=["ann"])
    createdAt: bodies.Timestamp
    state: Annotated[Literal["waiting", "reading", "idle"], BeforeValidator(SourceState.__str__)] = Field(
        examples=["idle"]
    )
    readAt: bodies.OptionalTimestamp = Field(description="The end of the last pass.")
    nextAt: bodies.OptionalTimestamp
    error: str | None = Field(description="Why the last pass could not be ended well.")
    note: str | None = Field(description="What is passed over.")
    found: int = Field(description="Pages or files that it names.", examples=[120])
    read: int = Field(description="Those that are found in the base.", examples=[118])
    failed: int = Field(description="Those that say why they are not read.", examples=[2])
    waiting: int = Field(description="Those still to be read in this pass.", examples=[0])


class SourceAnswer(bodies.Answer):
    source: Source


class SourceList(bodies.Answer):
    sources: list[Source] = bodies.attribute("items")
    next: int | None


class SourcePage(bodies.Answer):
    id: int = Field(examples=[9])
    address: str = Field(examples=["https://docs.example.com/pumps"])
    name: str = Field(examples=["Pumps"])
    status: Annotated[
        Literal["waiting", "processing", "read", "failed", "skipped", "gone", "listed"], BeforeValidator(str)
    ] = Field(
        description="A page that failed keeps what was read before; one that is skipped or gone does not.",
        examples=["read"],
    )
    error: str | None
    readAt: bodies.OptionalTimestamp
    fileId: str | None = bodies.attribute(
        "file_hash", description="The file of the base that it is found as.", examples=[bodies.HASH]
    )


class SourcePageList(bodies.Answer):
    pages: list[SourcePage] = bodies.attribute("items")
    next: int | None


SOURCE = BASE + "/{id}/sources/{sourceId}"
router = APIRouter(route_class=JsonRoute, tags=["knowledge bases"])


SourceId = Annotated[int, id_in_path("sourceId", "Id of a source.", 5)]

KeepFiles = Annotated[
    bool, EmptyIsFalse, Query(description="true: what was read stays in the base.", examples=[False])
]


@router.post(
    BASE + "/{id}/pages",
    status_code=201,
    response_model=SourceAnswer,
    responses=errors(400, 403, 404),
    summary="Read a web page or a sitemap into a knowledge base; needs UPDATE",
)
async def add_pages(call: Call, base: BaseId, body: AddPages) -> dict[str, model.Source]:
    """Has a web page, the pages of a sitemap, or a file at a web address read in the background, with `every` again
    after so many minutes. An address that the base reads already gets the new interval, and is read now. Needs UPDATE
    (level 2)."""
    return {"source": await call.services.sources.add_pages(call.caller, base, body.url, body.every)}


@router.get(
    BASE + "/{id}/sources",
    response_model=SourceList,
    responses=errors(400, 403, 404),
    summary="The sources of a knowledge base",
)
async def list_sources(call: Call, base: BaseId, page: CursorPage) -> Page[model.Source, int]:
    """Web pages, sitemaps and folders that are read into the base, the newest first, with what came of it."""
    return await call.services.sources.list(call.caller, base, page.limit, page.number)


@router.get(
    SOURCE + "/pages",
    response_model=SourcePageList,
    responses=errors(400, 403, 404),
    summary="The pages of a source; query: state",
)
async def list_pages(
    call: Call,
    base: BaseId,
    source: SourceId,
    page: CursorPage,
    state: Annotated[str, Query(description="Only pages in this state.", examples=["failed"])] = "",
) -> Page[model.SourcePage, int]:
    """The pages or files of a source in the order in which they are read, and why some are not."""
    return await call.services.sources.pages(call.caller, base, source, state, page.limit, page.number)


@router.post(
    SOURCE + "/read",
    status_code=202,
    response_model=bodies.Accepted,
    responses=errors(403, 404),
    summary="Read a source now; needs UPDATE",
)
async def read_source(call: Call, base: BaseId, source: SourceId) -> bodies.Accepted:
    """Begins the next pass at once, or as soon as one that is under way has ended. Needs level 2 (UPDATE)."""
    await call.services.sources.read_now(call.caller, base, source)
    return bodies.Accepted(message="The source is read")


@router.delete(
    SOURCE,
    status_code=204,
    responses=errors(400, 403, 404, 409),
    summary="Remove a source; query: keepFiles; needs UPDATE",
)
async def remove_source(call: Call, base: BaseId, source: SourceId, keepFiles: KeepFiles = False) -> None:
    """Removes a source; its files are deleted in the background, unless `keepFiles` is true. 409 for a folder that a
    channel feeds. Needs level 2 (UPDATE)."""
    await call.services.sources.remove(call.caller, base, source, keep_files=keepFiles)
