"""Sign-in of people, wired from the settings."""

from adapters.outbound.net.openid import Client, HttpOpenIdProvider
from apps.compose.storage import Foundation, Storage
from apps.setting_types import group_map
from apps.settings import Settings
from domain.access.model import Role
from domain.access.sessions import SessionOpener
from domain.access.single_sign_on import SignInRules, SingleSignOnService


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


def single_sign_on(foundation: Foundation, storage: Storage, opener: SessionOpener) -> SingleSignOnService:
    settings = foundation.settings
    provider = None
    if settings.oidc_issuer:
        provider = HttpOpenIdProvider(foundation.http, foundation.clock, client(settings))
    return SingleSignOnService(
        storage.keys,
        storage.users,
        storage.teams,
        storage.sign_ins,
        opener,
        storage.audit,
        foundation.ids,
        foundation.clock,
        settings.oidc_issuer,
        provider,
        rules(settings),
    )
