"""Signing in at the OpenID provider, by an account of a platform, an API key or a link that works once, and out."""

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from urllib.parse import urlsplit

from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from adapters.inbound.console import sessions
from adapters.inbound.console.pages.identities import NAMES
from adapters.inbound.console.pages.passkeys import challenge_answer
from adapters.inbound.console.requests import (
    AGAIN,
    SECURE_HEADERS,
    ConsoleRequest,
    faults_of,
    redirect,
    render,
)
from adapters.inbound.rest.errors import headers_of, status_of
from domain.access.model import KeyKind, Session, kind_of
from domain.access.sessions import Browser
from domain.access.single_sign_on import SignedIn
from domain.refusals import Invalid, Refusal, TooMany, Unauthenticated, Unavailable

log = logging.getLogger("switchboard.console")

PROVIDER = f"{sessions.SIGN_IN}/provider"
PASSKEY = f"{sessions.SIGN_IN}/passkey"
MAIL = f"{sessions.SIGN_IN}/mail"
CALLBACK = f"{sessions.SIGN_IN}/callback"
ACCOUNT = f"{sessions.SIGN_IN}/account/{{provider}}"
LONGEST_AGENT = 500


async def sign_in(request: ConsoleRequest) -> Response:
    """A link is exchanged by the form's POST: who only looks at its address does not use it up."""
    link, next_page = (request.query_params.get(name, "") for name in ("link", "next"))
    if not link and await _is_signed_in(request):
        return RedirectResponse(sessions.safe_next(next_page), 303)
    return await _form(request, next_page, link=link)


async def signed_in(request: ConsoleRequest) -> Response:
    form = await request.posted()
    credential, next_page = str(form.get("credential", "")).strip(), str(form.get("next", ""))
    browser = browser_of(request)
    try:
        session = await request.services.sessions.sign_in(credential, browser.address, browser.user_agent)
    except (Unauthenticated, TooMany) as refusal:
        if kind_of(credential) is KeyKind.LINK and await _is_signed_in(request):
            return RedirectResponse(sessions.safe_next(next_page), 303)  # a link that was clicked twice
        response = await _form(request, next_page, fault=refusal.message, status=status_of(refusal))
        response.headers.update(headers_of(refusal))
        return response
    return opened(request, session, next_page)


def browser_of(request: ConsoleRequest) -> Browser:
    address = request.client.host if request.client else ""
    return Browser(address, request.headers.get("user-agent", "")[:LONGEST_AGENT])


def opened(
    request: ConsoleRequest, session: Session | SignedIn, next_page: str, notice: str = ""
) -> Response:
    """The page that the person wanted to see, with the cookie of the session."""
    response = redirect(sessions.safe_next(next_page), notice)
    seconds = (session.expires_at - request.gateway.clock.now()).total_seconds()
    sessions.set_cookie(request, response, sessions.SESSION, session.token, int(seconds))
    return response


async def to_provider(request: ConsoleRequest) -> Response:
    """Sends the browser to the OpenID provider."""
    return await _away(request, request.services.single_sign_on.start)


async def to_platform(request: ConsoleRequest) -> Response:
    """Sends the browser to a chat platform."""
    start = request.services.platform_sign_in.start
    return await _away(request, partial(start, request.path_params["provider"]))


async def _away(request: ConsoleRequest, start: Callable[[str, str], Awaitable[str]]) -> Response:
    """Only this browser can come back: its random cookie is the proof."""
    visit, next_page = sessions.visit_of(request), request.query_params.get("next", "")
    try:
        address = await start(visit, next_page)
    except Refusal as refusal:
        return refused(request, refusal)
    response = RedirectResponse(address, 303)
    sessions.set_cookie(request, response, sessions.VISIT, visit, None)
    return response


async def from_provider(request: ConsoleRequest) -> Response:
    return await _back(request, request.services.single_sign_on.finish)


async def from_platform(request: ConsoleRequest) -> Response:
    provider = request.path_params["provider"]
    name = NAMES.get(provider, provider)
    notice = f"You are signed in by {name}. If a chat led you here, go back to it and write again."
    return await _back(request, partial(request.services.platform_sign_in.finish, provider), notice)


