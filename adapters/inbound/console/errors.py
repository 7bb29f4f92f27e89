"""Refusals as pages, or as notices where htmx asked for a part."""

from collections.abc import Mapping
from urllib.parse import quote, urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from adapters.inbound.console.requests import AGAIN, SECURE_HEADERS, is_htmx, render, render_part
from adapters.inbound.console.sessions import (
    LIVE,
    PASSKEYS,
    ROOT,
    SAFE,
    SIGN_IN,
    NobodyNamed,
    PasskeyMissing,
    StaleForm,
    safe_next,
)
from adapters.inbound.rest.errors import INTERNAL, headers_of, status_of
from domain.refusals import Refusal, Unauthenticated

TITLES = {
    400: "That does not work",
    403: "This is not yours",
    404: "There is nothing here",
    405: "That does not work",
    409: "Something else came first",
    413: "Too large",
    429: "Too many tries",
    503: "Not available at the moment",
}
HEADINGS: Mapping[type[Exception], str] = {
    StaleForm: "This page is out of date",
    NobodyNamed: "Nobody has signed in",
}
BROKEN = "Something went wrong"


async def refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    if isinstance(error, Unauthenticated):
        return _to_sign_in(request)
    if isinstance(error, PasskeyMissing) and not is_htmx(request):
        return RedirectResponse(PASSKEYS, 303)
    response = _shown(request, status_of(error), error.message, HEADINGS.get(type(error), ""))
    response.headers.update(headers_of(error))
    return response


async def http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    text = f"There is no page at {request.url.path[:200]}." if error.status_code == 404 else error.detail
    return _shown(request, error.status_code, text)


async def unexpected(request: Request, error: Exception) -> Response:
    return _shown(request, 500, INTERNAL)


def _to_sign_in(request: Request) -> Response:
    """Ask the person to sign in. A page or a form leads to the form for it, and back afterwards. A request that a
    script makes is answered with 204: an `EventSource` does not connect again after it, and htmx replaces nothing,
    so that the page keeps what was typed and says itself that its person is signed out."""
    if request.url.path == LIVE or "text/event-stream" in request.headers.get("accept", ""):
        return Response(status_code=204)
    if is_htmx(request):
        return Response(status_code=204, headers={"HX-Trigger": "signed-out"})
    if request.headers.get("sec-fetch-site") == "cross-site" and request.method == "GET":
        return HTMLResponse(AGAIN, headers=SECURE_HEADERS)
    # A form may be posted to an address that has no page: its own page is shown afterwards.
    page = urlsplit(str(request.url) if request.method in SAFE else request.headers.get("referer", ""))
    path = safe_next(page.path + (f"?{page.query}" if page.query else ""))
    return RedirectResponse(SIGN_IN if path == ROOT else f"{SIGN_IN}?next={quote(path, safe='')}", 303)


def _shown(request: Request, status: int, text: str, heading: str = "") -> Response:
    values = {"status": status, "heading": heading or TITLES.get(status, BROKEN), "text": text}
    if not is_htmx(request):
        return render(request, "error.html", values, status=status)
    part = render_part(request, "notice.html", values, status=status)
    part.headers.update({"HX-Retarget": "#notices", "HX-Reswap": "innerHTML"})
    return part


HANDLERS = {Refusal: refused, HTTPException: http, Exception: unexpected}
