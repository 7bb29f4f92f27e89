"""The files of a knowledge base over REST: how far they are, deleting, retrying, their texts; search explained."""

from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import BeforeValidator, Field

from adapters.inbound.rest.bodies import HASH, Accepted, Answer, Pagination, Timestamp, attribute
from adapters.inbound.rest.knowledge import BASE, SearchRequest
from adapters.inbound.rest.knowledge_files import FileStatus, NamePart
from adapters.inbound.rest.routing import BaseId, Call, CursorPage, FileHash, JsonRoute, RequestedPage, errors
from domain.knowledge import model
from domain.knowledge.model import FileText
from domain.knowledge.ranking import Explanation
from domain.paging import Page


class FileFormat(Answer):
    format: Annotated[str, BeforeValidator(str)] = Field(examples=["pdf"])
    available: bool
    how: str = Field(description="What reads it, or what to install.", examples=["pypdf"])


class UploadRules(Answer):
    maxFileBytes: int = attribute("max_bytes", examples=[104857600])
    maxFiles: int = Field(examples=[20])
    formats: list[FileFormat]


class FileState(Answer):
    id: int = Field(examples=[3])
    knowledgeBaseId: int = attribute("base_id")
    fileId: str = attribute("hash", description="Lower-case hex SHA-256 of the bytes.", examples=[HASH])
    fileName: str = attribute("name", examples=["pump.pdf"])
    fileSize: int = attribute("size", description="In bytes.", examples=[48213])
    mimeType: str = Field(examples=["application/pdf"])
    uploadedBy: str
    createdAt: Timestamp
    updatedAt: Timestamp
    status: FileStatus
    progress: Annotated[float, BeforeValidator(lambda progress: round(progress, 3))] = Field(
        description="0 to 1.", examples=[0.0]
    )
    error: str | None
    warnings: list[str] = Field(description="What of it could not be read.", examples=[[]])
    chunkCount: int = Field(examples=[0])
    step: Annotated[
        Literal["waiting", "reading", "preparing_model", "embedding"] | None,
        BeforeValidator(lambda step: None if step is None else str(step)),
    ] = Field(
        description="While it is being processed. `preparing_model`: it is read, and waits for the embedding model"
        " to be prepared, once on each machine.",
        examples=["waiting"],
    )
    queuePosition: int | None = Field(
        description="Place among all uploads that wait, from 1; null once the upload is worked on.",
        examples=[2],
    )


class FileStateList(Answer):
    files: list[FileState] = attribute("items")
    next: int | None


class FileStateAnswer(Answer):
    file: FileState


class ChunkPlace(Answer):
    chunkId: str = Field(examples=["1767225600000-6f1c1b0e-6d0e-4f7e-9a54-0a4c3f5f2b11"])
    position: int = Field(examples=[0])
    start: int | None = Field(description="First character in the whole text.", examples=[0])
    end: int | None = Field(description="The character behind the last.", examples=[28])
    metadata: str | None = Field(examples=['{"position": 0, "page": 3}'])


class FileTextAnswer(Answer):
    file: FileState
    text: str = Field(examples=["ERR-4711: the pump runs dry."])
    start: int = Field(description="Where the stretch begins in the whole text.", examples=[0])
    length: int = Field(description="Characters of the whole text.", examples=[28])
    chunks: list[ChunkPlace] = Field(
        description="Fewer than the limit where they are very long: ask again with the offset behind them."
    )
    pagination: Pagination = attribute("page")


class QueryWord(Answer):
    word: str = Field(examples=["err"])
    chunks: int = Field(description="How many chunks of the base hold it.")
    similar: list[str] = Field(
        description="Words of the base that are like it, where none holds it.", examples=[[]]
    )