async def _back(
    request: ConsoleRequest,
    finish: Callable[[str, str, str, str, Browser], Awaitable[SignedIn]],
    notice: str = "",
) -> Response:
    """Takes the browser that comes back. Cookies of the console are not sent with a request that another site began,
    so the page loads itself once more."""
    if request.headers.get("sec-fetch-site") == "cross-site":
        return HTMLResponse(AGAIN, headers=SECURE_HEADERS)
    query = request.query_params
    state, code, error = (query.get(name, "") for name in ("state", "code", "error"))
    visit = sessions.cookie_of(request, sessions.VISIT)
    try:
        signed_in = await finish(visit, state, code, error, browser_of(request))
    except Refusal as refusal:
        return refused(request, refusal)
    return opened(request, signed_in, signed_in.next_page, notice)


def refused(request: ConsoleRequest, refusal: Refusal) -> Response:
    response = render(request, "sign_in_refused.html", {"text": refusal.message}, status=status_of(refusal))
    response.headers.update(headers_of(refusal))
    return response


async def send_link(request: ConsoleRequest) -> Response:
    """Says the same whether a user has the address."""
    form = await request.posted()
    email, next_page = str(form.get("email", "")), str(form.get("next", ""))
    links = request.services.mail_links
    try:
        message = await links.send(email, sessions.safe_next(next_page), browser_of(request))
    except (Invalid, TooMany) as refusal:
        faults = faults_of(refusal) if isinstance(refusal, Invalid) else {"": refusal.message}
        fault = "; ".join(faults.values())
        response = await _form(request, next_page, status=status_of(refusal), email=email, mail_fault=fault)
        response.headers.update(headers_of(refusal))
        return response
    return await _form(request, next_page, message=message)


async def passkey_challenge(request: ConsoleRequest) -> Response:
    return challenge_answer(await request.services.passkeys.challenge())


async def with_passkey(request: ConsoleRequest) -> Response:
    form = await request.posted()
    state, credential, next_page = (str(form.get(name, "")) for name in ("state", "credential", "next"))
    try:
        session = await request.services.passkeys.sign_in(state, credential, browser_of(request))
    except Refusal as refusal:
        text = "; ".join(faults_of(refusal).values()) if isinstance(refusal, Invalid) else refusal.message
        return await _form(request, next_page, status=status_of(refusal), passkey_fault=text)
    return opened(request, session, next_page)


async def _is_signed_in(request: ConsoleRequest) -> bool:
    try:
        await sessions.authenticate(request, request.services.access)
    except Unauthenticated:
        return False
    return True


async def sign_out(request: ConsoleRequest) -> Response:
    """Ends the session. Who signed in at the provider is led there, to sign out there too: by a page of its own, as
    a form leads to no other site."""
    address = ""
    if token := sessions.session_of(request):
        try:
            address = await request.services.single_sign_on.sign_out_address(token)
        except Unavailable:
            log.warning(
                "somebody signs out, and the OpenID provider does not answer: they stay signed in there"
            )
        await request.services.sessions.sign_out(token)
    response: Response = RedirectResponse(sessions.SIGN_IN, 303)
    if address:
        response = render(request, "sign_out.html", {"address": address})
    sessions.set_cookie(request, response, sessions.SESSION, "", 0)
    return response


async def _form(
    request: ConsoleRequest, next_page: str, *, status: int = 200, link: str = "", **shown: str
) -> Response:
    issuer = await request.services.single_sign_on.name()
    platforms = await request.services.platform_sign_in.platforms()
    values = {
        "next": next_page,
        "link": link,
        "fault": None,
        "provider": urlsplit(issuer).netloc,
        "platforms": [(platform, NAMES.get(platform, platform)) for platform in platforms],
        "mail": await request.services.mail_links.is_offered(),
        "email": "",
        "mail_fault": None,
        "message": "",
        "passkey_fault": "",
        **shown,
    }
    return render(request, "sign_in.html", values, status=status)


ROUTES = [
    Route(sessions.SIGN_IN, sign_in),
    Route(sessions.SIGN_IN, signed_in, methods=["POST"]),
    Route(MAIL, send_link, methods=["POST"]),
    Route(PASSKEY, with_passkey, methods=["POST"]),
    Route(f"{PASSKEY}/challenge", passkey_challenge, methods=["POST"]),
    Route(PROVIDER, to_provider),
    Route(CALLBACK, from_provider),
    Route(ACCOUNT, to_platform),
    Route(f"{ACCOUNT}/callback", from_platform),
    Route("/console/sign-out", sign_out, methods=["POST"]),
]
