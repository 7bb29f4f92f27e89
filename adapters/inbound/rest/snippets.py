"""Snippets over REST: answers that are written beforehand."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field, StrictBool

from adapters.inbound.rest import bodies
from adapters.inbound.rest.routing import Call, CursorPage, JsonRoute, errors, id_in_path
from domain import limits
from domain.conversations import model
from domain.conversations.snippets import NewSnippet, SnippetChange
from domain.paging import Page


class Snippet(bodies.Answer):
    id: int = Field(examples=[7])
    name: str = Field(examples=["Greeting"])
    text: str = Field(
        description="Markdown; `{{name}}` stands for the name of the person who gets it.",
        examples=["Hello {{name}}, how can I help?"],
    )
    userId: str | None = Field(
        description="Whose own it is; null for one of a team or of all.", examples=["ann"]
    )
    teamId: int | None = Field(description="The team whose it is.", examples=[None])
    createdAt: bodies.Timestamp
    updatedAt: bodies.Timestamp


class SnippetList(bodies.Answer):
    snippets: list[Snippet] = bodies.attribute("items")
    next: int | None


Name = Annotated[bodies.Text, Field(min_length=1, max_length=limits.KEY_NAME, examples=["Greeting"])]
SnippetText = Annotated[
    bodies.Text,
    Field(
        min_length=1,
        max_length=limits.MESSAGE_TEXT,
        description="Markdown; `{{name}}` stands for the name of the person who gets it.",
        examples=["Hello {{name}}, how can I help?"],
    ),
]


class CreateSnippet(bodies.StrictBody):
    name: Name
    text: SnippetText
    teamId: bodies.Id | None = Field(None, description="Of this team; without it your own.", examples=[3])
    forAll: StrictBool = Field(False, description="Of all; for admins.", examples=[False])


class ChangeSnippet(bodies.StrictBody):
    name: Name | None = None
    text: SnippetText | None = None


SNIPPETS = "/api/agent/snippets"
router = APIRouter(route_class=JsonRoute, tags=["snippets"])
SnippetId = Annotated[int, id_in_path("snippetId", "Id of a snippet.", 7)]


@router.get(SNIPPETS, response_model=SnippetList, responses=errors(400), summary="Snippets")
async def list_snippets(
    call: Call,
    page: CursorPage,
    query: Annotated[
        str,
        Query(
            max_length=limits.CONVERSATION_QUERY,
            description="A part of the name or the text.",
            examples=["greet"],
        ),
    ] = "",
) -> Page[model.Snippet, int]:
    """Your own, those of your teams and those of all; ordered by id."""
    return await call.services.snippets.list(call.caller, query, page.number, page.limit)


@router.post(
    SNIPPETS, status_code=201, response_model=Snippet, responses=errors(400, 403), summary="Write a snippet"
)
async def create_snippet(call: Call, body: CreateSnippet) -> model.Snippet:
    """Your own, unless it is of a team that you are a member of, or of all."""
    new = NewSnippet(body.name, body.text, body.teamId, body.forAll)
    return await call.services.snippets.create(call.caller, new)


@router.get(SNIPPETS + "/{snippetId}", response_model=Snippet, responses=errors(404), summary="One snippet")
async def get_snippet(call: Call, snippet: SnippetId) -> model.Snippet:
    """404 for what belongs to others."""
    return await call.services.snippets.get(call.caller, snippet)


@router.put(
    SNIPPETS + "/{snippetId}",
    response_model=Snippet,
    responses=errors(400, 403, 404),
    summary="Change a snippet",
)
async def change_snippet(call: Call, snippet: SnippetId, body: ChangeSnippet) -> model.Snippet:
    """Fields that are left out stay. Snippets of all are changed by admins."""
    return await call.services.snippets.change(call.caller, snippet, SnippetChange(body.name, body.text))


@router.delete(
    SNIPPETS + "/{snippetId}", status_code=204, responses=errors(403, 404), summary="Delete a snippet"
)
async def delete_snippet(call: Call, snippet: SnippetId) -> None:
    """Messages that were sent with it stay as they are."""
    await call.services.snippets.delete(call.caller, snippet)
