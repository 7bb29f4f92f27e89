"""Who has signed in: the session's cookie, or the credential of a proxy that signs people in. And the proof that a
form was ours."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from functools import partial
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from adapters.inbound.rest.auth_middleware import text_of
from domain.refusals import Forbidden, Unauthenticated
from ports.use_cases import Access

SESSION = "switchboard_session"
VISIT = "switchboard_visit"
"""A random cookie of somebody who has not signed in yet: the form to sign in is bound to it."""
ROOT = "/console"
"""Where the console is; its cookies are sent nowhere else."""
SIGN_IN = f"{ROOT}/sign-in"
FIELD = "csrf"
HEADER = "x-csrf-token"
SAFE = ("GET", "HEAD")


class StaleForm(Forbidden):
    """Its page was made before the person signed in or out, perhaps in another tab."""


async def authenticate(request: Request, access: Access) -> None:
    """Puts the caller into the request's state. Raises `Unauthenticated`."""
    token, acting_for = _credential(request)
    if not token:
        raise Unauthenticated("sign in first")
    check = partial(access.authenticate, token, acting_for)
    request.state.caller = await check()
    request.state.authenticate = check


def _credential(request: Request) -> tuple[str, str | None]:
    """The bearer token of a proxy, with the user that it names; else the session's cookie."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return token.strip(), text_of(request.headers.get("x-user-id"))
    return request.cookies.get(SESSION, ""), None


def has_session(request: Request) -> bool:
    """Whether a session can be ended here: not that of a proxy."""
    return _credential(request)[0] == request.cookies.get(SESSION)


def csrf_token(request: Request) -> str:
    """What each form of this person carries: nobody can know it who does not know the credential."""
    token, acting_for = _credential(request)
    secret = token or visit_of(request)
    return hashlib.sha256(f"csrf\n{secret}\n{acting_for or ''}".encode()).hexdigest()


def visit_of(request: Request) -> str:
    """The random text of somebody who has not signed in, from the cookie or made for this answer."""
    state = request.state
    if not hasattr(state, "visit"):
        state.visit = request.cookies.get(VISIT, "") or secrets.token_urlsafe(16)
    return str(state.visit)


def check_origin(request: Request) -> None:
    origin = request.headers.get("origin")
    if origin and origin != "null" and urlsplit(origin).netloc != request.headers.get("host", ""):
        raise Forbidden("this form was sent from another site")


def check_token(request: Request, given: str) -> None:
    if not hmac.compare_digest(given.encode(), csrf_token(request).encode()):
        raise StaleForm("this form is out of date; load the page again and repeat what you did")


def set_cookie(request: Request, response: Response, name: str, value: str, seconds: int | None) -> None:
    response.set_cookie(
        name,
        value,
        seconds,
        path=ROOT,
        secure=_came_by_https(request),
        httponly=True,
        samesite="strict",
    )


def _came_by_https(request: Request) -> bool:
    """Also behind a proxy that does not say so, where the browser asked for the host of an https AGENT_URL."""
    public = urlsplit(request.app.state.gateway.options.agent_url)
    asked_public = public.scheme == "https" and request.headers.get("host") == public.netloc
    return asked_public or request.url.scheme == "https"


def safe_next(wanted: str) -> str:
    """A page of the console, whatever the address asks for."""
    good = wanted.startswith(ROOT) and "\\" not in wanted and not urlsplit(wanted).netloc
    return wanted if good else ROOT
