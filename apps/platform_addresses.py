"""Addresses of platforms, which settings may replace: of their channels, and of signing in with them."""

from collections.abc import Mapping

from apps.setting_types import SettingsError, checked_address

SIGN_IN_ADDRESSES: Mapping[str, str] = {
    "WORKSPACE_CHAT_AUTHORIZE_URL": "https://slack.com/openid/connect/authorize",
    "WORKSPACE_CHAT_TOKEN_URL": "https://slack.com/api/openid.connect.token",
    "WORKSPACE_CHAT_USERINFO_URL": "https://slack.com/api/openid.connect.userInfo",
    "GAMING_CHAT_AUTHORIZE_URL": "https://discord.com/oauth2/authorize",
    "GAMING_CHAT_TOKEN_URL": "https://discord.com/api/v10/oauth2/token",
    "GAMING_CHAT_USERINFO_URL": "https://discord.com/api/v10/users/@me",
    "COMMUNITY_CHAT_AUTHORIZE_URL": "",
    "COMMUNITY_CHAT_TOKEN_URL": "",
    "COMMUNITY_CHAT_USERINFO_URL": "",
    "ENTERPRISE_CHAT_AUTHORIZE_URL": "https://login.microsoftonline.com/organizations/oauth2/v2.0/authorize",
    "ENTERPRISE_CHAT_TOKEN_URL": "https://login.microsoftonline.com/organizations/oauth2/v2.0/token",
    "ENTERPRISE_CHAT_USERINFO_URL": "https://graph.microsoft.com/v1.0/me",
}
"""Where users sign in for verification. The three empty ones follow from COMMUNITY_CHAT_SERVER_URL."""

CHANNEL_ADDRESSES = (
    "WORKSPACE_CHAT_API_URL",
    "ENTERPRISE_CHAT_LOGIN_URL",
    "ENTERPRISE_CHAT_OPENID_URL",
    "ENTERPRISE_CHAT_SERVICE_URL",
    "GAMING_CHAT_API_URL",
    "BOT_MESSENGER_API_URL",
    "BUSINESS_MESSAGING_API_URL",
    "SMS_PROVIDER_API_URL",
    "MAIL_API_URL",
    "GOOGLE_TOKEN_URL",
    "DRIVE_FOLDER_API_URL",
)
"""Names of the addresses that the channels of this package declare, for those who have not loaded the channels."""

TRUSTED_HOSTS = "ENTERPRISE_CHAT_TRUSTED_HOSTS"
EMULATOR = "ENTERPRISE_CHAT_EMULATOR"

COMMUNITY_CHAT_PATHS = {
    "COMMUNITY_CHAT_AUTHORIZE_URL": "/oauth/authorize",
    "COMMUNITY_CHAT_TOKEN_URL": "/oauth/access_token",
    "COMMUNITY_CHAT_USERINFO_URL": "/api/v4/users/me",
}


def sign_in_addresses(values: Mapping[str, str], community_server: str) -> dict[str, str]:
    """The addresses by the names of their settings. Raises `SettingsError`."""
    addresses = {
        name: checked(name, values.get(name, default)) for name, default in SIGN_IN_ADDRESSES.items()
    }
    if community_server:
        for name, path in COMMUNITY_CHAT_PATHS.items():
            addresses[name] = addresses[name] or community_server + path
    return addresses


def checked(name: str, value: str) -> str:
    """Raises `SettingsError`."""
    try:
        return checked_address(value)
    except ValueError as error:
        raise SettingsError(f"{name} {error}") from error
