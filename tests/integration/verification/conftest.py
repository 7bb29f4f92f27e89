"""The whole of verification on a real database, with servers for mail, sign-in and the bot."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, fields
from typing import Any

import httpx
import pytest

from adapters.inbound.rest.app import build
from adapters.inbound.rest.routing import GatewayOptions
from adapters.outbound.channels.tests.support import SetClock
from adapters.outbound.mail.mailer import SmtpMailer
from adapters.outbound.mail.smtp import Security, SmtpServer, Submission
from adapters.outbound.net.addresses import AddressPolicy, AllowedAddresses
from adapters.outbound.net.http import AioHttp
from adapters.outbound.net.oauth import Client, OAuthIdentities
from adapters.outbound.storage.audit import PostgresAudit
from adapters.outbound.storage.identities import PostgresIdentities, PostgresVerifications
from adapters.outbound.storage.pool import Database
from adapters.outbound.system.clock import RandomIds
from adapters.outbound.system.encryption import ConfigCipher, new_key
from adapters.outbound.system.verification_bot import TelegramVerificationBot
from domain.access.model import Caller
from domain.refusals import Unauthenticated
from domain.use_cases import UseCases, Verification
from domain.verification.model import Provider
from domain.verification.service import (
    BotVerificationService,
    EmailVerificationService,
    IdentityService,
    OAuthVerificationService,
)
from tests.support.mail import Postbox, smtp_server
from tests.support.platforms.bot_api import BOT_TOKEN, VerificationBotApi
from tests.support.platforms.sign_in import CLIENT_ID, CLIENT_SECRET, SignIn

PLATFORM_URL = "https://platform.example:8443"
SERVICE_KEY = "internal"


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
async def database(anyio_backend: str, database_url: str) -> AsyncIterator[Database]:
    opened = Database(database_url)
    await opened.open()
    yield opened
    await opened.close()


@pytest.fixture
def postbox() -> Iterator[Postbox]:
    with smtp_server(auth=False) as server:
        yield server


@pytest.fixture
async def sign_in(anyio_backend: str) -> AsyncIterator[SignIn]:
    async with SignIn.run() as platform:
        yield platform


@pytest.fixture
async def bot_api(anyio_backend: str) -> AsyncIterator[VerificationBotApi]:
    async with VerificationBotApi.run() as platform:
        yield platform


@pytest.fixture
async def bot(bot_api: VerificationBotApi) -> AsyncIterator[TelegramVerificationBot]:
    http = AioHttp(AddressPolicy())
    yield TelegramVerificationBot(http, bot_api.url, BOT_TOKEN, "verify_bot")
    await http.close()


@dataclass
class Made:
    """What a service is made of, so that a test can leave something out."""

    database: Database
    clock: SetClock
    postbox: Postbox
    sign_in: SignIn
    bot: TelegramVerificationBot
    http: AioHttp

    def service(self, *offered: Provider, platform_url: str = PLATFORM_URL) -> Verification:
        submission = Submission(AllowedAddresses(AddressPolicy()))
        server = SmtpServer("127.0.0.1", self.postbox.port, Security.OPPORTUNISTIC)
        ids = RandomIds()
        kinds = ("AUTHORIZE", "TOKEN", "USERINFO")
        paths = dict(zip(kinds, ("/authorize", "/token", "/me"), strict=True))
        urls = {
            f"{name}_{kind}_URL": f"{self.sign_in.url}{path}"
            for name in ("WORKSPACE_CHAT", "GAMING_CHAT", "COMMUNITY_CHAT", "ENTERPRISE_CHAT")
            for kind, path in paths.items()
        }
        clients = {provider: Client(CLIENT_ID, CLIENT_SECRET) for provider in Provider}
        identities, ready = PostgresIdentities(self.database), offered or tuple(Provider)
        mailer = SmtpMailer(submission, server, "verify@switchboard.example", self.clock, ids)
        pending = PostgresVerifications(self.database, ConfigCipher(new_key()))
        sign_in = OAuthIdentities(self.http, clients, urls.__getitem__, platform_url)
        audit = PostgresAudit(self.database, self.clock)
        common = (self.clock, ids, audit, ready)
        return Verification(
            IdentityService(identities, ready, audit),
            EmailVerificationService(identities, pending, mailer, *common, b"secret"),
            BotVerificationService(identities, pending, self.bot, *common),
            OAuthVerificationService(identities, pending, sign_in, *common),
        )


@pytest.fixture
async def made(
    database: Database,
    clock: SetClock,
    postbox: Postbox,
    sign_in: SignIn,
    bot: TelegramVerificationBot,
) -> AsyncIterator[Made]:
    http = AioHttp(AddressPolicy())
    yield Made(database, clock, postbox, sign_in, bot, http)
    await http.close()


@pytest.fixture
def service(made: Made) -> Verification:
    return made.service()


class Keys:
    """Every key is its user's name; the service key is known."""

    async def authenticate(self, token: str, acting_for: str | None = None) -> Caller:
        if token == SERVICE_KEY:
            return Caller("internal-service", is_service=True)
        if not token.startswith("key-"):
            raise Unauthenticated("Unauthorized")
        return Caller(token.removeprefix("key-"))


@pytest.fixture
async def rest(service: Verification, clock: SetClock) -> AsyncIterator[httpx.AsyncClient]:
    """The REST gateway with verification behind it."""
    async with gateway(service, clock) as client:
        yield client


def gateway(
    service: Verification, clock: SetClock, platform_url: str = f"{PLATFORM_URL}/app"
) -> httpx.AsyncClient:
    nothing: Any = object()
    others = {field.name: nothing for field in fields(UseCases)}
    use_cases = UseCases(**{**others, "access": Keys(), "verification": service})
    options = GatewayOptions(
        agent_url="http://localhost:3011",
        platform_url=platform_url,
        max_body=100_000,
        max_upload=100_000,
        bind=lambda _: None,
        checks={},
        metrics=nothing,
    )
    app: Any = build(use_cases, clock, RandomIds(), options)
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://gateway.example/api/agent/verification")


def key(user: str) -> dict[str, str]:
    return {"Authorization": f"Bearer key-{user}"}
