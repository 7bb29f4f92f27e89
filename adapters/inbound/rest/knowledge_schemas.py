"""The bodies of the knowledge routes."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from adapters.inbound.rest.bodies import Answer, Body, Config, Text, Timestamp, WholeNumber, attribute
from adapters.inbound.rest.schemas import Pagination
from domain import limits
from domain.knowledge.model import Level

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


class FileList(Answer):
    files: list[FileRecord]


class FileAnswer(Answer):
    file: FileRecord


class SearchRequest(Body):
    query: Text = Field(max_length=limits.QUERY)


class SearchResult(Answer):
    chunk: str = attribute("text")
    fileId: str = attribute("file_hash")
    metadata: str | None = Field(
        description="JSON text: page, headings, sheet, rows, slide, times, position."
    )
    similarity: float = Field(description="0 to 1, higher is more relevant.")
    chunkId: str


class SearchAnswer(Answer):
    results: list[SearchResult]


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
