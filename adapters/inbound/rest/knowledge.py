"""Knowledge bases over REST: the bases, who may use them, search. Files: knowledge_files.py."""

from typing import Annotated, Literal

from fastapi import APIRouter, Request
from pydantic import BeforeValidator, Field, StrictBool

from adapters.inbound.rest.asgi import while_connected
from adapters.inbound.rest.bodies import (
    HASH,
    Answer,
    Body,
    Config,
    GranteeAnswer,
    GranteeBody,
    Number,
    StrictBody,
    Text,
    Timestamp,
    WholeNumber,
    attribute,
)
from adapters.inbound.rest.routing import BaseId, Call, JsonRoute, call_of, errors, path_id
from domain import limits
from domain.access.sharing import Level, require
from domain.knowledge import rules
from domain.knowledge.model import BaseChange, EarlierTurn, KnowledgeAnswer, NewBase


class KnowledgeBase(Answer):
    id: int
    name: str = Field(examples=["Handbook"])
    description: str = Field(examples=["How we work"])
    created_by: str = Field(examples=["ann"])
    created_at: Timestamp
    updated_at: Timestamp


class ListedKnowledgeBase(KnowledgeBase):
    permission_level: Annotated[int, BeforeValidator(lambda level: level or Level.NONE)] = attribute(
        "level", description="The caller's level: 1 READ, 2 UPDATE, 3 DELETE.", examples=[3]
    )


class KnowledgeBaseList(Answer):
    knowledgeBases: list[ListedKnowledgeBase]


class KnowledgeBaseAnswer(Answer):
    knowledgeBase: KnowledgeBase


class CreateKnowledgeBase(Body):
    name: Text = Field(max_length=limits.BASE_NAME, examples=["Handbook"])
    description: Text | None = Field(None, max_length=limits.DESCRIPTION, examples=["How we work"])
    kb_manifest: Config | None = Field(None, description="Default: { files: [] }.")


class CreatedKnowledgeBase(Answer):
    id: int
    name: str = Field(examples=["Handbook"])
    description: str = Field(examples=["How we work"])
    type: Literal["kb"]
    status: Literal["published"]


class UpdateKnowledgeBase(Body):
    name: Text | None = Field(None, max_length=limits.BASE_NAME, examples=["Handbook"])
    description: Text | None = Field(None, max_length=limits.DESCRIPTION)


class SetPermission(GranteeBody):
    permission_level: WholeNumber = Field(description="0 revokes, 1 READ, 2 UPDATE, 3 DELETE.")


class Permission(GranteeAnswer):
    permission_level: int = attribute("level")


class PermissionList(Answer):
    permissions: list[Permission]


class SearchRequest(StrictBody):
    query: Text = Field(max_length=limits.QUERY, examples=["What does error ERR-4711 mean?"])
    topK: WholeNumber = Field(10, ge=1, le=rules.MOST_RESULTS, description="The most results.", examples=[10])
    minSimilarity: Number = Field(
        0.0, ge=0, le=1, description="Less similar chunks are left out.", examples=[0.3]
    )
    fileIds: list[Text] | None = Field(
        None,
        min_length=1,
        max_length=rules.MOST_FILES,
        description="Only in these files; without it in all of the base. A file that the base does not have"
        " gives no results.",
        examples=[[HASH]],
    )
    perFile: WholeNumber | None = Field(
        None, ge=1, le=rules.MOST_OF_FILE, description="At most so many results of one file.", examples=[2]
    )
    mode: Literal["hybrid", "text", "vector"] = Field(
        "hybrid",
        description="Which search runs: both, the one by words, the one by meaning.",
        examples=["hybrid"],
    )
    highlight: StrictBool = Field(
        False, description="Whether to tell where words of the query stand.", examples=[True]
    )

    def options(self) -> rules.SearchOptions:
        files = tuple(dict.fromkeys(self.fileIds or ()))
        return rules.SearchOptions(
            self.topK, self.minSimilarity, files, self.perFile, rules.Mode(self.mode), self.highlight
        )


