"""The bodies of the routes of sources."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, ConfigDict, Field

from adapters.inbound.rest.bodies import Answer, Body, OptionalTimestamp, Text, Timestamp, attribute
from domain import limits
from domain.knowledge.sources.model import SourceKind, SourceState
from domain.knowledge.sources.service import LEAST_MINUTES, MOST_MINUTES


class AddPages(Body):
    model_config = ConfigDict(extra="forbid")

    url: Text = Field(
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


class Source(Answer):
    id: int
    knowledgeBaseId: int = attribute("base_id")
    kind: Annotated[Literal["web", "drive"], BeforeValidator(SourceKind.__str__)]
    address: str
    instanceId: int | None = Field(description="The channel instance that feeds a folder.")
    every: float | None = Field(description="Minutes between two passes; null: it was read once.")
    createdBy: str
    createdAt: Timestamp
    state: Annotated[Literal["waiting", "reading", "idle"], BeforeValidator(SourceState.__str__)]
    readAt: OptionalTimestamp = Field(description="The end of the last pass.")
    nextAt: OptionalTimestamp
    error: str | None = Field(description="Why the last pass could not be ended well.")
    note: str | None = Field(description="What is passed over.")
    found: int = Field(description="Pages or files that it names.")
    read: int = Field(description="Those that are found in the base.")
    failed: int = Field(description="Those that say why they are not read.")
    waiting: int = Field(description="Those still to be read in this pass.")


class SourceAnswer(Answer):
    source: Source


class SourceList(Answer):
    sources: list[Source] = attribute("items")
    next: int | None


class SourcePage(Answer):
    id: int
    address: str
    name: str
    status: Annotated[
        Literal["waiting", "processing", "read", "failed", "skipped", "gone", "listed"], BeforeValidator(str)
    ] = Field(
        description="A page that failed keeps what was read before; one that is skipped or gone does not."
    )
    error: str | None
    readAt: OptionalTimestamp
    fileId: str | None = attribute("file_hash", description="The file of the base that it is found as.")


class SourcePageList(Answer):
    pages: list[SourcePage] = attribute("items")
    next: int | None
