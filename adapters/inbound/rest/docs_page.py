"""The interactive description of the interface. Its script and style lie in a package: nothing comes from afar."""

import asyncio
import re
from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from fastapi import APIRouter, Request, Response
from fastapi.openapi.docs import get_swagger_ui_html
from starlette.responses import FileResponse, JSONResponse

from domain.refusals import NotFound

PAGE = "/docs"
DESCRIPTION = "/openapi.json"
SCRIPT, STYLE = "swagger-ui-bundle.js", "swagger-ui.css"
ASSETS = {SCRIPT: "text/javascript", STYLE: "text/css"}
PARAMETERS = {"validatorUrl": None}
"""No badge, for which Swagger UI would send the description to a server of its makers."""
NO_ICON = "data:,"
INLINE_SCRIPT = re.compile(rb"<script>(.*?)</script>", re.DOTALL)
"""The script of the page itself, which starts Swagger UI."""
CONTENT_POLICY = (
    "default-src 'none'; script-src 'self' 'sha256-{digest}'; style-src 'self' 'unsafe-inline'; img-src 'self' data:;"
    " connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
)
"""Swagger UI sets styles in its elements."""
SECURE_HEADERS = {
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}

router = APIRouter(include_in_schema=False)


@router.head(DESCRIPTION)
@router.get(DESCRIPTION)
async def description(request: Request) -> Response:
    """Made with the first call, which takes half a second: other requests do not wait for it."""
    return await asyncio.to_thread(lambda: JSONResponse(request.app.openapi()))


@router.head(PAGE)
@router.get(PAGE)
async def page(request: Request) -> Response:
    root = request.scope.get("root_path", "").rstrip("/")
    page = get_swagger_ui_html(
        openapi_url=f"{root}{DESCRIPTION}",
        title=request.app.title,
        swagger_js_url=f"{root}{PAGE}/{SCRIPT}",
        swagger_css_url=f"{root}{PAGE}/{STYLE}",
        swagger_favicon_url=NO_ICON,
        swagger_ui_parameters=PARAMETERS,
    )
    own_script = INLINE_SCRIPT.search(bytes(page.body))
    assert own_script is not None
    digest = b64encode(sha256(own_script[1]).digest()).decode()
    page.headers.update({**SECURE_HEADERS, "content-security-policy": CONTENT_POLICY.format(digest=digest)})
    return page


@router.head(PAGE + "/{name}")
@router.get(PAGE + "/{name}")
async def asset(request: Request, name: str) -> Response:
    if name not in ASSETS:
        raise NotFound(f"there is nothing at {request.url.path[:200]}")
    path = Path(str(files("fastapi_offline"))) / "static" / name
    return FileResponse(path, media_type=ASSETS[name], headers={"x-content-type-options": "nosniff"})
