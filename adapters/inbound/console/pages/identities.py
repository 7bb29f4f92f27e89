"""A user's own identities: what is verified, and the ways to verify more. Works without a platform around it."""

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from adapters.inbound.console.requests import caller_of, faults_of, form_of, redirect, render, services_of
from domain.channels.messages import Identity
from domain.events import EventKind
from domain.refusals import Invalid, TooMany, Unavailable
from domain.verification.model import OAUTH_PROVIDERS, Provider

IDENTITIES = "/console/identities"
NAMES: Mapping[str, str] = {
    "email": "Mail address",
    "phone": "Phone number",
    "bot-messenger": "Telegram",
    "business-messaging": "WhatsApp",
    "workspace-chat": "Slack",
    "enterprise-chat": "Microsoft Teams",
    "gaming-chat": "Discord",
    "community-chat": "Mattermost",
}
"""What people call the fields of identities, and the providers."""
WAYS: Mapping[str, str] = {**NAMES, Provider.BOT_MESSENGER: "Phone number, by Telegram"}


async def identities(request: Request) -> Response:
    return await _page(request)


async def remove(request: Request) -> Response:
    form = await form_of(request)
    identity = Identity(str(form.get("field", "")), str(form.get("value", "")))
    await services_of(request).verification.identities.remove_identity(caller_of(request), identity)
    return redirect(IDENTITIES, f"{NAMES.get(identity.field, identity.field)} {identity.value} was removed.")


async def send_code(request: Request) -> Response:
    email = str((await form_of(request)).get("email", ""))
    try:
        sent = await services_of(request).verification.email.start_email(caller_of(request), email)
    except (Invalid, TooMany, Unavailable) as refusal:
        return await _page(request, email=email, faults=_faults(refusal, "email"), status=400)
    return redirect(f"{IDENTITIES}?code=sent", sent.message)


async def check_code(request: Request) -> Response:
    code = str((await form_of(request)).get("otp", ""))
    try:
        address = await services_of(request).verification.email.verify_email(caller_of(request), code)
    except Invalid as refusal:
        return await _page(request, code_sent=True, faults=_faults(refusal, "otp"), status=400)
    return redirect(IDENTITIES, f"{address} is verified.")


async def start_bot(request: Request) -> Response:
    """The link is shown in this answer alone, so nothing is redirected."""
    link = await services_of(request).verification.bot.start_bot_messenger(caller_of(request))
    return await _page(request, link=link)


async def sign_in(request: Request) -> Response:
    """Sends the browser to the provider."""
    provider = request.path_params["provider"]
    address = await services_of(request).verification.oauth.start_oauth(caller_of(request), provider)
    return RedirectResponse(address, 303)


def _faults(refusal: Invalid | TooMany | Unavailable, field: str) -> dict[str, str]:
    """All errors at the one field of the form."""
    if isinstance(refusal, Invalid):
        return {field: "; ".join(faults_of(refusal).values()).removeprefix(f"{field}: ")}
    return {field: refusal.message}


async def _page(request: Request, *, status: int = 200, **shown: Any) -> Response:
    verification, caller = services_of(request).verification, caller_of(request)
    offered = await verification.identities.providers()
    values = {
        "identities": await verification.identities.list_identities(caller),
        "offered": [provider for provider, ready in offered.items() if ready],
        "missing": [WAYS.get(provider, provider) for provider, ready in offered.items() if not ready],
        "sign_ins": OAUTH_PROVIDERS,
        "names": NAMES,
        "code_sent": request.query_params.get("code") == "sent",
        "email": "",
        "faults": {},
        "link": None,
        **shown,
    }
    kinds = (EventKind.IDENTITY_VERIFIED,)
    return render(request, "identities.html", values, status=status, live_kinds=kinds)


ROUTES = [
    Route(IDENTITIES, identities),
    Route(IDENTITIES + "/remove", remove, methods=["POST"]),
    Route(IDENTITIES + "/email", send_code, methods=["POST"]),
    Route(IDENTITIES + "/email/code", check_code, methods=["POST"]),
    Route(IDENTITIES + "/phone", start_bot, methods=["POST"]),
    Route(IDENTITIES + "/sign-in/{provider}", sign_in),
]
