"""Refusals as pages, or as notices where htmx asked for a part."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote, urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from adapters.inbound.console.requests import is_htmx, render, render_part
from adapters.inbound.console.sessions import ROOT, SAFE, SIGN_IN, NobodyNamed, StaleForm, safe_next
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
AGAIN = '<!DOCTYPE html><meta http-equiv="refresh" content="0"><title>Switchboard</title>'
"""Loads the same page anew: browsers keep the session's cookie back from whoever comes by a link of another site, and
send it when the page itself asks."""


async def refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    if isinstance(error, Unauthenticated):
        return _to_sign_in(request)
    heading = HEADINGS.get(type(error), "")
    response = _shown(request, status_of(error), error.message, heading)
    response.headers.update(headers_of(error))
    return response


async def http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    text = f"There is no page at {request.url.path[:200]}." if error.status_code == 404 else error.detail
    return _shown(request, error.status_code, text)


async def unexpected(request: Request, error: Exception) -> Response:
    return _shown(request, 500, INTERNAL)


def _to_sign_in(request: Request) -> Response:
    """Back to the page that the person sees, after signing in; htmx is told to load the whole page."""
    if request.headers.get("sec-fetch-site") == "cross-site" and request.method == "GET":
        return HTMLResponse(AGAIN, headers={"Cache-Control": "no-store"})
    wanted = _page_of(request)
    address = SIGN_IN if wanted == ROOT else f"{SIGN_IN}?next={quote(wanted, safe='')}"
    if is_htmx(request):
        return Response(status_code=204, headers={"HX-Redirect": address})
    return RedirectResponse(address, 303)


def _page_of(request: Request) -> str:
    """The address of the page from which a request came: where a form is posted to there may be no page."""
    headers, address = request.headers, str(request.url)
    if is_htmx(request):
        address = headers.get("hx-current-url") or headers.get("referer", "")
    elif request.method not in SAFE:
        address = headers.get("referer", "")
    parts = urlsplit(address)
    return safe_next(parts.path + (f"?{parts.query}" if parts.query else ""))


def _shown(request: Request, status: int, text: str, heading: str = "") -> Response:
    values = {"status": status, "heading": heading or TITLES.get(status, BROKEN), "text": text}
    if not is_htmx(request):
        return render(request, "error.html", values, status=status)
    part = render_part(request, "notice.html", values, status=status)
    part.headers["HX-Retarget"] = "#notices"
    part.headers["HX-Reswap"] = "innerHTML"
    return part


HANDLERS = {Refusal: refused, HTTPException: http, Exception: unexpected}