class ExplainedHit(Answer):
    chunk: str = attribute("text", examples=["ERR-4711: the pump runs dry."])
    chunkId: str = Field(examples=["1767225600000-6f1c1b0e-6d0e-4f7e-9a54-0a4c3f5f2b11"])
    fileId: str = attribute("file_hash", examples=[HASH])
    fileName: str = Field(examples=["pump.pdf"])
    metadata: str | None = Field(examples=['{"position": 0, "page": 3}'])
    similarity: float = Field(description="The higher of both scores.", examples=[0.872])
    textScore: float = Field(examples=[0.872])
    vectorScore: float | None = Field(description="Null where vectors were not compared.", examples=[0.641])
    rank: int | None = Field(description="Place in the answer of the search, null behind the tenth.")
    textRank: int | None = Field(description="Place in what the text search found alone.", examples=[1])
    vectorRank: int | None = Field(description="Place in what the vector search found alone.", examples=[3])
    highlights: list[tuple[int, int]] = Field(
        description="Characters of `chunk`: first, and behind the last.", examples=[[[0, 3], [4, 8]]]
    )


class ExplanationAnswer(Answer):
    words: list[QueryWord]
    results: list[ExplainedHit] = attribute("hits")
    byMeaning: bool = Field(description="Whether vectors were compared.")


FILE = BASE + "/{id}/files/{fileId}"
router = APIRouter(route_class=JsonRoute, tags=["knowledge bases"])


@router.get(
    BASE + "/upload-rules",
    response_model=UploadRules,
    responses=errors(),
    summary="What one upload may bring",
)
async def upload_rules(call: Call) -> model.UploadRules:
    """The largest file, the most files, and the formats that this installation reads."""
    return await call.services.base_files.rules(call.caller)


@router.get(
    BASE + "/{id}/file-states",
    response_model=FileStateList,
    responses=errors(400, 403, 404),
    summary="How far the files of a knowledge base are",
)
async def list_states(
    call: Call, base: BaseId, page: CursorPage, name: NamePart = ""
) -> Page[model.FileState, int]:
    """The files without their texts, the newest first."""
    return await call.services.base_files.states(call.caller, base, page.limit, page.number, name)


@router.get(FILE, response_model=FileStateAnswer, responses=errors(403, 404), summary="How far a file is")
async def get_state(call: Call, base: BaseId, fileId: FileHash) -> dict[str, model.FileState]:
    """One file of a knowledge base without its text, by its hash."""
    return {"file": await call.services.base_files.state(call.caller, base, fileId)}


@router.delete(
    FILE,
    status_code=204,
    responses=errors(403, 404),
    summary="Delete a file, or cancel its upload; needs UPDATE",
)
async def delete_file(call: Call, base: BaseId, fileId: FileHash) -> None:
    """Deletes a file with its chunks. One that is being processed is cancelled: where its uploader waits for the
    answer, with all files of the upload. Needs level 2 (UPDATE)."""
    await call.services.base_files.remove(call.caller, base, fileId)


@router.post(
    FILE + "/retry",
    status_code=202,
    response_model=Accepted,
    responses=errors(403, 404, 409),
    summary="Process a file again that failed; needs UPDATE",
)
async def retry_file(call: Call, base: BaseId, fileId: FileHash) -> Accepted:
    """Processes a file again that failed. 409 for one that did not. Needs level 2 (UPDATE)."""
    await call.services.base_files.retry(call.caller, base, fileId)
    return Accepted(message="The file is processed again")


@router.get(
    FILE + "/text",
    response_model=FileTextAnswer,
    responses=errors(400, 403, 404),
    summary="A file's text with its chunks; query: limit (5), offset (0)",
)
async def read_text(call: Call, page: RequestedPage, base: BaseId, fileId: FileHash) -> FileText:
    """The stretch of the text in which `limit` chunks from `offset` on stand, and where they stand in it. The
    stretches of offsets that follow each other hold the whole text."""
    return await call.services.base_files.text(call.caller, base, fileId, page.limit, page.offset)


@router.post(
    BASE + "/{id}/search/explain",
    response_model=ExplanationAnswer,
    responses=errors(400, 403, 404),
    summary="What a search finds, and why",
)
async def explain_search(call: Call, base: BaseId, body: SearchRequest) -> Explanation:
    """The results of the search with both scores, ranks and highlights, then what only one of the two searches (by
    words, by meaning) found among its best."""
    return await call.services.search.explain(call.caller, base, body.query, body.options())
