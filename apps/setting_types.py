"""The types of settings with the sentence for a wrong value, and addresses of platforms."""

import ipaddress
import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError
from pydantic.fields import FieldInfo

from adapters.outbound.channels.enterprise_chat.connector import is_host_entry
from adapters.outbound.core_client.cores import parse_targets
from domain.access.model import Role

LONGEST_BEARER = 2000
SHORTEST_SERVICE_KEY = 32
DEFAULT_GATEWAY = "default-gateway"
"""In a list of proxies: the next hop of the default route, which in a container is the machine that runs it."""
VIA_GATEWAY = 2
"""The flag RTF_GATEWAY of a route."""


class SettingsError(Exception):
    """A setting is missing or wrong; the message names it and the mend."""


def setting(
    default: Any,
    description: str,
    *,
    low: int | None = None,
    high: int | None = None,
    secret: bool = False,
    name: str | None = None,
) -> Any:
    """A setting, named as its field in capital letters unless `name` is given; numbers go from `low` to `high`."""
    return Field(
        default=default, description=description, ge=low, le=high, repr=not secret, validation_alias=name
    )


def check_service_key(key: str) -> None:
    """Raises `SettingsError` for a key that could be guessed: it stands for every user."""
    if len(key) < SHORTEST_SERVICE_KEY:
        raise SettingsError(
            f"INTERNAL_SERVICE_KEY must have at least {SHORTEST_SERVICE_KEY} characters, and has {len(key)};"
            " make another one with: openssl rand -base64 32"
        )


def first_error(invalid: ValidationError, fields: Mapping[str, FieldInfo]) -> SettingsError:
    """`fields`: the settings by their names."""
    error = invalid.errors()[0]
    name, value = str(error["loc"][0]), error["input"]
    match error["type"]:
        case "value_error":  # secrets have errors of their own, which do not repeat the value
            return SettingsError(f"{name} {error['ctx']['error']}")
        case "literal_error":
            choices = error["ctx"]["expected"].replace("'", "").replace(" or ", ", ")
            return SettingsError(f"{name} must be one of {choices}, not '{value}'")
        case "bool_parsing":
            return SettingsError(f"{name} must be true or false, not '{value}'")
    bounds: dict[str, int] = {}
    for limit in fields[name].metadata:
        bounds |= asdict(limit) if is_dataclass(limit) and not isinstance(limit, type) else {}
    return SettingsError(
        f"{name} must be a whole number from {bounds['ge']} to {bounds['le']}, not '{value}'"
    )


def _bearer(value: str) -> str:
    token = value.strip()
    if not all("!" <= character <= "~" for character in token) or len(token) > LONGEST_BEARER:
        raise ValueError(
            f"must be at most {LONGEST_BEARER} ASCII characters without spaces, since it travels in a header;"
            " make one with: openssl rand -base64 32"
        )
    return token


def _web_address(value: str) -> str:
    url = urlsplit(value)
    if value and (url.scheme not in ("http", "https") or not url.netloc):
        raise ValueError(f"must begin with http:// or https://, not '{value}'")
    return value


def checked_address(value: str) -> str:
    """Without a slash at its end. Raises `ValueError`."""
    return _web_address(value).rstrip("/")


def _database(value: str) -> str:
    if value:
        from psycopg import ProgrammingError
        from psycopg.conninfo import conninfo_to_dict

        try:
            conninfo_to_dict(value)
        except ProgrammingError as error:
            raise ValueError(
                "must be a libpq URL such as postgresql://user:password@host:5432/name"
            ) from error
    return value


def _queue(value: str) -> str:
    if value and urlsplit(value).scheme not in ("redis", "rediss", "unix"):
        raise ValueError("must be a URL such as redis://:password@host:6379/0")
    return value


def _entries(value: str) -> list[str]:
    return [entry.strip() for entry in value.split(",") if entry.strip()]


def _hosts(value: str) -> str:
    wrong = [host for host in _entries(value) if not is_host_entry(host)]
    if wrong:
        raise ValueError(
            "must list hosts such as bots.example, .bots.example, bots.example:8443 or [2001:db8::1]:8443,"
            f" not '{wrong[0]}'"
        )
    return ",".join(_entries(value)).lower()


def _networks(value: str) -> str:
    for network in _entries(value):
        try:
            ipaddress.ip_network(network)
        except ValueError as error:
            raise ValueError(
                f"must list networks such as 10.0.0.0/8: '{network}' is not a network"
            ) from error
    return value


def default_gateway(routes: str) -> str:
    """The address of the default route in /proc/net/route of Linux, or "" without one.

    Addresses there are hexadecimal in the machine's byte order.
    """
    for line in routes.splitlines()[1:]:
        _, destination, gateway, flags, *_ = line.split()
        if int(destination, 16) == 0 and int(flags, 16) & VIA_GATEWAY:
            return str(ipaddress.IPv4Address(int(gateway, 16).to_bytes(4, sys.byteorder)))
    return ""


def _proxies(value: str) -> str:
    entries = _entries(value)
    if DEFAULT_GATEWAY in entries:
        try:
            address = default_gateway(Path("/proc/net/route").read_text("ascii"))
        except OSError:
            address = ""
        entries = [address if entry == DEFAULT_GATEWAY else entry for entry in entries]
    return ",".join(filter(None, entries))


def group_map(value: str) -> dict[str, str]:
    """What belongs to a group, by its name: `group=name` with commas between, or a JSON object for names with commas.
    Raises `ValueError`."""
    if not value.strip().startswith("{"):
        pairs = [entry.rpartition("=") for entry in _entries(value)]
        names = {group.strip(): name.strip() for group, _, name in pairs}
    else:
        names = json.loads(value)
    if not all(group and name and isinstance(name, str) for group, name in names.items()):
        raise ValueError("must list group=name with commas between, or be a JSON object of texts")
    return names


def _group_map(value: str) -> str:
    group_map(value)
    return value


def _role_map(value: str) -> str:
    for role in group_map(value).values():
        if role not in tuple(Role):
            raise ValueError(f"must name roles ({', '.join(Role)}), not '{role}'")
    return value


def _targets(value: str) -> str:
    parse_targets(value)
    return value


HttpUrl = Annotated[str, AfterValidator(_web_address)]
Address = Annotated[str, AfterValidator(checked_address)]
Bearer = Annotated[str, AfterValidator(_bearer)]
"""What travels as a Bearer token, over HTTP and over gRPC."""
DatabaseUrl = Annotated[str, AfterValidator(_database)]
"""A libpq URL or `key=value` words."""
QueueUrl = Annotated[str, AfterValidator(_queue)]
CoreTargets = Annotated[str, AfterValidator(_targets)]
Hosts = Annotated[str, AfterValidator(_hosts)]
GroupMap = Annotated[str, AfterValidator(_group_map)]
RoleMap = Annotated[str, AfterValidator(_role_map)]
Networks = Annotated[str, AfterValidator(_networks)]
Proxies = Annotated[str, AfterValidator(_proxies)]
"""Addresses, networks, `*`, and `default-gateway`, which is replaced by its address."""
Flag = Annotated[bool, BeforeValidator(lambda value: value.strip() if isinstance(value, str) else value)]
Folder = Annotated[Path, AfterValidator(lambda path: path.expanduser().absolute())]
PemFile = Folder
"""A file in PEM form: certificates, or a private key."""
UserName = Annotated[str, AfterValidator(lambda value: value.lstrip("@"))]


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
