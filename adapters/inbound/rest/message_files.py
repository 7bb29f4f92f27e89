"""Files of messages under signed addresses; the signature is the only key."""

from typing import Annotated

from fastapi import APIRouter, Path, Request, Response
from starlette.responses import StreamingResponse

from adapters.inbound.rest.ranges import attachment
from adapters.inbound.rest.routing import Services, errors
from ports.files import OpenFile

PATH = "/api/agent/files/{token}/{name:path}"
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

router = APIRouter(tags=["files"])


@router.head(PATH, include_in_schema=False)
@router.get(
    PATH,
    response_class=Response,
    responses={
        **errors(404, key=False),
        200: {"content": {"application/octet-stream": {}}, "description": "The file."},
    },
    summary="A file of a message, by its signed, expiring address; needs no key",
)
async def download(
    services: Services,
    request: Request,
    token: Annotated[str, Path(description="Signed token of a file.", examples=["c2lnbmVkLXRva2Vu"])],
    name: Annotated[str, Path(description="Name of a file.", examples=["pump.pdf"])],
) -> Response:
    """A file of a message. The signed token in the path is the only key; it expires. 404 for a token that is wrong
    or expired."""
    file = await services.shared.open(token)
    headers = {
        "content-disposition": attachment(file.name),
        "content-length": str(file.size),
        "content-security-policy": "default-src 'none'; sandbox",
        "referrer-policy": "no-referrer",
    }
    if request.method == "HEAD":
        return Response(media_type=_media_type(file), headers=headers)
    return StreamingResponse(file.content, media_type=_media_type(file), headers=headers)


def _media_type(file: OpenFile) -> str:
    mime_type = file.mime_type
    plain = mime_type.isascii() and mime_type.isprintable() and mime_type.startswith(PLAIN)
    return mime_type if plain else "application/octet-stream"
