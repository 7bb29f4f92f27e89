"""Sign-in of people, wired from the settings."""

from adapters.outbound.net.openid import Client, HttpOpenIdProvider
from adapters.outbound.storage.identities import PostgresVerifications
from adapters.outbound.system.passkeys import WebAuthn
from apps import verification
from apps.compose.storage import Foundation, Storage
from apps.setting_types import group_map
from apps.settings import Settings
from domain.access.invitations import InvitationService, MailLinkService
from domain.access.model import Role
from domain.access.passkeys import PasskeyService
from domain.access.platform_sign_in import PlatformSignInService
from domain.access.service import COMMAND
from domain.access.sessions import SessionOpener
from domain.access.single_sign_on import SignInRules, SingleSignOnService
from domain.audit.model import Action
from domain.verification.model import Provider
from ports.access import Mailer


def client(settings: Settings) -> Client:
    return Client(
        settings.oidc_issuer,
        settings.oidc_client_id,
        settings.oidc_client_secret,
        settings.oidc_scopes,
        settings.oidc_groups_claim,
        settings.agent_url,
    )


def rules(settings: Settings) -> SignInRules:
    domains = (domain.strip().lower().lstrip("@") for domain in settings.oidc_allowed_domains.split(","))
    roles = {group: Role(role) for group, role in group_map(settings.oidc_role_map).items()}
    return SignInRules(frozenset(filter(None, domains)), roles, group_map(settings.oidc_team_map))


def mailer(foundation: Foundation) -> Mailer | None:
    """Returns None without a mail server."""
    settings = foundation.settings
    if Provider.EMAIL not in verification.offered(settings):
        return None
    return verification.mailer(settings, foundation.clock, foundation.ids)


def invitations(foundation: Foundation, storage: Storage, opener: SessionOpener) -> InvitationService:
    return InvitationService(
        storage.invitations,
        storage.users,
        storage.teams,
        opener,
        mailer(foundation),
        storage.audit,
        foundation.ids,
        foundation.clock,
        foundation.settings.agent_url,
    )


def passkeys(foundation: Foundation, storage: Storage, opener: SessionOpener) -> PasskeyService:
    return PasskeyService(
        storage.keys,
        storage.users,
        storage.passkeys,
        storage.sign_ins,
        WebAuthn(foundation.settings.agent_url),
        opener,
        storage.audit,
        foundation.ids,
        foundation.clock,
    )


def platform_sign_in(
    foundation: Foundation, storage: Storage, opener: SessionOpener
) -> PlatformSignInService:
    return PlatformSignInService(
        storage.users,
        storage.identities,
        storage.sign_ins,
        verification.oauth(foundation),
        opener,
        storage.audit,
        foundation.ids,
        foundation.clock,
        verification.offered(foundation.settings),
    )


async def reset(storage: Storage, user_id: str) -> None:
    """Removes the passkeys of a user who lost them, and unties the account at the provider."""
    async with storage.audit.change(COMMAND, Action.PASSKEY_REMOVED, f"user:{user_id}") as details:
        details["count"] = await storage.passkeys.remove_all(user_id)
        details["accounts"] = await storage.sign_ins.untie(user_id)


def mail_links(foundation: Foundation, storage: Storage) -> MailLinkService:
    return MailLinkService(
        storage.keys,
        storage.users,
        PostgresVerifications(storage.database, storage.config_cipher),
        mailer(foundation),
        storage.audit,
        foundation.ids,
        foundation.clock,
        foundation.settings.agent_url,
    )


def single_sign_on(
    foundation: Foundation, storage: Storage, invited: InvitationService, opener: SessionOpener
) -> SingleSignOnService:
    settings = foundation.settings
    provider = None
    if settings.oidc_issuer:
        provider = HttpOpenIdProvider(foundation.http, foundation.clock, client(settings))
    return SingleSignOnService(
        storage.keys,
        storage.users,
        storage.teams,
        storage.sign_ins,
        invited,
        opener,
        storage.audit,
        foundation.ids,
        foundation.clock,
        settings.oidc_issuer,
        provider,
        rules(settings),
    )
