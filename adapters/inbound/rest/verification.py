"""Identity verification over REST."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any
from urllib.parse import parse_qs, urlencode

from fastapi import APIRouter, Path, Request, Response
from pydantic import Field, StrictInt

from adapters.inbound.console.sessions import SIGN_IN
from adapters.inbound.console.static import static_address
from adapters.inbound.rest import examples
from adapters.inbound.rest.bodies import Answer, Body, Done, Empty, Text, attribute
from adapters.inbound.rest.routing import Call, GatewayState, JsonRoute, Services, errors
from adapters.inbound.rest.verification_page import Addresses, closing_page, redirect_page
from domain import limits
from domain.access.platform_sign_in import STATE_PREFIX
from domain.channels.messages import Identity
from domain.verification import model
from domain.verification.model import OAUTH_PROVIDERS, BotLink


class VerificationProviders(Done):
    providers: dict[str, bool] = Field(
        examples=[
            {
                "bot-messenger": True,
                "email": True,
                "workspace-chat": True,
                "gaming-chat": True,
                "community-chat": True,
            }
        ]
    )


class VerifiedIdentity(Answer):
    field: str = Field(examples=["email"])
    value: str = Field(examples=["ann@example.com"])


class VerifiedIdentities(Done):
    identities: list[VerifiedIdentity]


class IdentityRemoved(Done):
    message: str = Field(examples=["The identity email ann@example.com is removed."])


class StartEmail(Body):
    email: Text = Field(max_length=limits.EMAIL, examples=["ann@example.com"])


class CodeSent(Done):
    expiresInSeconds: int = Field(examples=[600])
    message: str = Field(examples=["A code was sent to ann@example.com."])


class VerifyEmail(Body):
    otp: Text = Field(
        description="The 6 digits that were sent.", max_length=limits.ONE_TIME_CODE, examples=["123456"]
    )


class EmailVerified(Done):
    message: str = Field(examples=["It is verified."])
    email: str = Field(examples=["ann@example.com"])


class BotLinkAnswer(Done):
    deepLink: str = attribute(
        "address", examples=["https://t.me/verify_bot?start=uV7bghk9JEVYMDCwcJITYhWDUUu1AEoX4R"]
    )
    expiresInSeconds: int = Field(examples=[300])
    message: str = Field(examples=["Open the link, press Start and share your contact."])


class BotCallback(Body):
    token: Text = Field(max_length=limits.LINK_TOKEN, examples=["uV7bghk9JEVYMDCwcJITYhWDUUu1AEoX4R"])
    bot_messenger_id: Annotated[Text, Field(max_length=limits.MESSENGER_ID)] | StrictInt = Field(
        examples=["77"]
    )
    phone: Annotated[Text, Field(max_length=limits.PHONE)] | StrictInt = Field(examples=["+4915112345678"])


class BotVerified(Done):
    message: str = Field(examples=["The phone number is verified."])
    userId: str = Field(examples=["ann"])


class AuthUrl(Done):
    authUrl: str = Field(examples=["https://discord.com/oauth2/authorize?client_id=1&state=mF2"])


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
    }
}
CALLBACK_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/html": {}}, "description": "Verified; the page tells its opener and closes."},
    400: {"content": {"text/html": {}}, "description": "Not verified; the page says why."},
}
START_OAUTH = (
    "Gives the address of the provider to open in a browser. The provider sends the browser back to"
    " `/api/agent/verification/callback/{provider}` within 600 seconds. 400 where the provider is not set up."
)
router = APIRouter(route_class=JsonRoute, prefix="/api/agent/verification", tags=["identity verification"])


@router.get(
    "/providers",
    response_model=VerificationProviders,
    summary="Which ways of verification this server offers (no key needed)",
)
async def providers(services: Services) -> dict[str, object]:
    """Which ways of verification this server is set up for."""
    return {"providers": await services.verification.identities.providers()}


@router.get(
    "/identities",
    response_model=VerifiedIdentities,
    responses=errors(400),
    summary="The caller's verified identities",
)
async def identities(call: Call) -> dict[str, object]:
    """The verified identities of the caller."""
    return {"identities": await call.services.verification.identities.list_identities(call.caller)}


@router.delete(
    "/identities/{field}/{value:path}",
    response_model=IdentityRemoved,
    responses=errors(400, 404),
    summary="Remove one of the caller's verified identities",
)
async def remove_identity(
    call: Call,
    field: Annotated[str, Path(description="Type of an identity.", examples=["email"])],
    value: Annotated[str, Path(description="Value of an identity.", examples=["ann@example.com"])],
) -> IdentityRemoved:
    """Removes one of the caller's identities. The value may hold slashes."""
    await call.services.verification.identities.remove_identity(call.caller, Identity(field, value))
    return IdentityRemoved(message=f"The identity {field} {value} is removed.")


