"""The bodies of the routes of files of a knowledge base, and of explained searches."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from adapters.inbound.rest.bodies import Answer, Timestamp, attribute
from adapters.inbound.rest.knowledge_schemas import FileStatus
from adapters.inbound.rest.schemas import Pagination


class FileFormat(Answer):
    format: Annotated[str, BeforeValidator(str)]
    available: bool
    how: str = Field(description="What reads it, or what to install.")


class UploadRules(Answer):
    maxFileBytes: int = attribute("max_bytes")
    maxFiles: int
    formats: list[FileFormat]


class FileState(Answer):
    id: int
    knowledgeBaseId: int = attribute("base_id")
    fileId: str = attribute("hash", description="Lower-case hex SHA-256 of the bytes.")
    fileName: str = attribute("name")
    fileSize: int = attribute("size", description="In bytes.")
    mimeType: str
    uploadedBy: str
    createdAt: Timestamp
    updatedAt: Timestamp
    status: FileStatus
    progress: Annotated[float, BeforeValidator(lambda progress: round(progress, 3))] = Field(
        description="0 to 1."
    )
    error: str | None
    warnings: list[str] = Field(description="What of it could not be read.")
    chunkCount: int
    step: Annotated[
        Literal["waiting", "reading", "preparing_model", "embedding"] | None,
        BeforeValidator(lambda step: None if step is None else str(step)),
    ] = Field(
        description="While it is being processed. `preparing_model`: it is read, and waits for the embedding model"
        " to be prepared, once on each machine."
    )
    queuePosition: int | None = Field(
        description="Place among all uploads that wait, from 1; null once the upload is worked on."
    )


class FileStateList(Answer):
    files: list[FileState] = attribute("items")
    next: int | None


class FileStateAnswer(Answer):
    file: FileState


class ChunkPlace(Answer):
    chunkId: str
    position: int
    start: int | None = Field(description="First character in the whole text.")
    end: int | None = Field(description="The character behind the last.")
    metadata: str | None


class FileTextAnswer(Answer):
    file: FileState
    text: str
    start: int = Field(description="Where the stretch begins in the whole text.")
    length: int = Field(description="Characters of the whole text.")
    chunks: list[ChunkPlace] = Field(
        description="Fewer than the limit where they are very long: ask again with the offset behind them."
    )
    pagination: Pagination = attribute("page")


class QueryWord(Answer):
    word: str
    chunks: int = Field(description="How many chunks of the base hold it.")
    similar: list[str] = Field(description="Words of the base that are like it, where none holds it.")


class ExplainedHit(Answer):
    chunk: str = attribute("text")
    chunkId: str
    fileId: str = attribute("file_hash")
    fileName: str
    metadata: str | None
    similarity: float = Field(description="The higher of both scores.")
    textScore: float
    vectorScore: float | None = Field(description="Null where vectors were not compared.")
    rank: int | None = Field(description="Place in the answer of the search, null behind the tenth.")
    textRank: int | None = Field(description="Place in what the text search found alone.")
    vectorRank: int | None = Field(description="Place in what the vector search found alone.")
    highlights: list[tuple[int, int]] = Field(
        description="Characters of `chunk`: first, and behind the last."
    )


class ExplanationAnswer(Answer):
    words: list[QueryWord]
    results: list[ExplainedHit] = attribute("hits")
    byMeaning: bool = Field(description="Whether vectors were compared.")
