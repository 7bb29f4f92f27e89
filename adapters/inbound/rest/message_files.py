"""Files of messages under signed addresses; the signature is the only key."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from starlette.responses import StreamingResponse

from adapters.inbound.rest.ranges import attachment
from adapters.inbound.rest.routing import errors
from ports.files import SharedFiles

PLAIN = (
    "image/png",
    "image/jpeg",
    "image/gif",
    "image/webp",
    "audio/",
    "video/",
    "application/pdf",
    "text/plain",
)
"""Types that are named to whoever fetches; all others are served as mere bytes."""


def router(files: SharedFiles) -> APIRouter:
    routes = APIRouter(tags=["files"])

    @routes.head("/api/agent/files/{token}/{name:path}", include_in_schema=False)
    @routes.get(
        "/api/agent/files/{token}/{name:path}",
        response_class=Response,
        responses={
            **errors(404, key=False),
            200: {"content": {"application/octet-stream": {}}, "description": "The file."},
        },
        summary="A file of a message, by its signed, expiring address; needs no key",
    )
    async def download(request: Request, token: str, name: str) -> Response:
        file = await files.open(token)
        known = file.mime_type.isascii() and file.mime_type.isprintable() and file.mime_type.startswith(PLAIN)
        headers = {
            "content-disposition": attachment(file.name),
            "content-length": str(file.size),
            "x-content-type-options": "nosniff",
            "content-security-policy": "default-src 'none'; sandbox",
            "cache-control": "private, max-age=3600",
            "referrer-policy": "no-referrer",
        }
        media_type = file.mime_type if known else "application/octet-stream"
        if request.method == "HEAD":
            return Response(media_type=media_type, headers=headers)
        return StreamingResponse(file.content, media_type=media_type, headers=headers)

    return routes
