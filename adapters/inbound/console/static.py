"""Files that pages need: our own, and htmx out of the wheel `django-htmx`. An address changes with the content."""

import gzip
import hashlib
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from domain.refusals import NotFound

PREFIX = "/console/static"
FOREVER = "public, max-age=31536000, immutable"
TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
HTMX = "htmx.js"


@dataclass(frozen=True, slots=True)
class Asset:
    """`tag` is short for its content."""

    content: bytes
    packed: bytes
    media_type: str
    tag: str


def static_address(name: str) -> str:
    """The address of a file, for templates."""
    return f"{PREFIX}/{name}?v={_asset(name).tag}"


async def asset(request: Request) -> Response:
    try:
        file = _asset(request.path_params["name"])
    except FileNotFoundError:
        raise NotFound(f"there is nothing at {request.url.path[:200]}") from None
    headers = {"Cache-Control": FOREVER, "Vary": "Accept-Encoding", "X-Content-Type-Options": "nosniff"}
    if "gzip" in request.headers.get("accept-encoding", ""):
        packed = {**headers, "Content-Encoding": "gzip"}
        return Response(file.packed, media_type=file.media_type, headers=packed)
    return Response(file.content, media_type=file.media_type, headers=headers)


@lru_cache(32)
def _asset(name: str) -> Asset:
    """Raises `FileNotFoundError`."""
    path = Path(str(files("adapters.inbound.console"))) / "static" / name
    if name == HTMX:  # the files of the wheel: the package itself needs Django, which is not installed
        package = find_spec("django_htmx")
        if package is None or package.origin is None:
            raise FileNotFoundError("django-htmx is not installed; run: make up")
        path = Path(package.origin).parent / "static/django_htmx/htmx-2.min.js"
    if path.suffix not in TYPES or "/" in name:
        raise FileNotFoundError(name)
    content = path.read_bytes()
    tag = hashlib.sha256(content).hexdigest()[:12]
    return Asset(content, gzip.compress(content, 9, mtime=0), TYPES[path.suffix], tag)


ROUTES = [Route(PREFIX + "/{name}", asset)]
