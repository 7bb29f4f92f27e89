"""Identity verification, wired from the settings."""

import asyncio
import hashlib
import logging
from collections.abc import Mapping

from adapters.outbound.channels.bot_messenger.api import BASE
from adapters.outbound.mail.mailer import SmtpMailer
from adapters.outbound.mail.smtp import Security, SmtpServer, Submission
from adapters.outbound.net.addresses import AddressPolicy, AllowedAddresses
from adapters.outbound.net.oauth import Client, OAuthIdentities
from adapters.outbound.storage.identities import PostgresVerifications
from adapters.outbound.system.clock import RandomIds, SystemClock
from adapters.outbound.system.verification_bot import TelegramVerificationBot
from apps.compose.storage import Foundation, Storage
from apps.processes.process import Component, Phase
from apps.settings import Settings
from domain.use_cases import Verification
from domain.verification.model import Provider
from domain.verification.service import (
    BotVerificationService,
    EmailVerificationService,
    IdentityService,
    OAuthVerificationService,
)
from ports.capabilities import PlatformError
from ports.http import Http

log = logging.getLogger("switchboard.verification")

REGISTER_AGAIN = 3600.0
"""Seconds between two registrations of the bot's webhook; a failed one is repeated after a minute."""


def offered(settings: Settings) -> frozenset[Provider]:
    """The providers whose settings are all there."""
    needed: dict[Provider, tuple[str, ...]] = {
        Provider.BOT_MESSENGER: (settings.verification_bot_token, settings.verification_bot_username),
        Provider.EMAIL: (settings.smtp_host, settings.smtp_from),
        **{provider: (client.id, client.secret) for provider, client in _clients(settings).items()},
    }
    needed[Provider.COMMUNITY_CHAT] += (settings.community_chat_server_url,)
    return frozenset(provider for provider, values in needed.items() if all(values))


def _clients(settings: Settings) -> Mapping[Provider, Client]:
    return {
        Provider.WORKSPACE_CHAT: Client(
            settings.workspace_chat_client_id, settings.workspace_chat_client_secret
        ),
        Provider.GAMING_CHAT: Client(settings.gaming_chat_client_id, settings.gaming_chat_client_secret),
        Provider.COMMUNITY_CHAT: Client(
            settings.community_chat_client_id, settings.community_chat_client_secret
        ),
        Provider.ENTERPRISE_CHAT: Client(
            settings.enterprise_chat_client_id, settings.enterprise_chat_client_secret
        ),
    }


def mailer(settings: Settings, clock: SystemClock, ids: RandomIds) -> SmtpMailer:
    server = SmtpServer(
        host=settings.smtp_host,
        port=settings.smtp_port,
        security=Security.IMPLICIT if settings.smtp_secure else Security.OPPORTUNISTIC,
        username=settings.smtp_user,
        password=settings.smtp_password,
        tls_field="SMTP_SECURE",
    )
    # The operator's own server is exempt from the policy for addresses that users gave.
    submission = Submission(AllowedAddresses(AddressPolicy()))
    return SmtpMailer(submission, server, settings.smtp_from, clock, ids)


def bot(settings: Settings, http: Http) -> TelegramVerificationBot:
    return TelegramVerificationBot(
        http,
        settings.address(BASE),
        settings.verification_bot_token,
        settings.verification_bot_username,
    )


def oauth(foundation: Foundation) -> OAuthIdentities:
    settings = foundation.settings
    return OAuthIdentities(
        foundation.http, _clients(settings), settings.addresses.__getitem__, settings.platform_url
    )


def service(foundation: Foundation, storage: Storage) -> Verification:
    settings, http = foundation.settings, foundation.http
    clock, ids, identities = foundation.clock, foundation.ids, storage.identities
    first_key = settings.config_encryption_key.split(",")[0].strip()
    secret = hashlib.sha256(b"verification codes\0" + first_key.encode()).digest()
    ready, pending = offered(settings), PostgresVerifications(storage.database, storage.config_cipher)
    return Verification(
        IdentityService(identities, ready, storage.audit),
        EmailVerificationService(
            identities, pending, mailer(settings, clock, ids), clock, ids, storage.audit, ready, secret
        ),
        BotVerificationService(identities, pending, bot(settings, http), clock, ids, storage.audit, ready),
        OAuthVerificationService(identities, pending, oauth(foundation), clock, ids, storage.audit, ready),
    )


class VerificationBotComponent(Component):
    """Keeps the verification bot's webhook registered, where there is a bot."""

    name = "verification bot"
    phase = Phase.WORK

    def __init__(self, settings: Settings, http: Http) -> None:
        self._settings = settings
        self._bot = bot(settings, http)

    async def run(self) -> None:
        if Provider.BOT_MESSENGER not in offered(self._settings):
            await asyncio.Event().wait()
        while True:
            try:
                await self._bot.register(self._settings.agent_url)
            except PlatformError as failure:
                log.warning("the verification bot's webhook is not registered: %s", failure)
                await asyncio.sleep(60)
            else:
                await asyncio.sleep(REGISTER_AGAIN)
