"""Identity verification over REST."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs

from fastapi import APIRouter, Request, Response

from adapters.inbound.rest import examples, schemas
from adapters.inbound.rest.errors import JsonResponse
from adapters.inbound.rest.routing import JsonRoute, caller_of, errors
from adapters.inbound.rest.verification_page import closing_page
from domain.channels.messages import Identity
from domain.verification.model import OAUTH_PROVIDERS
from ports.clock import Ids
from ports.use_cases import Verification

BASE = "/api/agent/verification"
MAX_PARAMETERS = 50
BOT_UPDATE: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {"type": "object", "description": "An Update of Telegram's Bot API."},
                "example": examples.BOT_UPDATE,
            }
        },
    },
}


def router(verification: Verification, ids: Ids, platform_url: str) -> APIRouter:
    routes = APIRouter(route_class=JsonRoute, prefix=BASE, tags=["identity verification"])

    @routes.get(
        "/providers",
        response_model=schemas.VerificationProviders,
        summary="Which ways of verification this server offers (no key needed)",
    )
    async def providers() -> JsonResponse:
        return JsonResponse({"success": True, "providers": dict(await verification.providers())})

    @routes.get(
        "/identities",
        response_model=schemas.VerifiedIdentities,
        responses=errors(400),
        summary="The caller's verified identities",
    )
    async def identities(request: Request) -> JsonResponse:
        found = await verification.identities(caller_of(request))
        listed = [{"field": each.field, "value": each.value} for each in found]
        return JsonResponse({"success": True, "identities": listed})

    @routes.delete(
        "/identities/{field}/{value:path}",
        response_model=schemas.IdentityRemoved,
        responses=errors(400, 404),
        summary="Remove one of the caller's verified identities",
    )
    async def remove_identity(request: Request, field: str, value: str) -> JsonResponse:
        await verification.remove_identity(caller_of(request), Identity(field, value))
        return JsonResponse({"success": True, "message": f"The identity {field} {value} is removed."})

    _email(routes, verification)
    _bot(routes, verification)
    _oauth(routes, verification, ids, platform_url)
    return routes


def _email(routes: APIRouter, verification: Verification) -> None:
    @routes.post(
        "/start-email",
        response_model=schemas.CodeSent,
        responses=errors(400, 429),
        summary="Send a 6-digit code to a mail address",
    )
    async def start_email(request: Request, body: schemas.StartEmail) -> JsonResponse:
        sent = await verification.start_email(caller_of(request), body.email)
        return JsonResponse(
            {"success": True, "expiresInSeconds": sent.expires_in_seconds, "message": sent.message}
        )

    @routes.post(
        "/verify-email",
        response_model=schemas.EmailVerified,
        responses=errors(400),
        summary="Verify the address with the code",
    )
    async def verify_email(request: Request, body: schemas.VerifyEmail) -> JsonResponse:
        email = await verification.verify_email(caller_of(request), body.otp)
        return JsonResponse({"success": True, "message": f"{email} is verified.", "email": email})


def _bot(routes: APIRouter, verification: Verification) -> None:
    @routes.post(
        "/start-bot-messenger",
        response_model=schemas.BotLinkAnswer,
        responses=errors(400),
        summary="A link that opens the verification bot",
    )
    async def start_bot_messenger(request: Request) -> JsonResponse:
        link = await verification.start_bot_messenger(caller_of(request))
        return JsonResponse(
            {
                "success": True,
                "deepLink": link.address,
                "expiresInSeconds": link.expires_in_seconds,
                "message": link.message,
            }
        )

    @routes.post(
        "/bot-messenger-bot-webhook",
        response_model=schemas.Empty,
        responses=errors(400, 401),
        summary="Called by the messenger platform for the verification bot",
        openapi_extra=BOT_UPDATE,
    )
    async def bot_webhook(request: Request) -> JsonResponse:
        headers = {name.lower(): value for name, value in request.headers.items()}
        await verification.bot_webhook(headers, await request.body())
        return JsonResponse({})

    @routes.post(
        "/bot-messenger-callback",
        response_model=schemas.BotVerified,
        responses=errors(400, 403),
        summary="A contact was shared with the bot (internal service key)",
    )
    async def bot_callback(request: Request, body: schemas.BotCallback) -> JsonResponse:
        messenger_id = str(body.bot_messenger_id)
        user = await verification.complete_bot_messenger(
            caller_of(request), body.token, messenger_id, str(body.phone)
        )
        return JsonResponse({"success": True, "message": "The phone number is verified.", "userId": user})


def _oauth(routes: APIRouter, verification: Verification, ids: Ids, platform_url: str) -> None:
    def starting(provider: str) -> None:
        @routes.post(
            f"/start-{provider}",
            response_model=schemas.AuthUrl,
            responses=errors(400),
            operation_id=f"start_{provider.replace('-', '_')}",
            summary=f"Where to send the browser to verify a {provider} identity",
        )
        async def start(request: Request) -> JsonResponse:
            url = await verification.start_oauth(caller_of(request), provider)
            return JsonResponse({"success": True, "authUrl": url})

    for provider in OAUTH_PROVIDERS:
        starting(provider.value)

    @routes.get(
        "/callback/{provider}",
        response_class=Response,
        responses={
            200: {
                "content": {"text/html": {}},
                "description": "Verified; the page tells its opener and closes.",
            },
            400: {"content": {"text/html": {}}, "description": "Not verified; the page says why."},
        },
        summary="OAuth redirect of a provider (no key needed)",
    )
    async def callback(request: Request, provider: str) -> Response:
        query = _redirected_with(request.url.query)
        state, code, error = (query.get(name, [""])[0] for name in ("state", "code", "error"))
        result = await verification.complete_oauth(provider, state, code, error)
        page = closing_page(provider, result, platform_url, ids.token(18))
        return Response(page.html, 200 if result.success else 400, page.headers, "text/html; charset=utf-8")


def _redirected_with(query: str) -> dict[str, list[str]]:
    """The query of a redirect; one with very many parameters comes from no provider, and is taken for empty."""
    try:
        return parse_qs(query, keep_blank_values=True, max_num_fields=MAX_PARAMETERS, errors="replace")
    except ValueError:
        return {}
