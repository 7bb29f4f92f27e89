"""The bodies of the knowledge routes."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, StrictBool

from adapters.inbound.rest.bodies import (
    Answer,
    Body,
    Config,
    Number,
    StrictBody,
    Text,
    Timestamp,
    WholeNumber,
    attribute,
)
from adapters.inbound.rest.schemas import Pagination
from domain import limits
from domain.knowledge.model import Level
from domain.knowledge.rules import MOST_FILES, MOST_OF_FILE, MOST_RESULTS, Mode, SearchOptions

FileStatus = Annotated[Literal["processing", "ready", "failed"], BeforeValidator(str)]


class KnowledgeBase(Answer):
    id: int
    name: str
    description: str
    created_by: str
    created_at: Timestamp
    updated_at: Timestamp


class ListedKnowledgeBase(KnowledgeBase):
    permission_level: Annotated[int, BeforeValidator(lambda level: level or Level.NONE)] = attribute(
        "level", description="The caller's level: 1 READ, 2 UPDATE, 3 DELETE."
    )


class KnowledgeBaseList(Answer):
    knowledgeBases: list[ListedKnowledgeBase]


class KnowledgeBaseAnswer(Answer):
    knowledgeBase: KnowledgeBase


class CreateKnowledgeBase(Body):
    name: Text = Field(max_length=limits.BASE_NAME)
    description: Text | None = Field(None, max_length=limits.DESCRIPTION)
    kb_manifest: Config | None = Field(None, description="Default: { files: [] }.")


class CreatedKnowledgeBase(Answer):
    id: int
    name: str
    description: str
    type: Literal["kb"]
    status: Literal["published"]


class UpdateKnowledgeBase(Body):
    name: Text | None = Field(None, max_length=limits.BASE_NAME)
    description: Text | None = Field(None, max_length=limits.DESCRIPTION)


class SetPermission(Body):
    userId: Text = Field(max_length=limits.USER_ID)
    permission_level: WholeNumber = Field(description="0 revokes, 1 READ, 2 UPDATE, 3 DELETE.")


class Permission(Answer):
    userId: str
    permission_level: int = attribute("level")


class PermissionList(Answer):
    permissions: list[Permission]


class UploadedFile(Answer):
    fileId: str = attribute("hash", description="Lower-case hex SHA-256 of the bytes.")
    fileName: str = attribute("name")
    fileSize: int = attribute("size", description="In bytes.")
    mimeType: str
    status: FileStatus | None = Field(None, description="Only with Prefer: respond-async.")


class UploadAnswer(Answer):
    message: str
    files: list[UploadedFile]
    fileId: str | None = Field(default=None, description="This and the following only for a single file.")
    fileHash: str | None = None
    fileName: str | None = None
    fileSize: int | None = None
    mimeType: str | None = None


class FileRecord(Answer):
    id: int
    knowledge_base_id: int = attribute("base_id")
    file_name: str = attribute("name")
    file_path: str = attribute("blob_key")
    fileHash: str = attribute("hash")
    text: str
    created_at: Timestamp
    updated_at: Timestamp
    status: FileStatus
    progress: Annotated[float, BeforeValidator(lambda progress: round(progress, 3))] = Field(
        description="0 to 1."
    )
    error: str | None
    warnings: list[str] = Field(description="What of it could not be read.")
    queuePosition: int | None = Field(
        description="Place of its upload among all that wait, from 1; null once it is worked on."
    )


def _require_nothing(schema: dict[str, Any]) -> None:
    schema.pop("required")


class ListedFileRecord(FileRecord):
    """A record of a list, which has all fields, or those that the query names by `fields`."""

    model_config = ConfigDict(json_schema_extra=_require_nothing)


class FileList(Answer):
    files: list[ListedFileRecord]


class FileAnswer(Answer):
    file: FileRecord


class SearchRequest(StrictBody):
    query: Text = Field(max_length=limits.QUERY)
    topK: WholeNumber = Field(10, ge=1, le=MOST_RESULTS, description="The most results.")
    minSimilarity: Number = Field(0.0, ge=0, le=1, description="Less similar chunks are left out.")
    fileIds: list[Text] | None = Field(
        None,
        min_length=1,
        max_length=MOST_FILES,
        description="Only in these files; without it in all of the base. A file that the base does not have"
        " gives no results.",
    )
    perFile: WholeNumber | None = Field(
        None, ge=1, le=MOST_OF_FILE, description="At most so many results of one file."
    )
    mode: Literal["hybrid", "text", "vector"] = Field(
        "hybrid", description="Which search runs: both, the one by words, the one by meaning."
    )
    highlight: StrictBool = Field(False, description="Whether to tell where words of the query stand.")

    def options(self) -> SearchOptions:
        files = tuple(dict.fromkeys(self.fileIds or ()))
        return SearchOptions(
            self.topK, self.minSimilarity, files, self.perFile, Mode(self.mode), self.highlight
        )


class Place(Answer):
    position: int | None = Field(description="Number of the chunk in its file, from 0.")
    title: str | None
    headingPath: list[str]
    page: int | None
    pageEnd: int | None
    slide: int | None
    sheet: str | None
    rowStart: int | None
    rowEnd: int | None
    timeStart: float | None = Field(description="In seconds, as `timeEnd`.")
    timeEnd: float | None


class SearchResult(Answer):
    chunk: str = attribute("text")
    fileId: str = attribute("file_hash")
    metadata: str | None = Field(
        description="JSON text: page, headings, sheet, rows, slide, times, position."
    )
    similarity: float = Field(description="0 to 1, higher is more relevant.")
    chunkId: str
    fileName: str
    url: str = Field(description="The file at a signed address, which needs no key and expires.")
    sourceUrl: str | None = Field(description="Where a source of the base read the file.")
    textScore: float | None = Field(description="Null where the search by words did not find it.")
    vectorScore: float | None = Field(description="Null where the search by meaning did not find it.")
    highlights: list[tuple[int, int]] = Field(
        description="With `highlight`: characters of `chunk`, first, and behind the last."
    )
    place: Place = Field(description="What the metadata tells of the place; null for what is not known.")


class SearchAnswer(Answer):
    results: list[SearchResult]


class TextWindow(Answer):
    fileId: str = attribute("file_hash")
    fileName: str
    text: str
    offset: int = Field(description="Where the text begins in the whole one, in characters.")
    length: int = Field(description="Characters of the whole text; 0 until the file can be found.")
    remaining: int = Field(description="Characters behind these.")
    next: int | None = Field(description="The offset to read on; null behind the last.")


class Chunk(Answer):
    chunkId: str = attribute("id")
    userId: str
    chunk: str = attribute("text")
    fileId: str = attribute("file_hash")
    metadata: str | None
    createdAt: Timestamp


class ChunkAnswer(Answer):
    chunk: Chunk


class ChunkList(Answer):
    chunks: list[Chunk]
    pagination: Pagination
