"""Refusals as pages, or as notices where htmx asked for a part."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from adapters.inbound.console.requests import is_htmx, render, render_part
from adapters.inbound.console.sessions import StaleForm, to_sign_in
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
STALE = "This page is out of date"
BROKEN = "Something went wrong"


async def refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    if isinstance(error, Unauthenticated):
        return to_sign_in(request)
    heading = STALE if isinstance(error, StaleForm) else ""
    response = _shown(request, status_of(error), error.message, heading)
    response.headers.update(headers_of(error))
    return response


async def http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    text = f"There is no page at {request.url.path[:200]}." if error.status_code == 404 else error.detail
    return _shown(request, error.status_code, text)


async def unexpected(request: Request, error: Exception) -> Response:
    return _shown(request, 500, INTERNAL)


def _shown(request: Request, status: int, text: str, heading: str = "") -> Response:
    values = {"status": status, "heading": heading or TITLES.get(status, BROKEN), "text": text}
    if not is_htmx(request):
        return render(request, "error.html", values, status=status)
    part = render_part(request, "notice.html", values, status=status)
    part.headers["HX-Retarget"] = "#notices"
    part.headers["HX-Reswap"] = "innerHTML"
    return part


HANDLERS = {Refusal: refused, HTTPException: http, Exception: unexpected}
