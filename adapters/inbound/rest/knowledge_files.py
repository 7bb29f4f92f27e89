"""Files and chunks of knowledge bases over REST; uploads and downloads are streamed."""

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.responses import StreamingResponse

from adapters.inbound.rest import knowledge_schemas as schemas
from adapters.inbound.rest.errors import JsonResponse, error_response
from adapters.inbound.rest.multipart import MultipartReader
from adapters.inbound.rest.ranges import Span, Unsatisfiable, asked_range, attachment, is_known
from adapters.inbound.rest.routing import (
    LARGEST_LIMIT,
    LARGEST_OFFSET,
    BaseId,
    CurrentCaller,
    RequestedPage,
    RequestedWindow,
    Services,
    errors,
    listed,
    whole_number,
)
from domain.file_names import MAX_FILE_NAME
from domain.knowledge.model import FilesWanted, TextWindow, UploadedFile
from domain.knowledge.rules import upload_message
from domain.refusals import Fault, Invalid
from ports.knowledge import Download

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
    },
    "parameters": [
        {
            "name": "Prefer",
            "in": "header",
            "schema": {"type": "string", "enum": ["respond-async"]},
            "description": "respond-async: answer 202 once the files are stored, before they can be found.",
        }
    ],
}
NAME_PARAMETER: dict[str, Any] = {
    "name": "name",
    "in": "query",
    "description": "Only files whose names hold this, in any case.",
    "schema": {"type": "string", "maxLength": MAX_FILE_NAME},
    "example": "pump",
}
FILES_PARAMETERS: list[dict[str, Any]] = [
    {
        "name": "limit",
        "in": "query",
        "description": "How many; without it, all.",
        "schema": {"type": "integer", "minimum": 1, "maximum": LARGEST_LIMIT},
        "example": 50,
    },
    {
        "name": "offset",
        "in": "query",
        "description": "How many to leave out before.",
        "schema": {"type": "integer", "default": 0, "minimum": 0},
    },
    {
        "name": "fields",
        "in": "query",
        "description": "Only these fields of each record, separated by commas.",
        "schema": {
            "type": "array",
            "items": {"type": "string", "enum": list(schemas.FileRecord.model_fields)},
        },
        "explode": False,
        "example": ["fileHash", "file_name", "status", "queuePosition"],
    },
    NAME_PARAMETER,
]
FILE_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {"content": {BYTES: {}}, "description": "The whole file."},
    206: {"content": {BYTES: {}}, "description": "The range asked for."},
    304: {"description": "If-None-Match names this version."},
}


router = APIRouter(tags=["knowledge bases"])


@router.head(BASE + "/download/{fileId}", include_in_schema=False)
@router.get(
    BASE + "/download/{fileId}",
    response_class=Response,
    responses={**errors(404, 416), **FILE_ANSWERS},
    summary="A file's bytes; single ranges are served",
)
async def download(services: Services, caller: CurrentCaller, request: Request, fileId: str) -> Response:
    """The bytes of a file, as an attachment. Serves single ranges and `If-None-Match`."""
    whole = await services.files.download(caller, fileId, 0, 0)
    headers = _file_headers(whole, f'"{fileId}"')
    if is_known(request.headers.get("if-none-match"), headers["etag"]):
        return Response(status_code=304, headers=headers)
    try:
        span = asked_range(_range_header(request, headers["etag"]), whole.size)
    except Unsatisfiable:
        error = f"range: lies outside the file, which has {whole.size} bytes"
        headers = {"accept-ranges": "bytes", "content-range": f"bytes */{whole.size}"}
        return error_response(416, error, headers)
    wanted = span or Span(0, whole.size)
    if span:
        headers["content-range"] = f"bytes {span.start}-{span.start + span.length - 1}/{whole.size}"
    headers["content-length"] = str(wanted.length)
    if request.method == "HEAD":
        return Response(media_type=BYTES, headers=headers)
    file = await services.files.download(caller, fileId, wanted.start, wanted.length)
    return StreamingResponse(file.content, 206 if span else 200, media_type=BYTES, headers=headers)


@router.get(
    BASE + "/file/{id}",
    response_model=schemas.FileAnswer,
    responses=errors(404),
    summary="A file's record, by its hash",
)
async def get_file(services: Services, caller: CurrentCaller, id: str) -> dict[str, object]:
    """The record of a file, by its hash."""
    return {"file": await services.files.get(caller, id)}


@router.get(
    BASE + "/file/{id}/text",
    response_model=schemas.TextWindow,
    responses=errors(400, 404),
    summary="A file's text; query: limit (10,000 characters), offset (0)",
)
async def read_text(
    services: Services, caller: CurrentCaller, window: RequestedWindow, id: str
) -> TextWindow:
    """At most 50,000 characters of the text of a file, by its hash. A file that cannot be found yet has none."""
    return await services.files.text(caller, id, window.limit, window.offset)


