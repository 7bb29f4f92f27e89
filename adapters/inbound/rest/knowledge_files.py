"""Files and chunks of knowledge bases over REST; uploads and downloads are streamed."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Path, Query, Request, Response
from pydantic import BeforeValidator, ConfigDict, Field
from starlette.responses import StreamingResponse

from adapters.inbound.rest.bodies import HASH, Answer, Pagination, Timestamp, attribute
from adapters.inbound.rest.errors import JsonResponse, error_response
from adapters.inbound.rest.multipart import MultipartReader
from adapters.inbound.rest.ranges import Span, Unsatisfiable, asked_range, attachment, is_known
from adapters.inbound.rest.routing import (
    LARGEST_PAGE,
    BaseId,
    Call,
    CommaSeparated,
    FileHash,
    Offset,
    RequestedPage,
    RequestedWindow,
    errors,
)
from domain.file_names import MAX_FILE_NAME
from domain.knowledge import model
from domain.knowledge.model import FilesWanted
from domain.knowledge.rules import upload_message
from domain.refusals import Fault, Invalid

FileStatus = Annotated[Literal["processing", "ready", "failed"], BeforeValidator(str)]


class UploadedFile(Answer):
    fileId: str = attribute("hash", description="Lower-case hex SHA-256 of the bytes.", examples=[HASH])
    fileName: str = attribute("name", examples=["pump.pdf"])
    fileSize: int = attribute("size", description="In bytes.", examples=[48213])
    mimeType: str = Field(examples=["application/pdf"])
    status: FileStatus | None = Field(None, description="Only with Prefer: respond-async.")


class UploadAnswer(Answer):
    message: str = Field(examples=["1 file was uploaded."])
    files: list[UploadedFile]
    fileId: str | None = Field(
        default=None, description="This and the following only for a single file.", examples=[HASH]
    )
    fileHash: str | None = Field(default=None, examples=[HASH])
    fileName: str | None = Field(default=None, examples=["pump.pdf"])
    fileSize: int | None = Field(default=None, examples=[48213])
    mimeType: str | None = Field(default=None, examples=["application/pdf"])


class FileRecord(Answer):
    id: int = Field(examples=[3])
    knowledge_base_id: int = attribute("base_id")
    file_name: str = attribute("name", examples=["pump.pdf"])
    file_path: str = attribute(
        "blob_key", examples=["sha256/9f/9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"]
    )
    fileHash: str = attribute("hash", examples=[HASH])
    text: str = Field(examples=["ERR-4711: the pump runs dry."])
    created_at: Timestamp
    updated_at: Timestamp
    status: FileStatus = Field(examples=["ready"])
    progress: Annotated[float, BeforeValidator(lambda progress: round(progress, 3))] = Field(
        description="0 to 1.", examples=[1.0]
    )
    error: str | None
    warnings: list[str] = Field(description="What of it could not be read.", examples=[[]])
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


class TextWindow(Answer):
    fileId: str = attribute("file_hash", examples=[HASH])
    fileName: str = Field(examples=["pump.pdf"])
    text: str = Field(examples=["ERR-4711: the pump runs dry."])
    offset: int = Field(description="Where the text begins in the whole one, in characters.", examples=[0])
    length: int = Field(description="Characters of the whole text; 0 until the file can be found.")
    remaining: int = Field(description="Characters behind these.")
    next: int | None = Field(description="The offset to read on; null behind the last.")


class Chunk(Answer):
    chunkId: str = attribute("id", examples=["1767225600000-6f1c1b0e-6d0e-4f7e-9a54-0a4c3f5f2b11"])
    userId: str = Field(examples=["ann"])
    chunk: str = attribute("text", examples=["ERR-4711: the pump runs dry."])
    fileId: str = attribute("file_hash", examples=[HASH])
    metadata: str | None = Field(examples=['{"position": 0, "page": 3}'])
    createdAt: Timestamp


class ChunkAnswer(Answer):
    chunk: Chunk


class ChunkList(Answer):
    chunks: list[Chunk]
    pagination: Pagination


BASE = "/api/agent/kb"
BYTES = "application/octet-stream"
UPLOAD_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "properties": {
                        "files": {
                            "type": "array",
                            "items": {"type": "string", "contentMediaType": "application/octet-stream"},
                        }
                    },
                    "description": "File parts under any field name.",
                },
                "example": {"files": ["(the bytes of pump.pdf)", "(the bytes of valves.docx)"]},
            }
        },
    }
}
FILE_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {"content": {BYTES: {}}, "description": "The whole file."},
    206: {"content": {BYTES: {}}, "description": "The range asked for."},
    304: {"description": "If-None-Match names this version."},
}
FIELDS = [*FileRecord.model_fields]

router = APIRouter(tags=["knowledge bases"])

FileInPath = Annotated[str, Path(alias="id", description="Hash of a file.", examples=[HASH])]
ChunkInPath = Annotated[
    str,
    Path(
        alias="id",
        description="Id of a chunk.",
        examples=["1767225600000-6f1c1b0e-6d0e-4f7e-9a54-0a4c3f5f2b11"],
    ),
]
NamePart = Annotated[
    str,
    Query(
        max_length=MAX_FILE_NAME,
        description="Only files whose names hold this, in any case.",
        examples=["pump"],
    ),
]


@router.head(BASE + "/download/{fileId}", include_in_schema=False)
@router.get(
    BASE + "/download/{fileId}",
    response_class=Response,
    responses={**errors(404, 416), **FILE_ANSWERS},
    summary="A file's bytes; single ranges are served",
)
async def download(call: Call, request: Request, fileId: FileHash) -> Response:
    """The bytes of a file, as an attachment. Serves single ranges and `If-None-Match`."""
    stored = await call.services.files.download(call.caller, fileId, 0, 0)
    etag = f'"{fileId}"'
    headers = {"content-disposition": attachment(stored.name), "accept-ranges": "bytes", "etag": etag}
    if is_known(request.headers.get("if-none-match"), etag):
        return Response(status_code=304, headers=headers)
    span = None
    # A Range counts for GET (RFC 9110, 14.2), unless If-Range names another version.
    if request.method == "GET" and request.headers.get("if-range", etag) == etag:
        try:
            span = asked_range(request.headers.get("range"), stored.size)
        except Unsatisfiable:
            error = f"range: lies outside the file, which has {stored.size} bytes"
            headers = {"accept-ranges": "bytes", "content-range": f"bytes */{stored.size}"}
            return error_response(416, error, headers)
    served = span or Span(0, stored.size)
    if span:
        headers["content-range"] = f"bytes {span.start}-{span.start + span.length - 1}/{stored.size}"
    headers["content-length"] = str(served.length)
    if request.method == "HEAD":
        return Response(media_type=BYTES, headers=headers)
    file = await call.services.files.download(call.caller, fileId, served.start, served.length)
    return StreamingResponse(file.content, 206 if span else 200, media_type=BYTES, headers=headers)


@router.get(
    BASE + "/file/{id}",
    response_model=FileAnswer,
    responses=errors(404),
    summary="A file's record, by its hash",
)
async def get_file(call: Call, file: FileInPath) -> dict[str, object]:
    """The record of a file, by its hash."""
    return {"file": await call.services.files.get(call.caller, file)}


@router.get(
    BASE + "/file/{id}/text",
    response_model=TextWindow,
    responses=errors(400, 404),
    summary="A file's text; query: limit (10,000 characters), offset (0)",
)
async def read_text(call: Call, window: RequestedWindow, file: FileInPath) -> model.TextWindow:
    """At most 50,000 characters of the text of a file, by its hash. A file that cannot be found yet has none."""
    return await call.services.files.text(call.caller, file, window.limit, window.offset)


@router.get(BASE + "/chunk/{id}", response_model=ChunkAnswer, responses=errors(404), summary="One chunk")
async def get_chunk(call: Call, chunk: ChunkInPath) -> dict[str, object]:
    """One chunk, by its id."""
    return {"chunk": await call.services.files.chunk(call.caller, chunk)}


@router.get(
    BASE + "/chunks/{id}",
    response_model=ChunkList,
    responses=errors(400, 404),
    summary="A file's chunks, in document order; query: limit (5), offset (0)",
)
async def list_chunks(call: Call, page: RequestedPage, file: FileInPath) -> dict[str, object]:
    """The chunks of a file in the order of the document, by the file's hash."""
    chunks = await call.services.files.chunks(call.caller, file, page.limit, page.offset)
    return {"chunks": chunks.items, "pagination": chunks.window}


