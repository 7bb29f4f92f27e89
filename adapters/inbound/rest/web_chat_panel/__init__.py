"""`/web-chat.js`: the panel of the web chat, plain files that are served as one script to pages anywhere."""

import gzip
import hashlib
import json
from functools import cache
from importlib.resources import files

from fastapi import APIRouter, Request, Response

PATH = "/web-chat.js"
SCRIPTS = ("elements", "transcript", "composer", "frame", "events", "client", "start")
FRESH_SECONDS = 600

router = APIRouter(include_in_schema=False)


@router.head(PATH)
@router.get(PATH)
async def script(request: Request) -> Response:
    body, tag = _compressed()
    headers = {
        "Cache-Control": f"public, max-age={FRESH_SECONDS}",
        "ETag": tag,
        "Vary": "Accept-Encoding",
        "Access-Control-Allow-Origin": "*",
        "Cross-Origin-Resource-Policy": "cross-origin",
        "X-Content-Type-Options": "nosniff",
    }
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if "gzip" not in request.headers.get("accept-encoding", ""):
        return Response(panel_script(), media_type="text/javascript", headers=headers)
    return Response(body, media_type="text/javascript", headers={**headers, "Content-Encoding": "gzip"})


@cache
def panel_script() -> bytes:
    """The scripts in one scope of their own, with the stylesheet as a text."""
    folder = files(__package__)
    stylesheet = json.dumps(folder.joinpath("panel.css").read_text("utf-8"))
    scripts = [folder.joinpath(f"{name}.js").read_text("utf-8") for name in SCRIPTS]
    lines = ["(() => {", '"use strict";', f"const STYLES = {stylesheet};", *scripts, "})();", ""]
    return "\n".join(lines).encode()


@cache
def _compressed() -> tuple[bytes, str]:
    """The script as browsers get it, and its entity tag."""
    script = panel_script()
    return gzip.compress(script, mtime=0), f'W/"{hashlib.sha256(script).hexdigest()[:16]}"'