class Place(Answer):
    position: int | None = Field(description="Number of the chunk in its file, from 0.", examples=[0])
    title: str | None = Field(examples=["The pump"])
    headingPath: list[str] = Field(examples=[["Faults"]])
    page: int | None = Field(examples=[3])
    pageEnd: int | None
    slide: int | None
    sheet: str | None
    rowStart: int | None
    rowEnd: int | None
    timeStart: float | None = Field(description="In seconds, as `timeEnd`.")
    timeEnd: float | None


class SearchResult(Answer):
    chunk: str = attribute("text", examples=["ERR-4711: the pump runs dry."])
    fileId: str = attribute("file_hash", examples=[HASH])
    metadata: str | None = Field(
        description="JSON text: page, headings, sheet, rows, slide, times, position.",
        examples=['{"position": 0, "page": 3}'],
    )
    similarity: float = Field(description="0 to 1, higher is more relevant.", examples=[0.872])
    chunkId: str = Field(examples=["1767225600000-6f1c1b0e-6d0e-4f7e-9a54-0a4c3f5f2b11"])
    fileName: str = Field(examples=["pump.pdf"])
    url: str = Field(
        description="The file at a signed address, which needs no key and expires.",
        examples=["https://agents.example.com/api/agent/files/mF2/pump.pdf"],
    )
    sourceUrl: str | None = Field(description="Where a source of the base read the file.")
    textScore: float | None = Field(
        description="Null where the search by words did not find it.", examples=[0.872]
    )
    vectorScore: float | None = Field(
        description="Null where the search by meaning did not find it.", examples=[0.641]
    )
    highlights: list[tuple[int, int]] = Field(
        description="With `highlight`: characters of `chunk`, first, and behind the last.",
        examples=[[[0, 3], [4, 8]]],
    )
    place: Place = Field(description="What the metadata tells of the place; null for what is not known.")


class SearchAnswer(Answer):
    results: list[SearchResult]


class AskTurn(StrictBody):
    role: Literal["user", "assistant"]
    content: Text = Field(max_length=limits.EARLIER_TURN, examples=["Which errors are there?"])

    def turn(self) -> EarlierTurn:
        return EarlierTurn(self.role, self.content)


class AskRequest(StrictBody):
    question: Text = Field(max_length=limits.QUESTION, examples=["What does error ERR-4711 mean?"])
    history: list[AskTurn] = Field(
        default_factory=list,
        max_length=limits.EARLIER_TURNS,
        description="What was said before, the oldest first.",
    )


class Citation(Answer):
    index: int = Field(description="The number in the answer: 1 for [1].")
    chunkId: str = Field(examples=["1767225600000-6f1c1b0e-6d0e-4f7e-9a54-0a4c3f5f2b11"])
    fileName: str = Field(examples=["pump.pdf"])
    page: int | None = Field(examples=[3])
    quote: str = Field(
        description="A stretch of the chunk, word for word.", examples=["ERR-4711: the pump runs dry."]
    )


class AskAnswer(Answer):
    answer: str = Field(description="Markdown with marks such as [1].", examples=["The pump runs dry [1]."])
    citations: list[Citation]
    searched: bool = Field(
        description="False where a model answered without a search: nothing in the base bears the answer out."
    )


BASE = "/api/agent/kb"
router = APIRouter(route_class=JsonRoute, tags=["knowledge bases"])


class UpdaterRoute(JsonRoute):
    """A route whose body is read for those alone who may update the base."""

    level = Level.UPDATE

    async def before_body(self, request: Request) -> None:
        """Raises `NotFound`, `Forbidden`."""
        base_id = path_id(request.path_params["id"], rules.NO_BASE)
        call = await call_of(request)
        base = await call.services.bases.get(call.caller, base_id)
        require(base.level or Level.NONE, self.level)


class DeleterRoute(UpdaterRoute):
    level = Level.DELETE


updaters = APIRouter(route_class=UpdaterRoute)
deleters = APIRouter(route_class=DeleterRoute)


@router.get(
    BASE,
    response_model=KnowledgeBaseList,
    responses=errors(),
    summary="The knowledge bases that the caller may access",
)
async def list_bases(call: Call) -> dict[str, object]:
    """The knowledge bases that the caller may access, with the caller's level on each."""
    return {"knowledgeBases": await call.services.bases.list(call.caller)}


