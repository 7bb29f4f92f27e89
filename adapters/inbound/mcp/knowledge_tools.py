"""Tools for knowledge bases, which are named by name or id."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, ClassVar

from pydantic import BeforeValidator, Field, JsonValue

from adapters.inbound.mcp.tools import Cursor, Limit, Next, ToolCall
from adapters.inbound.rest.bodies import Answer, Text, WholeNumber, attribute
from adapters.inbound.rest.knowledge import SearchRequest
from adapters.inbound.rest.knowledge_files import TextWindow
from adapters.inbound.rest.routing import parsed_id
from domain.access.model import Caller
from domain.access.sharing import Level
from domain.knowledge.model import Base
from domain.knowledge.rules import DEFAULT_WINDOW, LARGEST_WINDOW, NO_BASE
from domain.paging import cursor_of, read_cursor
from domain.refusals import Fault, Invalid, NotFound
from domain.use_cases import UseCases

MOST_BASES = 50
SHOWN_DESCRIPTION = 500
"""Characters of a description in a list."""
BASE_URI = "switchboard://knowledge-bases/"


def base_uri(base_id: int) -> str:
    return f"{BASE_URI}{base_id}"


async def page_of_bases(
    services: UseCases, caller: Caller, limit: int, cursor: str | None
) -> tuple[Sequence[Base], str | None]:
    """Those that the caller may access, by id, and the cursor of the next page. Raises `Invalid`."""
    after = read_cursor(cursor, int)
    bases = sorted(await services.bases.list(caller), key=lambda base: base.id)
    following = [base for base in bases if after is None or (base.id,) > after]
    more = len(following) > limit
    return following[:limit], cursor_of(following[limit - 1].id) if more else None


async def find_base(services: UseCases, caller: Caller, name: str) -> int:
    """The id of a base that is named by its id or its name. Raises `NotFound`, `Invalid`."""
    base_id = parsed_id(name.strip())
    if base_id is not None:
        return base_id
    folded = name.strip().casefold()
    named = [base for base in await services.bases.list(caller) if base.name.strip().casefold() == folded]
    if not named:
        raise NotFound(f"knowledgeBase: {NO_BASE}; list_knowledge_bases gives those that there are")
    if len(named) > 1:
        ids = ", ".join(str(base.id) for base in named[:20])
        raise Invalid.of([Fault("knowledgeBase", f"several have this name; give one of the ids {ids}")])
    return named[0].id


LevelName = Annotated[str, BeforeValidator(lambda level: Level(level or 0).name.lower())]
Metadata = Annotated[
    dict[str, JsonValue],
    BeforeValidator(lambda text: json.loads(text) if text else {}),
    Field(description="Where it stands in the file: page, headings, sheet, rows, slide, times, characters."),
]
BaseName = Annotated[
    Text,
    BeforeValidator(lambda name: str(name) if type(name) is int else name, json_schema_input_type=int | str),
    Field(description="Id of the knowledge base, or its exact name, as list_knowledge_bases gives them."),
]
FileId = Annotated[Text, Field(max_length=64, description="Lower-case hex SHA-256 of the file.")]


class ListedBase(Answer):
    id: int
    name: str
    description: Annotated[str, BeforeValidator(lambda text: text[:SHOWN_DESCRIPTION])] = Field(
        description="What is in it, its beginning."
    )
    permission: LevelName = attribute("level", description="What you may do: read, update or delete.")
    uri: str = Field(description="The base as a resource, with the list of its files.")


class BaseList(Answer):
    knowledgeBases: list[ListedBase]
    next: Next


class ListKnowledgeBases(ToolCall):
    """Lists the knowledge bases that you may read: collections of documents that can be searched. Begin here to learn
    the ids and what each base is about."""

    TITLE: ClassVar = "List knowledge bases"
    ANSWER: ClassVar = BaseList

    limit: Limit = MOST_BASES
    cursor: Cursor = None

    async def run(self, services: UseCases, caller: Caller) -> Answer:
        bases, following = await page_of_bases(services, caller, self.limit, self.cursor)
        listed = [ListedBase.model_validate({**asdict(base), "uri": base_uri(base.id)}) for base in bases]
        return BaseList(knowledgeBases=listed, next=following)


class FoundChunk(Answer):
    chunkId: str
    fileId: str = attribute("file_hash")
    fileName: str
    url: str = Field(description="The file at a signed address, for people: it needs no key and expires.")
    sourceUrl: str | None = Field(description="Where a source of the base read the file, such as a web page.")
    text: str
    similarity: float = Field(description="0 to 1, higher is more relevant: the higher of both scores.")
    textScore: float | None = Field(description="Of the search by words; null: it did not find this.")
    vectorScore: float | None = Field(description="Of the search by meaning; null: it did not find this.")
    highlights: list[tuple[int, int]] = Field(
        description="With `highlight`: characters of `text`, first, and behind the last."
    )
    metadata: Metadata


class SearchAnswer(Answer):
    knowledgeBaseId: int
    results: list[FoundChunk] = Field(description="The most relevant first. Empty: nothing was found.")


class SearchKnowledge(ToolCall, SearchRequest):
    """Searches one knowledge base by words and by meaning, and gives the most relevant passages of its documents. Ask
    in a full sentence or with key words; codes such as ERR-4711 are found too. Needs the permission read where the
    installation is strict."""

    TITLE: ClassVar = "Search a knowledge base"
    ANSWER: ClassVar = SearchAnswer

    knowledgeBase: BaseName

    async def run(self, services: UseCases, caller: Caller) -> Answer:
        base_id = await find_base(services, caller, self.knowledgeBase)
        results = await services.search.search(caller, base_id, self.query, self.options())
        chunks = [FoundChunk.model_validate(result) for result in results]
        return SearchAnswer(knowledgeBaseId=base_id, results=chunks)


class ChunkAnswer(Answer):
    chunkId: str = attribute("id")
    fileId: str = attribute("file_hash")
    text: str
    metadata: Metadata


class ReadChunk(ToolCall):
    """Reads one passage by the chunkId that a search gave, or that an answer cited, with its place in the file: page,
    headings, rows, times."""

    TITLE: ClassVar = "Read a passage"
    ANSWER: ClassVar = ChunkAnswer

    chunkId: Annotated[Text, Field(max_length=100, description="As search_knowledge gives it.")]

    async def run(self, services: UseCases, caller: Caller) -> Answer:
        return ChunkAnswer.model_validate(await services.files.chunk(caller, self.chunkId))


class ReadFile(ToolCall):
    """Reads the text of a file of a knowledge base, some thousand characters at a time, by the fileId that a search
    gave. `remaining` says how much is left."""

    TITLE: ClassVar = "Read a file"
    ANSWER: ClassVar = TextWindow

    fileId: FileId
    offset: WholeNumber = Field(0, ge=0, le=2**31 - 1, description="The first character to read, from 0.")
    limit: WholeNumber = Field(DEFAULT_WINDOW, ge=1, le=LARGEST_WINDOW, description="Characters to read.")

    async def run(self, services: UseCases, caller: Caller) -> Answer:
        window = await services.files.text(caller, self.fileId, self.limit, self.offset)
        return TextWindow.model_validate(window)