@router.get(
    BASE + "/chunk/{id}", response_model=schemas.ChunkAnswer, responses=errors(404), summary="One chunk"
)
async def get_chunk(services: Services, caller: CurrentCaller, id: str) -> dict[str, object]:
    """One chunk, by its id."""
    return {"chunk": await services.files.chunk(caller, id)}


@router.get(
    BASE + "/chunks/{id}",
    response_model=schemas.ChunkList,
    responses=errors(400, 404),
    summary="A file's chunks, in document order; query: limit (5), offset (0)",
)
async def list_chunks(
    services: Services, caller: CurrentCaller, page: RequestedPage, id: str
) -> dict[str, object]:
    """The chunks of a file in the order of the document, by the file's hash."""
    chunks = await services.files.chunks(caller, id, page.limit, page.offset)
    return {"chunks": chunks.items, "pagination": chunks.window}


@router.get(
    BASE + "/{id}/files",
    response_model=schemas.FileList,
    responses=errors(400, 403, 404),
    summary="The files of a knowledge base",
    openapi_extra={"parameters": FILES_PARAMETERS},
)
async def list_files(services: Services, caller: CurrentCaller, base: BaseId, request: Request) -> Response:
    """The records of the files, with their texts and states, ordered by id. Without parameters all of them with all
    fields; without the field `text` the answer is small."""
    fields = _fields(request)
    files = await services.files.list(caller, base, _wanted(request, "text" in fields))
    records = [schemas.FileRecord.model_validate(file).model_dump(include=fields) for file in files]
    return JsonResponse({"files": records})


def _fields(request: Request) -> set[str]:
    """The fields of a file record that the query asks for, all without one. Raises `Invalid`."""
    known = schemas.FileRecord.model_fields
    if "fields" not in request.query_params:
        return set(known)
    asked = set(listed(request.query_params.getlist("fields")))
    if not asked or asked - set(known):
        raise Invalid.of([Fault("fields", f"must be some of {', '.join(known)}, separated by commas")])
    return asked


def _wanted(request: Request, with_text: bool) -> FilesWanted:
    """Raises `Invalid`."""
    whole = "limit" not in request.query_params
    limit = None if whole else whole_number(request, "limit", 1, 1, LARGEST_LIMIT)
    offset = whole_number(request, "offset", 0, 0, LARGEST_OFFSET)
    return FilesWanted(limit, offset, request.query_params.get("name", ""), with_text)


@router.post(
    BASE + "/{id}/uploadfile",
    status_code=201,
    response_model=schemas.UploadAnswer,
    response_model_exclude_none=True,
    responses={
        **errors(400, 403, 404, 409, 413, 415, 422),
        202: {"model": schemas.UploadAnswer, "description": "Stored; being processed."},
    },
    openapi_extra=UPLOAD_BODY,
    summary="Upload files, all or none; needs UPDATE",
)
async def upload(
    services: Services, caller: CurrentCaller, base: BaseId, request: Request, response: Response
) -> schemas.UploadAnswer:
    """Stores, parses, chunks and embeds files: all of them, or none. Answers once they can be found, or at once with
    `Prefer: respond-async` (202). Needs level 2 (UPDATE)."""
    respond_async = _prefers_async(request)
    incoming = MultipartReader(request.headers.get("content-type", ""), request.stream()).files()
    files = await services.files.upload(caller, base, incoming, respond_async)
    if respond_async:
        response.status_code = 202
        response.headers["preference-applied"] = "respond-async"
    return _upload_answer(files, respond_async=respond_async)


def _upload_answer(files: Sequence[UploadedFile], *, respond_async: bool) -> schemas.UploadAnswer:
    """A single file stands at the top as well."""
    listed = [schemas.UploadedFile.model_validate(file) for file in files]
    if not respond_async:
        listed = [file.model_copy(update={"status": None}) for file in listed]
    answer = schemas.UploadAnswer(
        message=upload_message(len(files), respond_async=respond_async), files=listed
    )
    if len(listed) > 1 or not listed:
        return answer
    single = listed[0].model_dump(exclude={"status"})
    return answer.model_copy(update={**single, "fileHash": single["fileId"]})


def _file_headers(file: Download, etag: str) -> dict[str, str]:
    return {
        "content-disposition": attachment(file.name),
        "accept-ranges": "bytes",
        "etag": etag,
    }


def _prefers_async(request: Request) -> bool:
    preferences = ",".join(request.headers.getlist("prefer")).lower().split(",")
    return "respond-async" in (preference.split(";")[0].strip() for preference in preferences)


def _range_header(request: Request, etag: str) -> str | None:
    """The Range header of a GET (RFC 9110, 14.2), unless If-Range names another version."""
    if request.method != "GET" or request.headers.get("if-range", etag) != etag:
        return None
    return request.headers.get("range")
