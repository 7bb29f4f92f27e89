"""Base addresses of the platforms, which settings may replace."""

from __future__ import annotations

from collections.abc import Mapping

from apps.setting_types import SettingsError, checked_address

ADDRESSES: Mapping[str, str] = {
    "WORKSPACE_CHAT_API_URL": "https://slack.com/api",
    "GAMING_CHAT_API_URL": "https://discord.com/api/v10",
    "BOT_MESSENGER_API_URL": "https://api.telegram.org",
    "BUSINESS_MESSAGING_API_URL": "https://graph.facebook.com",
    "SMS_PROVIDER_API_URL": "https://api.twilio.com",
    "MAIL_API_URL": "https://gmail.googleapis.com",
    "DRIVE_FOLDER_API_URL": "https://www.googleapis.com",
    "GOOGLE_TOKEN_URL": "https://oauth2.googleapis.com/token",
    "ENTERPRISE_CHAT_LOGIN_URL": "https://login.microsoftonline.com",
    "ENTERPRISE_CHAT_OPENID_URL": "https://login.botframework.com/v1/.well-known/openidconfiguration",
    "WORKSPACE_CHAT_AUTHORIZE_URL": "https://slack.com/openid/connect/authorize",
    "WORKSPACE_CHAT_TOKEN_URL": "https://slack.com/api/openid.connect.token",
    "WORKSPACE_CHAT_USERINFO_URL": "https://slack.com/api/openid.connect.userInfo",
    "GAMING_CHAT_AUTHORIZE_URL": "https://discord.com/oauth2/authorize",
    "GAMING_CHAT_TOKEN_URL": "https://discord.com/api/v10/oauth2/token",
    "GAMING_CHAT_USERINFO_URL": "https://discord.com/api/v10/users/@me",
    "COMMUNITY_CHAT_AUTHORIZE_URL": "",
    "COMMUNITY_CHAT_TOKEN_URL": "",
    "COMMUNITY_CHAT_USERINFO_URL": "",
}
"""Base addresses of the platforms. The three empty ones follow from COMMUNITY_CHAT_SERVER_URL."""

TRUSTED_HOSTS = "ENTERPRISE_CHAT_TRUSTED_HOSTS"
EMULATOR = "ENTERPRISE_CHAT_EMULATOR"

COMMUNITY_CHAT_PATHS = {
    "COMMUNITY_CHAT_AUTHORIZE_URL": "/oauth/authorize",
    "COMMUNITY_CHAT_TOKEN_URL": "/oauth/access_token",
    "COMMUNITY_CHAT_USERINFO_URL": "/api/v4/users/me",
}


def platform_addresses(values: Mapping[str, str], community_server: str) -> dict[str, str]:
    """The addresses by the names of their settings. Raises `SettingsError`."""
    addresses = {name: _checked(name, values.get(name, default)) for name, default in ADDRESSES.items()}
    if community_server:
        for name, path in COMMUNITY_CHAT_PATHS.items():
            addresses[name] = addresses[name] or community_server + path
    return addresses


def _checked(name: str, value: str) -> str:
    try:
        return checked_address(value)
    except ValueError as error:
        raise SettingsError(f"{name} {error}") from error