@router.post(
    BASE,
    status_code=201,
    response_model=CreatedKnowledgeBase,
    responses=errors(400, 413),
    summary="Create a knowledge base",
)
async def create_base(call: Call, body: CreateKnowledgeBase) -> CreatedKnowledgeBase:
    """Creates a knowledge base of the caller, who gets level 3 (DELETE) on it."""
    new = NewBase(body.name, body.description or "")
    if body.kb_manifest is not None:
        new = NewBase(body.name, body.description or "", body.kb_manifest)
    base = await call.services.bases.create(call.caller, new)
    return CreatedKnowledgeBase(
        id=base.id, name=base.name, description=base.description, type="kb", status="published"
    )


@router.get(
    BASE + "/{id}",
    response_model=KnowledgeBaseAnswer,
    responses=errors(403, 404),
    summary="One knowledge base; needs READ",
)
async def get_base(call: Call, base: BaseId) -> dict[str, object]:
    """One knowledge base. Needs level 1 (READ)."""
    return {"knowledgeBase": await call.services.bases.get(call.caller, base)}


@updaters.put(
    BASE + "/{id}",
    status_code=204,
    responses=errors(400, 403, 404),
    summary="Rename or describe a knowledge base; needs UPDATE",
)
async def update_base(call: Call, base: BaseId, body: UpdateKnowledgeBase) -> None:
    """Changes the name or the description. Needs level 2 (UPDATE)."""
    await call.services.bases.update(call.caller, base, BaseChange(body.name, body.description))


@router.delete(
    BASE + "/{id}",
    status_code=204,
    responses=errors(403, 404),
    summary="Delete a knowledge base with its files and chunks; needs DELETE",
)
async def delete_base(call: Call, base: BaseId) -> None:
    """Deletes the knowledge base with its files and chunks. Needs level 3 (DELETE)."""
    await call.services.bases.delete(call.caller, base)


@router.get(
    BASE + "/{id}/permissions",
    response_model=PermissionList,
    responses=errors(403, 404),
    summary="Who may use a knowledge base; needs DELETE",
)
async def list_permissions(call: Call, base: BaseId) -> dict[str, object]:
    """Who may use the knowledge base, at which level. Needs level 3 (DELETE)."""
    return {"permissions": await call.services.bases.permissions(call.caller, base)}


@deleters.put(
    BASE + "/{id}/permissions",
    status_code=204,
    responses=errors(400, 403, 404),
    summary="Share a knowledge base, or stop sharing it; needs DELETE",
)
async def set_permission(call: Call, base: BaseId, body: SetPermission) -> None:
    """Gives a user or a team a level, or takes it away with 0. Needs level 3 (DELETE)."""
    await call.services.bases.set_permission(call.caller, base, body.grantee(), body.permission_level)


@router.post(
    BASE + "/{id}/search",
    response_model=SearchAnswer,
    responses=errors(400, 403, 404),
    summary="Search by words and by meaning; ten results unless more are asked for",
)
async def search_base(call: Call, base: BaseId, body: SearchRequest) -> dict[str, object]:
    """Searches by words and by meaning and returns the best chunks. An unknown field is refused."""
    return {"results": await call.services.search.search(call.caller, base, body.query, body.options())}


@router.post(
    BASE + "/{id}/ask",
    response_model=AskAnswer,
    responses=errors(400, 403, 404, 413, 429),
    summary="Ask a knowledge base; the answer cites its passages",
)
async def ask_base(call: Call, base: BaseId, body: AskRequest, request: Request) -> KnowledgeAnswer:
    """Answers from the base by the model that a rule of RESOURCES_FILE puts behind `agent::kb-<id>`, else with the
    best passages. Each citation is a passage of the base. 503 where the model gives no answer."""
    history = [turn.turn() for turn in body.history]
    asked = call.services.questions.ask(call.caller, base, body.question, history)
    return await while_connected(request, asked)


router.include_router(updaters)
router.include_router(deleters)
