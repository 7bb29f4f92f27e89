"""The settings: environment variables, a `.env` file beneath them, a default for each."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from adapters.outbound.channels.enterprise_chat.trust import is_host_entry

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

PROVIDERS = ("WORKSPACE_CHAT", "GAMING_CHAT", "COMMUNITY_CHAT")


class SettingsError(Exception):
    """A setting is missing or wrong; the message names it and the mend."""


LONGEST_BEARER = 2000


def _text(name: str, value: str) -> str:
    return value


def _bearer(name: str, value: str) -> str:
    """What travels as a Bearer token, over HTTP and over gRPC."""
    token = value.strip()
    if not all("!" <= character <= "~" for character in token) or len(token) > LONGEST_BEARER:
        raise SettingsError(
            f"{name} must be at most {LONGEST_BEARER} ASCII characters without spaces, since it travels in a header;"
            " make one with: openssl rand -base64 32"
        )
    return token


def _flag(name: str, value: str) -> bool:
    lowered = value.strip().lower()
    if lowered in ("1", "true", "yes", "on"):
        return True
    if lowered in ("0", "false", "no", "off"):
        return False
    raise SettingsError(f"{name} must be true or false, not '{value}'")


def _whole(low: int, high: int) -> Callable[[str, str], int]:
    def parse(name: str, value: str) -> int:
        if value.strip().isdigit() and low <= int(value) <= high:
            return int(value)
        raise SettingsError(f"{name} must be a whole number from {low} to {high}, not '{value}'")

    return parse


def _address(name: str, value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise SettingsError(f"{name} must begin with http:// or https://, not '{value}'")
    return value.rstrip("/")


def _optional_address(name: str, value: str) -> str:
    return _address(name, value) if value else ""


def _database(name: str, value: str) -> str:
    """A libpq URL or `key=value` words. The value holds a password, so that the error does not repeat it."""
    if value:
        from psycopg import ProgrammingError
        from psycopg.conninfo import conninfo_to_dict

        try:
            conninfo_to_dict(value)
        except ProgrammingError as error:
            raise SettingsError(
                f"{name} must be a libpq URL such as postgresql://user:password@host:5432/name"
            ) from error
    return value


def _queue(name: str, value: str) -> str:
    if value and urlsplit(value).scheme not in ("redis", "rediss", "unix"):
        raise SettingsError(f"{name} must be a URL such as redis://:password@host:6379/0")
    return value


def _one_of(*choices: str) -> Callable[[str, str], str]:
    def parse(name: str, value: str) -> str:
        if value not in choices:
            raise SettingsError(f"{name} must be one of {', '.join(choices)}, not '{value}'")
        return value

    return parse


def _hosts(name: str, value: str) -> str:
    wrong = [each for each in _listed(value) if not is_host_entry(each)]
    if wrong:
        raise SettingsError(
            f"{name} must list hosts such as bots.example, .bots.example, bots.example:8443 or [2001:db8::1]:8443,"
            f" not '{wrong[0]}'"
        )
    return ",".join(each.lower() for each in _listed(value))


def _listed(value: str) -> list[str]:
    return [each.strip() for each in value.split(",") if each.strip()]


def _networks(name: str, value: str) -> str:
    for each in filter(None, (piece.strip() for piece in value.split(","))):
        try:
            ipaddress.ip_network(each)
        except ValueError as error:
            raise SettingsError(f"{name}: '{each}' is not a network such as 10.0.0.0/8") from error
    return value


def _setting(
    name: str, default: str, meaning: str, parse: Callable[[str, str], Any] = _text, *, secret: bool = False
) -> Any:
    metadata = {"name": name, "default": default, "meaning": meaning, "parse": parse, "secret": secret}
    return field(metadata=metadata, repr=not secret)


@dataclass(frozen=True)
class Settings:
    """All settings, parsed. `docs/settings.md` is written from this list."""

    http_host: str = _setting("HTTP_HOST", "127.0.0.1", "address that the REST gateway listens on")
    http_port: int = _setting("HTTP_PORT", "3011", "port of the REST gateway", _whole(0, 65535))
    http_max_connections: int = _setting(
        "HTTP_MAX_CONNECTIONS",
        "1000",
        "connections that the REST gateway keeps at a time, besides a few that are reserved for health checks",
        _whole(10, 100_000),
    )
    http_head_timeout: int = _setting(
        "HTTP_HEAD_TIMEOUT",
        "10",
        "seconds within which the address and the headers of a request must be there",
        _whole(1, 600),
    )
    http_stall_timeout: int = _setting(
        "HTTP_STALL_TIMEOUT",
        "20",
        "seconds over which a body must bring at least 500 bytes a second; answers have three times as long",
        _whole(1, 600),
    )
    http_keep_alive: int = _setting(
        "HTTP_KEEP_ALIVE",
        "65",
        "seconds for which an idle connection is kept; longer than a proxy in front keeps it",
        _whole(1, 3600),
    )
    grpc_host: str = _setting("GRPC_HOST", "127.0.0.1", "address that the gRPC core listens on")
    grpc_port: int = _setting("GRPC_PORT", "50051", "port of the gRPC core", _whole(0, 65535))
    core_target: str = _setting(
        "CORE_TARGET", "", "where `switchboard gateway` finds the core, host:port; empty: GRPC_HOST:GRPC_PORT"
    )
    data_dir: Path = _setting(
        "DATA_DIR",
        ".data",
        "embedded database, uploaded files and generated secrets",
        lambda _, value: Path(value).expanduser().absolute(),
    )
    database_url: str = _setting(
        "DATABASE_URL",
        "",
        "PostgreSQL 15+ with pgvector 0.7+ and pg_trgm, as a libpq URL; empty: the embedded one in DATA_DIR",
        _database,
        secret=True,
    )
    pg_bin_dir: Path | None = _setting(
        "PG_BIN_DIR",
        "",
        "folder with postgres and initdb for the embedded database; empty: the installed package's",
        lambda _, value: Path(value).expanduser().absolute() if value else None,
    )
    redis_url: str = _setting(
        "REDIS_URL", "", "Redis 6.2+ or Valkey; empty: an embedded queue", _queue, secret=True
    )
    agent_url: str = _setting(
        "AGENT_URL",
        "http://localhost:3011",
        "base address for webhook registration and signed links",
        _address,
    )
    platform_url: str = _setting(
        "PLATFORM_URL",
        "http://localhost:3010",
        "base address for OAuth redirects; without a platform in front, set it to AGENT_URL",
        _address,
    )
    internal_service_key: str = _setting(
        "INTERNAL_SERVICE_KEY",
        "",
        "service-to-service key; generated into DATA_DIR, must be set where DATABASE_URL is set",
        _bearer,
        secret=True,
    )
    config_encryption_key: str = _setting(
        "CONFIG_ENCRYPTION_KEY",
        "",
        "encrypts configurations at rest: 32 bytes in base64, several separated by commas, the first seals;"
        " generated into DATA_DIR, must be set where DATABASE_URL is set",
        secret=True,
    )
    smtp_host: str = _setting("SMTP_HOST", "", "mail server for verification mail")
    smtp_port: int = _setting("SMTP_PORT", "587", "its port", _whole(1, 65535))
    smtp_user: str = _setting("SMTP_USER", "", "its user; empty: no AUTH")
    smtp_password: str = _setting("SMTP_PASSWORD", "", "its password", secret=True)
    smtp_from: str = _setting("SMTP_FROM", "", "sender of verification mail: an address, or `Name <address>`")
    smtp_secure: bool = _setting(
        "SMTP_SECURE", "false", "true: TLS from the start; false: STARTTLS when offered", _flag
    )
    workspace_chat_client_id: str = _setting("WORKSPACE_CHAT_CLIENT_ID", "", "Slack OAuth client id")
    workspace_chat_client_secret: str = _setting(
        "WORKSPACE_CHAT_CLIENT_SECRET", "", "Slack OAuth client secret", secret=True
    )
    gaming_chat_client_id: str = _setting("GAMING_CHAT_CLIENT_ID", "", "Discord OAuth client id")
    gaming_chat_client_secret: str = _setting(
        "GAMING_CHAT_CLIENT_SECRET", "", "Discord OAuth client secret", secret=True
    )
    community_chat_client_id: str = _setting("COMMUNITY_CHAT_CLIENT_ID", "", "Mattermost OAuth client id")
    community_chat_client_secret: str = _setting(
        "COMMUNITY_CHAT_CLIENT_SECRET", "", "Mattermost OAuth client secret", secret=True
    )
    community_chat_server_url: str = _setting(
        "COMMUNITY_CHAT_SERVER_URL", "", "Mattermost server for verification", _optional_address
    )
    verification_bot_token: str = _setting(
        "VERIFICATION_BOT_TOKEN", "", "token of the Telegram bot for verification", secret=True
    )
    verification_bot_username: str = _setting(
        "VERIFICATION_BOT_USERNAME", "", "its user name, without @", lambda _, value: value.lstrip("@")
    )
    require_signatures: bool | None = _setting(
        "REQUIRE_SIGNATURES",
        "",
        "true: refuse calls whose origin nothing can prove; default: true where DATABASE_URL is set",
        lambda name, value: _flag(name, value) if value else None,
    )
    outbound_policy: str = _setting(
        "OUTBOUND_POLICY",
        "",
        "'open' or 'public-only' (user-given addresses in private ranges are refused); default: public-only"
        " where DATABASE_URL is set",
        lambda name, value: _one_of("open", "public-only")(name, value) if value else "",
    )
    enterprise_chat_trusted_hosts: str = _setting(
        TRUSTED_HOSTS,
        "",
        "comma-separated hosts that get the Teams bot's token over https, besides the Bot Framework's own: a name, an"
        " IP address (IPv6 in brackets), or .domain for all names below it; each may end in :port, else 443 is meant",
        _hosts,
    )
    enterprise_chat_emulator: bool = _setting(
        EMULATOR,
        "false",
        "for development: Teams instances without appId talk with a Bot Framework emulator on this machine, without"
        " tokens; refused where signatures are required",
        _flag,
    )
    outbound_allow: str = _setting(
        "OUTBOUND_ALLOW", "", "comma-separated networks that public-only allows all the same", _networks
    )
    kb_memory_sync: bool = _setting(
        "KB_MEMORY_SYNC", "false", "delete linked memory nodes with a knowledge base", _flag
    )
    memory_url: str = _setting(
        "MEMORY_URL", "", "memory service that KB_MEMORY_SYNC calls", _optional_address
    )
    kb_read_policy: str = _setting(
        "KB_READ_POLICY",
        "documented",
        "'strict': every read of a knowledge base needs READ",
        _one_of("documented", "strict"),
    )
    max_upload_mb: int = _setting("MAX_UPLOAD_MB", "100", "largest uploaded file, in MB", _whole(1, 10_000))
    max_files_per_upload: int = _setting("MAX_FILES_PER_UPLOAD", "20", "files in one upload", _whole(1, 1000))
    max_message_file_mb: int = _setting(
        "MAX_MESSAGE_FILE_MB", "100", "largest attachment or artifact of a message, in MB", _whole(1, 10_000)
    )
    message_file_days: int = _setting(
        "MESSAGE_FILE_DAYS",
        "7",
        "days for which files of messages are kept and their signed links are good; those of replies that were not"
        " sent are kept longer",
        _whole(1, 365),
    )
    max_webhook_body_kb: int = _setting(
        "MAX_WEBHOOK_BODY_KB", "1024", "largest body of a callback, in KB", _whole(1, 12_288)
    )
    resources_file: str = _setting("RESOURCES_FILE", "", "TOML file of rules for downstream resources")
    downstream_url: str = _setting(
        "DOWNSTREAM_URL",
        "",
        "where resources go that no rule and no built-in takes",
        lambda name, value: value if _optional_address(name, value) else "",
    )
    downstream_timeout: int = _setting(
        "DOWNSTREAM_TIMEOUT", "120", "seconds that a downstream resource has", _whole(1, 3600)
    )
    parsing_slots: int = _setting(
        "PARSING_SLOTS",
        "2",
        "PDF files, pictures and recordings that are read at a time, and as many files of the other formats",
        _whole(1, 64),
    )
    whisper_model_dir: str = _setting(
        "WHISPER_MODEL_DIR",
        "",
        "folder of a CTranslate2 Whisper model for speech (needs the extra `whisper`); empty: PocketSphinx, English",
    )
    embedding_model_dir: str = _setting(
        "EMBEDDING_MODEL_DIR",
        "",
        "folder of a 384-dimension sentence-transformers model; empty: the bundled one",
    )
    embedding_multilingual: bool = _setting(
        "EMBEDDING_MULTILINGUAL",
        "false",
        "the model of EMBEDDING_MODEL_DIR knows other scripts than Latin; else those are searched by text alone",
        _flag,
    )
    embedding_preload: bool = _setting(
        "EMBEDDING_PRELOAD",
        "false",
        "load the model right after the start instead of with the first file or search (about 500 MB)",
        _flag,
    )
    embedding_threads: int = _setting(
        "EMBEDDING_THREADS", "1", "processor threads that embed one batch of passages", _whole(1, 64)
    )
    embedding_dtype: str = _setting(
        "EMBEDDING_DTYPE",
        "float32",
        "bfloat16 embeds twice as fast on processors with AVX512-BF16 or AMX, and slower on others",
        _one_of("float32", "bfloat16"),
    )
    blob_s3_bucket: str = _setting(
        "BLOB_S3_BUCKET", "", "bucket of an S3-compatible store for uploaded files; empty: DATA_DIR"
    )
    blob_s3_endpoint: str = _setting(
        "BLOB_S3_ENDPOINT", "https://s3.us-east-1.amazonaws.com", "address of that store", _address
    )
    blob_s3_region: str = _setting("BLOB_S3_REGION", "us-east-1", "region that its requests are signed for")
    blob_s3_prefix: str = _setting("BLOB_S3_PREFIX", "switchboard/", "begins all keys in the bucket")
    blob_s3_access_key_id: str = _setting("BLOB_S3_ACCESS_KEY_ID", "", "access key of that store")
    blob_s3_secret_access_key: str = _setting("BLOB_S3_SECRET_ACCESS_KEY", "", "its secret", secret=True)
    upload_concurrency: int = _setting(
        "UPLOAD_CONCURRENCY",
        "4",
        "uploads that a worker processes at a time; beyond them as many again of users who have none under way",
        _whole(1, 64),
    )
    log_level: str = _setting(
        "LOG_LEVEL",
        "info",
        "debug, info, warning or error",
        _one_of("debug", "info", "warning", "error"),
    )
    log_format: str = _setting(
        "LOG_FORMAT",
        "auto",
        "json, console, or auto: console on a terminal",
        _one_of("auto", "json", "console"),
    )
    otlp_endpoint: str = _setting(
        "OTEL_EXPORTER_OTLP_ENDPOINT", "", "OpenTelemetry collector for traces (OTLP over HTTP); empty: none"
    )
    platform_limits: str = _setting(
        "PLATFORM_LIMITS",
        "published",
        "'published': the rate limits that platforms publish are kept; 'answers': only a 429 holds anything back, for"
        " accounts with limits of their own",
        _one_of("published", "answers"),
    )
    worker_concurrency: int = _setting(
        "WORKER_CONCURRENCY", "256", "conversations that one worker works on at once", _whole(1, 10_000)
    )
    addresses: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    """All that was set, for names that a configuration file mentions (`token_env` of a resource rule)."""

    @property
    def embedded(self) -> bool:
        """Whether the embedded database is used."""
        return not self.database_url

    @property
    def max_upload_bytes(self) -> int:
        """Of the body of an upload: its files, and 1 MB for each file and for the plain fields."""
        return (self.max_upload_mb * self.max_files_per_upload + self.max_files_per_upload + 1) * 1024 * 1024

    @property
    def demands_signatures(self) -> bool:
        return not self.embedded if self.require_signatures is None else self.require_signatures

    @property
    def address_policy(self) -> str:
        return self.outbound_policy or ("open" if self.embedded else "public-only")


def load(environment: Mapping[str, str] | None = None, env_file: Path | None = Path(".env")) -> Settings:
    """Reads the settings. Raises `SettingsError` that names the setting at fault."""
    values = {**_read_env_file(env_file), **(os.environ if environment is None else environment)}
    parsed: dict[str, Any] = {}
    for each in fields(Settings):
        if not each.metadata:
            continue
        name = each.metadata["name"]
        parsed[each.name] = each.metadata["parse"](name, values.get(name) or each.metadata["default"])
    parsed["addresses"] = {
        **_addresses(values, parsed["community_chat_server_url"]),
        TRUSTED_HOSTS: parsed["enterprise_chat_trusted_hosts"],
        EMULATOR: "on" if parsed["enterprise_chat_emulator"] else "",
    }
    settings = Settings(**parsed, environment=values)
    if settings.enterprise_chat_emulator and settings.demands_signatures:
        raise SettingsError(
            f"{EMULATOR} takes calls without any proof of origin; unset it, or set REQUIRE_SIGNATURES=false"
        )
    return settings


def _addresses(values: Mapping[str, str], community_server: str) -> Mapping[str, str]:
    found = {
        name: _optional_address(name, values.get(name) or default) for name, default in ADDRESSES.items()
    }
    if community_server:
        found["COMMUNITY_CHAT_AUTHORIZE_URL"] = (
            found["COMMUNITY_CHAT_AUTHORIZE_URL"] or f"{community_server}/oauth/authorize"
        )
        found["COMMUNITY_CHAT_TOKEN_URL"] = (
            found["COMMUNITY_CHAT_TOKEN_URL"] or f"{community_server}/oauth/access_token"
        )
        found["COMMUNITY_CHAT_USERINFO_URL"] = (
            found["COMMUNITY_CHAT_USERINFO_URL"] or f"{community_server}/api/v4/users/me"
        )
    return found


def _read_env_file(path: Path | None) -> dict[str, str]:
    """`NAME=value` lines; `#` begins a comment line; matching quotes around a value are taken off."""
    if path is None or not path.is_file():
        return {}
    values = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        stripped = line.strip().removeprefix("export ")
        if not stripped or stripped.startswith("#"):
            continue
        name, equals, value = stripped.partition("=")
        if not equals:
            raise SettingsError(f"{path}, line {number}: expected NAME=value")
        value = value.strip()
        if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
            value = value[1:-1]
        values[name.strip()] = value
    return values
