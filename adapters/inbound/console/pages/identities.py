"""A user's own identities: what is verified, and the ways to verify more. Works without a platform around it."""

from collections.abc import Mapping
from typing import Any

from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from adapters.inbound.console.requests import ConsoleRequest, faults_of, redirect, render
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


async def identities(request: ConsoleRequest) -> Response:
    return await _page(request)


async def remove(request: ConsoleRequest) -> Response:
    form = await request.posted()
    identity = Identity(str(form.get("field", "")), str(form.get("value", "")))
    await request.services.verification.identities.remove_identity(request.caller, identity)
    return redirect(IDENTITIES, f"{NAMES.get(identity.field, identity.field)} {identity.value} was removed.")


async def send_code(request: ConsoleRequest) -> Response:
    email = str((await request.posted()).get("email", ""))
    try:
        sent = await request.services.verification.email.start_email(request.caller, email)
    except (Invalid, TooMany, Unavailable) as refusal:
        return await _page(request, email=email, faults=_faults(refusal, "email"))
    return redirect(f"{IDENTITIES}?code=sent", sent.message)


async def check_code(request: ConsoleRequest) -> Response:
    code = str((await request.posted()).get("otp", ""))
    try:
        address = await request.services.verification.email.verify_email(request.caller, code)
    except Invalid as refusal:
        return await _page(request, code_sent=True, faults=_faults(refusal, "otp"))
    return redirect(IDENTITIES, f"{address} is verified.")


async def start_bot(request: ConsoleRequest) -> Response:
    """The link is shown in this answer alone, so nothing is redirected."""
    link = await request.services.verification.bot.start_bot_messenger(request.caller)
    return await _page(request, link=link)


async def sign_in(request: ConsoleRequest) -> Response:
    """Sends the browser to the provider."""
    provider = request.path_params["provider"]
    address = await request.services.verification.oauth.start_oauth(request.caller, provider)
    return RedirectResponse(address, 303)


def _faults(refusal: Invalid | TooMany | Unavailable, field: str) -> dict[str, str]:
    """All errors at the one field of the form."""
    if isinstance(refusal, Invalid):
        return {field: "; ".join(faults_of(refusal).values()).removeprefix(f"{field}: ")}
    return {field: refusal.message}


async def _page(request: ConsoleRequest, **shown: Any) -> Response:
    verification, caller = request.services.verification, request.caller
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
    return render(
        request, "identities.html", values, status=400 if values["faults"] else 200, live_kinds=kinds
    )


ROUTES = [
    Route(IDENTITIES, identities),
    Route(IDENTITIES + "/remove", remove, methods=["POST"]),
    Route(IDENTITIES + "/email", send_code, methods=["POST"]),
    Route(IDENTITIES + "/email/code", check_code, methods=["POST"]),
    Route(IDENTITIES + "/phone", start_bot, methods=["POST"]),
    Route(IDENTITIES + "/sign-in/{provider}", sign_in),
]