@router.get(
    BASE + "/{id}/files",
    response_model=FileList,
    responses=errors(400, 403, 404),
    summary="The files of a knowledge base",
)
async def list_files(
    call: Call,
    base: BaseId,
    limit: Annotated[
        int | None,
        Field(ge=1, le=LARGEST_PAGE),
        Query(description="How many; without it, all.", examples=[50]),
    ] = None,
    offset: Offset = 0,
    fields: Annotated[
        list[Annotated[str, Field(json_schema_extra={"enum": [*FIELDS]})]],
        CommaSeparated,
        Query(
            description="Only these fields of each record, separated by commas.",
            examples=[["fileHash", "file_name", "status", "queuePosition"]],
        ),
    ] = [*FIELDS],  # noqa: B006 - not changed
    name: NamePart = "",
) -> Response:
    """The records of the files, with their texts and states, ordered by id. Without parameters all of them with all
    fields; without the field `text` the answer is small."""
    if not fields or {*fields} - {*FIELDS}:
        raise Invalid.of([Fault("fields", f"must be some of {', '.join(FIELDS)}, separated by commas")])
    files = await call.services.files.list(
        call.caller, base, FilesWanted(limit, offset, name, "text" in fields)
    )
    records = [FileRecord.model_validate(file).model_dump(include={*fields}) for file in files]
    return JsonResponse({"files": records})