@router.post(
    "/start-email",
    response_model=CodeSent,
    responses=errors(400, 429),
    summary="Send a 6-digit code to a mail address",
)
async def start_email(call: Call, body: StartEmail) -> model.CodeSent:
    """Sends a code of 6 digits that is valid for 600 seconds. At most five an hour for each address (429)."""
    return await call.services.verification.email.start_email(call.caller, body.email)


@router.post(
    "/verify-email",
    response_model=EmailVerified,
    responses=errors(400),
    summary="Verify the address with the code",
)
async def verify_email(call: Call, body: VerifyEmail) -> EmailVerified:
    """Verifies the address that the code was sent to. Five wrong tries void a code."""
    email = await call.services.verification.email.verify_email(call.caller, body.otp)
    return EmailVerified(message=f"{email} is verified.", email=email)


@router.post(
    "/start-bot-messenger",
    response_model=BotLinkAnswer,
    responses=errors(400),
    summary="A link that opens the verification bot",
)
async def start_bot_messenger(call: Call) -> BotLink:
    """Gives a link to the verification bot that is valid for 300 seconds."""
    return await call.services.verification.bot.start_bot_messenger(call.caller)


@router.post(
    "/bot-messenger-bot-webhook",
    response_model=Empty,
    responses=errors(400, 401),
    summary="Called by the messenger platform for the verification bot",
    openapi_extra=BOT_UPDATE,
)
async def bot_webhook(services: Services, request: Request) -> Empty:
    """Called by Telegram for the verification bot, with the secret token that was registered (401 otherwise)."""
    headers = {name.lower(): value for name, value in request.headers.items()}
    await services.verification.bot.bot_webhook(headers, await request.body())
    return Empty()


@router.post(
    "/bot-messenger-callback",
    response_model=BotVerified,
    responses=errors(400, 403),
    summary="A contact was shared with the bot (internal service key)",
)
async def bot_callback(call: Call, body: BotCallback) -> BotVerified:
    """Stores the three identities that a shared contact proves. Needs the internal service key (403 otherwise); the
    token names the user."""
    user = await call.services.verification.bot.complete_bot_messenger(
        call.caller, body.token, str(body.bot_messenger_id), str(body.phone)
    )
    return BotVerified(message="The phone number is verified.", userId=user)


def start_oauth(provider: str) -> Callable[..., Awaitable[AuthUrl]]:
    """The handler of the route of a provider."""

    async def start(call: Call) -> AuthUrl:
        return AuthUrl(authUrl=await call.services.verification.oauth.start_oauth(call.caller, provider))

    return start


for _provider in OAUTH_PROVIDERS:
    router.add_api_route(
        f"/start-{_provider.value}",
        start_oauth(_provider.value),
        methods=["POST"],
        response_model=AuthUrl,
        responses=errors(400),
        operation_id=f"start_{_provider.value.replace('-', '_')}",
        summary=f"Where to send the browser to verify a {_provider.value} identity",
        description=START_OAUTH,
    )


@router.get(
    "/callback/{provider}",
    response_class=Response,
    responses=CALLBACK_ANSWERS,
    summary="OAuth redirect of a provider (no key needed)",
)
async def callback(
    gateway: GatewayState,
    request: Request,
    provider: Annotated[
        str,
        Path(
            description="workspace-chat, gaming-chat, community-chat or enterprise-chat.",
            examples=["gaming-chat"],
        ),
    ],
) -> Response:
    """Reached by the browser from the provider, with `state` and `code`. Answers with a page that tells its opener
    the outcome and closes."""
    try:
        query = parse_qs(
            request.url.query, keep_blank_values=True, max_num_fields=MAX_PARAMETERS, errors="replace"
        )
    except ValueError:  # so many parameters come from no provider
        query = {}
    state, code, error = (query.get(name, [""])[0] for name in ("state", "code", "error"))
    options = gateway.options
    # The provider knows this redirect address alone, so that a sign-in to the console comes back here too.
    if state.startswith(STATE_PREFIX) and provider in OAUTH_PROVIDERS:
        returned = urlencode({"state": state, "code": code, "error": error})
        return redirect_page(
            f"{options.agent_url.rstrip('/')}{SIGN_IN}/account/{provider}/callback?{returned}"
        )
    result = await gateway.use_cases.verification.oauth.complete_oauth(provider, state, code, error)
    # The page may come by way of a platform that forwards no other path, so its stylesheet is named in full.
    style = options.agent_url.rstrip("/") + static_address("console.css")
    addresses = Addresses(options.platform_url, style, options.verification_page)
    return closing_page(provider, result, addresses, gateway.ids.token(18))
