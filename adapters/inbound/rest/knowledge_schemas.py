"""The bodies of the knowledge routes."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, Field

from adapters.inbound.rest.schemas import Body, Config, Pagination, Text, whole
from domain import limits

Whole = Annotated[int, BeforeValidator(whole)]
STATUS = Literal["processing", "ready", "failed"]


class KnowledgeBase(BaseModel):
    id: int
    name: str
    description: str
    created_by: str
    created_at: str
    updated_at: str


class ListedKnowledgeBase(KnowledgeBase):
    permission_level: int = Field(description="The caller's level: 1 READ, 2 UPDATE, 3 DELETE.")


class KnowledgeBaseList(BaseModel):
    knowledgeBases: list[ListedKnowledgeBase]


class KnowledgeBaseAnswer(BaseModel):
    knowledgeBase: KnowledgeBase


class CreateKnowledgeBase(Body):
    name: Text = Field(max_length=limits.BASE_NAME)
    description: Text | None = Field(None, max_length=limits.DESCRIPTION)
    kb_manifest: Config | None = Field(None, description="Default: { files: [] }.")


class CreatedKnowledgeBase(BaseModel):
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
    permission_level: Whole = Field(description="0 revokes, 1 READ, 2 UPDATE, 3 DELETE.")


class Permission(BaseModel):
    userId: str
    permission_level: int


class PermissionList(BaseModel):
    permissions: list[Permission]


class UploadedFile(BaseModel):
    fileId: str = Field(description="Lower-case hex SHA-256 of the bytes.")
    fileName: str
    fileSize: int = Field(description="In bytes.")
    mimeType: str
    status: STATUS | None = Field(None, description="Only with Prefer: respond-async.")


class UploadAnswer(BaseModel):
    message: str
    files: list[UploadedFile]
    fileId: str | None = Field(None, description="This and the following only for a single file.")
    fileHash: str | None = None
    fileName: str | None = None
    fileSize: int | None = None
    mimeType: str | None = None


class FileRecord(BaseModel):
    id: int
    knowledge_base_id: int
    file_name: str
    file_path: str
    fileHash: str
    text: str
    created_at: str
    updated_at: str
    status: STATUS
    progress: float = Field(description="0 to 1.")
    error: str | None


class FileList(BaseModel):
    files: list[FileRecord]


class FileAnswer(BaseModel):
    file: FileRecord


class SearchRequest(Body):
    query: Text = Field(max_length=limits.QUERY)


class SearchResult(BaseModel):
    chunk: str
    fileId: str
    metadata: str | None = Field(
        description="JSON text: page, headings, sheet, rows, slide, times, position."
    )
    similarity: float = Field(description="0 to 1, higher is more relevant.")
    chunkId: str


class SearchAnswer(BaseModel):
    results: list[SearchResult]


class Chunk(BaseModel):
    chunkId: str
    userId: str
    chunk: str
    fileId: str
    metadata: str | None
    createdAt: str


class ChunkAnswer(BaseModel):
    chunk: Chunk


class ChunkList(BaseModel):
    chunks: list[Chunk]
    pagination: Pagination