@router.post(
    BASE + "/{id}/uploadfile",
    status_code=201,
    response_model=UploadAnswer,
    response_model_exclude_none=True,
    responses={
        **errors(400, 403, 404, 409, 413, 415, 422),
        202: {"model": UploadAnswer, "description": "Stored; being processed."},
    },
    openapi_extra=UPLOAD_BODY,
    summary="Upload files, all or none; needs UPDATE",
)
async def upload(
    call: Call,
    base: BaseId,
    request: Request,
    response: Response,
    prefer: Annotated[
        list[str],
        Header(
            alias="Prefer",
            description="respond-async: answer 202 once the files are stored, before they can be found.",
            examples=[["respond-async"]],
        ),
    ] = [],  # noqa: B006 - not changed
) -> UploadAnswer:
    """Stores, parses, chunks and embeds files: all of them, or none. Answers once they can be found, or at once with
    `Prefer: respond-async` (202). Needs level 2 (UPDATE)."""
    preferences = ",".join(prefer).lower().split(",")
    respond_async = "respond-async" in (preference.split(";")[0].strip() for preference in preferences)
    incoming = MultipartReader(request.headers.get("content-type", ""), request.stream()).files()
    files = await call.services.files.upload(call.caller, base, incoming, respond_async)
    listed = [UploadedFile.model_validate(file) for file in files]
    if respond_async:
        response.status_code = 202
        response.headers["preference-applied"] = "respond-async"
    else:
        listed = [file.model_copy(update={"status": None}) for file in listed]
    answer = UploadAnswer(message=upload_message(len(files), respond_async=respond_async), files=listed)
    if len(listed) != 1:
        return answer
    single = listed[0].model_dump(exclude={"status"})  # it stands at the top as well
    return answer.model_copy(update={**single, "fileHash": single["fileId"]})
