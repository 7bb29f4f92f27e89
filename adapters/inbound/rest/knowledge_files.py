"""Files and chunks of knowledge bases over REST; uploads and downloads are streamed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.responses import StreamingResponse

from adapters.inbound.rest import knowledge_schemas as schemas
from adapters.inbound.rest import knowledge_serializers as serializers
from adapters.inbound.rest.errors import JsonResponse
from adapters.inbound.rest.multipart import MultipartReader
from adapters.inbound.rest.ranges import Span, Unsatisfiable, asked_range, attachment, is_known
from adapters.inbound.rest.routing import caller_of, errors, page_of, path_id
from domain.knowledge.rules import NO_BASE
from ports.knowledge import KnowledgeFiles

BASE = "/api/agent/kb"
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
FILE_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/octet-stream": {}}, "description": "The whole file."},
    206: {"content": {"application/octet-stream": {}}, "description": "The range asked for."},
    304: {"description": "If-None-Match names this version."},
}


def router(files: KnowledgeFiles) -> APIRouter:
    routes = APIRouter(tags=["knowledge bases"])

    @routes.head(BASE + "/download/{fileId}", include_in_schema=False)
    @routes.get(
        BASE + "/download/{fileId}",
        response_class=Response,
        responses={**errors(404, 416), **FILE_ANSWERS},
        summary="A file's bytes; single ranges are served",
    )
    async def download(request: Request, fileId: str) -> Response:
        return await _download(files, request, fileId)

    @routes.get(
        BASE + "/file/{id}",
        response_model=schemas.FileAnswer,
        responses=errors(404),
        summary="A file's record, by its hash",
    )
    async def get_file(request: Request, id: str) -> JsonResponse:
        return JsonResponse({"file": serializers.file(await files.get(caller_of(request), id))})

    @routes.get(
        BASE + "/chunk/{id}",
        response_model=schemas.ChunkAnswer,
        responses=errors(404),
        summary="One chunk",
    )
    async def get_chunk(request: Request, id: str) -> JsonResponse:
        return JsonResponse({"chunk": serializers.chunk(await files.chunk(caller_of(request), id))})

    @routes.get(
        BASE + "/chunks/{id}",
        response_model=schemas.ChunkList,
        responses=errors(400, 404),
        summary="A file's chunks, in document order; query: limit (5), offset (0)",
    )
    async def list_chunks(request: Request, id: str) -> JsonResponse:
        window = page_of(request)
        found = await files.chunks(caller_of(request), id, window.limit, window.offset)
        return JsonResponse(serializers.chunks(found))

    @routes.get(
        BASE + "/{id}/files",
        response_model=schemas.FileList,
        responses=errors(403, 404),
        summary="The files of a knowledge base",
    )
    async def list_files(request: Request, id: str) -> JsonResponse:
        found = await files.list(caller_of(request), path_id(id, NO_BASE))
        return JsonResponse({"files": [serializers.file(each) for each in found]})

    @routes.post(
        BASE + "/{id}/uploadfile",
        status_code=201,
        response_model=schemas.UploadAnswer,
        responses={
            **errors(400, 403, 404, 413, 415, 422),
            202: {"model": schemas.UploadAnswer, "description": "Stored; being processed."},
        },
        openapi_extra=UPLOAD_BODY,
        summary="Upload files, all or none; needs UPDATE",
    )
    async def upload(request: Request, id: str) -> JsonResponse:
        respond_async = _prefers_async(request)
        base_id = path_id(id, NO_BASE)
        incoming = MultipartReader(request.headers.get("content-type", ""), _body(request)).files()
        done = await files.upload(caller_of(request), base_id, incoming, respond_async)
        return JsonResponse(
            serializers.uploaded(done, respond_async=respond_async),
            status_code=202 if respond_async else 201,
            headers={"preference-applied": "respond-async"} if respond_async else None,
        )

    return routes


async def _download(files: KnowledgeFiles, request: Request, file_id: str) -> Response:
    """The whole file, the range asked for, or what stands instead of them."""
    caller = caller_of(request)
    whole = await files.download(caller, file_id, 0, 0)
    etag = f'"{file_id}"'
    headers = {
        "content-disposition": attachment(whole.name),
        "accept-ranges": "bytes",
        "etag": etag,
        "x-content-type-options": "nosniff",
    }
    if is_known(request.headers.get("if-none-match"), etag):
        return Response(status_code=304, headers=headers)
    try:
        span = asked_range(_range_header(request, etag), whole.size)
    except Unsatisfiable:
        error = f"range: lies outside the file, which has {whole.size} bytes"
        headers = {"accept-ranges": "bytes", "content-range": f"bytes */{whole.size}"}
        return JsonResponse({"error": error}, status_code=416, headers=headers)
    wanted = span or Span(0, whole.size)
    if span:
        headers["content-range"] = f"bytes {span.start}-{span.start + span.length - 1}/{whole.size}"
    headers["content-length"] = str(wanted.length)
    if request.method == "HEAD":
        return Response(status_code=200, media_type="application/octet-stream", headers=headers)
    found = await files.download(caller, file_id, wanted.start, wanted.length)
    return StreamingResponse(
        found.content,
        status_code=206 if span else 200,
        media_type="application/octet-stream",
        headers=headers,
    )


async def _body(request: Request) -> AsyncIterator[bytes]:
    async for piece in request.stream():
        yield piece


def _prefers_async(request: Request) -> bool:
    preferences = ",".join(request.headers.getlist("prefer")).lower().split(",")
    return "respond-async" in (each.split(";")[0].strip() for each in preferences)


def _range_header(request: Request, etag: str) -> str | None:
    """The Range header of a GET (RFC 9110, 14.2), unless If-Range names another version."""
    if request.method != "GET" or request.headers.get("if-range", etag) != etag:
        return None
    return request.headers.get("range")
