"""Who has signed in: the session's cookie, or the credential of a proxy that signs people in. And the proof that a
form was ours."""

import hashlib
import hmac
import secrets
from collections.abc import Awaitable, Callable
from functools import partial
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from adapters.inbound.rest.auth_middleware import acting_for, with_origin
from domain.access.model import Caller
from domain.access.service import AccessService
from domain.refusals import Forbidden, Unauthenticated

SESSION = "switchboard_session"
VISIT = "switchboard_visit"
"""A random cookie of somebody without a session here, before signing in or behind a proxy: forms are bound to it."""
ROOT = "/console"
"""Where the console is; its cookies are sent nowhere else."""
SIGN_IN = f"{ROOT}/sign-in"
PASSKEYS = f"{ROOT}/passkeys"
LIVE = f"{ROOT}/live"
"""The stream of events of the open page."""
FIELD = "csrf"
HEADER = "x-csrf-token"
SAFE = ("GET", "HEAD")


class NobodyNamed(Forbidden):
    """A proxy in front signs in with the service key and names no person: the service key alone may do everything."""


class PasskeyMissing(Forbidden):
    """A passkey has to prove the session first."""


class StaleForm(Forbidden):
    """Its page was made before the person signed in or out, perhaps in another tab."""


async def authenticate(request: Request, access: AccessService) -> None:
    """Puts the caller into the request's state: who has the session, else the person that a proxy names. Raises
    `Unauthenticated`, `NobodyNamed`."""
    check: Callable[[], Awaitable[Caller]]
    if token := _token_of_proxy(request):
        check = partial(access.authenticate, token, acting_for(request.headers))
    elif session := session_of(request):
        check = partial(access.authenticate_session, session)
    else:
        raise Unauthenticated("sign in first")
    caller = with_origin(await check())
    if caller.is_service and caller.is_admin:
        raise NobodyNamed(
            "The reverse proxy in front of the console signs in with the service key and names nobody: have it send"
            " the id of the person who has signed in as the header x-user-id"
        )
    request.state.caller = caller
    request.state.authenticate = check


def check_proved(request: Request) -> None:
    """Raises `PasskeyMissing`."""
    if request.state.caller.lacks_passkey:
        raise PasskeyMissing("confirm with your passkey first")


def _token_of_proxy(request: Request) -> str:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def session_of(request: Request) -> str:
    """The token of the session, or "" without one and behind a proxy that signs people in."""
    return "" if _token_of_proxy(request) else cookie_of(request, SESSION)


def csrf_token(request: Request) -> str:
    """The token of this person's forms: keyed by the session, else by the random cookie of the browser."""
    secret = session_of(request) or visit_of(request)
    person = acting_for(request.headers) if _token_of_proxy(request) else None
    return hmac.new(secret.encode(), f"csrf\n{person or ''}".encode(), hashlib.sha256).hexdigest()


def visit_of(request: Request) -> str:
    """The random text of a browser without a session, from the cookie or made for this answer."""
    state = request.state
    if not hasattr(state, "visit"):
        state.visit = cookie_of(request, VISIT) or secrets.token_urlsafe(16)
    return str(state.visit)


def cookie_of(request: Request, name: str) -> str:
    """The value of a cookie of the console, or "" without it."""
    return request.cookies.get(_name(request, name), "")


def check_origin(request: Request) -> None:
    origin = request.headers.get("origin")
    if origin and origin != "null" and _plain(urlsplit(origin).netloc) != _asked_host(request):
        raise Forbidden("this form was sent from another site")


def check_token(request: Request, token: str) -> None:
    if not hmac.compare_digest(token.encode(), csrf_token(request).encode()):
        raise StaleForm("this form is out of date; load the page again and repeat what you did")


def set_cookie(request: Request, response: Response, name: str, value: str, seconds: int | None) -> None:
    """Over https the browser takes the cookie from this host alone, and sends it nowhere else (prefix `__Host-`)."""
    secure = _came_by_https(request)
    response.set_cookie(
        _name(request, name),
        value,
        seconds,
        path="/" if secure else ROOT,
        secure=secure,
        httponly=True,
        samesite="strict",
    )


def _name(request: Request, name: str) -> str:
    return f"__Host-{name}" if _came_by_https(request) else name


def _came_by_https(request: Request) -> bool:
    """Also behind a proxy that does not say so, where the browser asked for the host of an https AGENT_URL."""
    public = urlsplit(request.app.state.gateway.options.agent_url)
    asked_public = public.scheme == "https" and _asked_host(request) == _plain(public.netloc)
    return asked_public or request.url.scheme == "https"


def _asked_host(request: Request) -> str:
    return _plain(request.headers.get("host", ""))


def _plain(host: str) -> str:
    """A host as browsers name it: in small letters, and without the usual port of https, which some proxies add."""
    return host.lower().removesuffix(":443")


def safe_next(address: str) -> str:
    """The address if it is a page of the console, else the first page."""
    is_ours = address.startswith(ROOT) and "\\" not in address and not urlsplit(address).netloc
    return address if is_ours else ROOT
