"""The settings: environment variables, a `.env` file beneath them, a default for each."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import AliasGenerator, BaseModel, ConfigDict, Field
from pydantic.fields import FieldInfo

from apps.setting_types import (
    Address,
    Bearer,
    CoreTargets,
    DatabaseUrl,
    Flag,
    Folder,
    GroupMap,
    Hosts,
    HttpUrl,
    Networks,
    PemFile,
    Proxies,
    QueueUrl,
    RoleMap,
    UserName,
    checked,
    setting,
)
from domain.channels.model import PlatformAddress


class Settings(BaseModel):
    """All settings, parsed, named as their fields in capital letters. `docs/settings.md` is written from this list.

    The files of TLS are read again while the process runs (docs/tls.md).
    """

    model_config = ConfigDict(
        frozen=True,
        extra="ignore",
        validate_default=True,
        alias_generator=AliasGenerator(validation_alias=str.upper),
    )

    metrics_host: str = setting("127.0.0.1", "address that METRICS_PORT is opened on")
    metrics_port: int = setting(
        0,
        "port on which `switchboard core` and `worker` answer /metrics, /healthz and /readyz; 0: none. Gateways and"
        " `up` answer them on HTTP_PORT",
        low=0,
        high=65535,
    )
    ssl_cert_file: PemFile | None = setting(
        None,
        "CAs in PEM form that all outbound connections over TLS trust, in place of the system's file; read at start",
    )
    grpc_tls_cert_file: PemFile | None = setting(
        None,
        "certificate of the gRPC core in PEM form, its issuers behind it; set with GRPC_TLS_KEY_FILE, the core speaks"
        " TLS alone",
    )
    grpc_tls_key_file: PemFile | None = setting(None, "its private key, in PEM form and without a passphrase")
    grpc_tls_client_ca_file: PemFile | None = setting(
        None,
        "CAs of clients in PEM form; set, the core takes only clients with a certificate of theirs (mutual TLS)",
    )
    core_tls: Literal["auto", "on", "off"] = setting(
        "auto",
        "whether `switchboard gateway` calls the core over TLS; auto: on where one of CORE_TLS_CA_FILE,"
        " CORE_TLS_CERT_FILE, CORE_TLS_SERVER_NAME and GRPC_TLS_CERT_FILE is set",
    )
    core_tls_ca_file: PemFile | None = setting(
        None,
        "CAs in PEM form that the gateway trusts for the core's certificate; empty: SSL_CERT_FILE, or the system's",
    )
    core_tls_cert_file: PemFile | None = setting(
        None, "the gateway's own certificate for a core that asks for one (mutual TLS), in PEM form"
    )
    core_tls_key_file: PemFile | None = setting(None, "its private key, in PEM form and without a passphrase")
    core_tls_server_name: str = setting(
        "",
        "name that the core's certificate must have; empty: the host of CORE_TARGET. For targets that are addresses",
    )
    http_host: str = setting("127.0.0.1", "address that the REST gateway listens on")
    http_port: int = setting(3011, "port of the REST gateway", low=0, high=65535)
    trusted_proxies: Proxies = setting(
        "127.0.0.1,::1",
        "addresses or networks of the reverse proxies whose X-Forwarded-For is believed, separated by commas; * for"
        " any; default-gateway, in a container, for the machine that runs it. Visitors of the web chat and wrong keys"
        " are counted by the address that it names",
    )
    http_max_connections: int = setting(
        1000,
        "connections that the REST gateway keeps at a time, besides a few reserved for health checks",
        low=10,
        high=100_000,
    )
    http_head_timeout: int = setting(
        10, "seconds within which the address and the headers of a request must be there", low=1, high=600
    )
    http_stall_timeout: int = setting(
        20,
        "seconds over which a body must bring at least 500 bytes a second; answers have three times as long",
        low=1,
        high=600,
    )
    http_keep_alive: int = setting(
        65,
        "seconds for which an idle connection is kept; longer than a proxy in front keeps it",
        low=1,
        high=3600,
    )
    grpc_host: str = setting("127.0.0.1", "address that the gRPC core listens on")
    grpc_port: int = setting(50051, "port of the gRPC core", low=0, high=65535)
    core_target: CoreTargets = setting(
        "",
        "where `switchboard gateway` finds the core: host:port, several separated by commas, or dns:///name:port for"
        " all addresses of a name; empty: GRPC_HOST:GRPC_PORT",
    )
    mcp_send: Flag = setting(False, "true: MCP clients may send messages with the tool send_message")
    data_dir: Folder = setting(Path(".data"), "embedded database, uploaded files and generated secrets")
    database_url: DatabaseUrl = setting(
        "",
        "PostgreSQL 15+ with pgvector 0.7+ and pg_trgm, as a libpq URL; empty: the embedded one in DATA_DIR",
        secret=True,
    )
    pg_bin_dir: Folder | None = setting(
        None, "folder with postgres and initdb for the embedded database; empty: the installed package's"
    )
    redis_url: QueueUrl = setting("", "Redis 6.2+ or Valkey; empty: an embedded queue", secret=True)
    agent_url: Address = setting(
        "http://localhost:3011",
        "base address for webhook registration, signed links and the console; unset, it follows HTTP_PORT",
    )
    platform_url: Address = setting(
        "http://localhost:3010",
        "base address for OAuth redirects; without a platform in front, set it to AGENT_URL",
    )
    verification_url: Address = setting(
        "", "page where people verify who they are; empty: AGENT_URL/console/identities"
    )
    internal_service_key: Bearer = setting(
        "",
        "service-to-service key of at least 32 characters; generated into DATA_DIR, must be set where DATABASE_URL"
        " is set",
        secret=True,
    )
    config_encryption_key: str = setting(
        "",
        "encrypts configurations at rest: 32 bytes in base64, several separated by commas, the first"
        " seals; generated into DATA_DIR, must be set where DATABASE_URL is set",
        secret=True,
    )
    smtp_host: str = setting("", "mail server for verification mail")
    smtp_port: int = setting(587, "its port", low=1, high=65535)
    smtp_user: str = setting("", "its user; empty: no AUTH")
    smtp_password: str = setting("", "its password", secret=True)
    smtp_from: str = setting("", "sender of verification mail: an address, or `Name <address>`")
    smtp_secure: Flag = setting(False, "true: TLS from the start; false: STARTTLS when offered")
    admin_passkey: Literal["optional", "required"] = setting(
        "optional",
        "`required`: a session of an admin in the console may do nothing before a passkey proves it; API keys go on",
    )
    oidc_issuer: HttpUrl = setting(
        "",
        "issuer of the OpenID provider where people sign in to the console, with OIDC_CLIENT_ID (docs/sign-in.md)",
    )
    oidc_client_id: str = setting("", "client id of this installation at the provider")
    oidc_client_secret: str = setting("", "its client secret; empty: a public client", secret=True)
    oidc_scopes: str = setting("openid email profile", "scopes that are asked for")
    oidc_groups_claim: str = setting("groups", "claim in which the provider lists the groups of a person")
    oidc_role_map: RoleMap = setting(
        "",
        "roles by group, as `group=role` with commas between, or a JSON object; `*` is everybody. Set, it decides the"
        " role at each sign-in, and whoever is in none of the groups may not sign in",
    )
    oidc_team_map: GroupMap = setting(
        "", "teams by group, in the same form; each sign-in puts people into these teams, or takes them out"
    )
    oidc_allowed_domains: str = setting(
        "",
        "domains of e-mail addresses that get a user at their first sign-in, with commas between",
    )
    workspace_chat_client_id: str = setting("", "Slack OAuth client id")
    workspace_chat_client_secret: str = setting("", "Slack OAuth client secret", secret=True)
    gaming_chat_client_id: str = setting("", "Discord OAuth client id")
    gaming_chat_client_secret: str = setting("", "Discord OAuth client secret", secret=True)
    community_chat_client_id: str = setting("", "Mattermost OAuth client id")
    community_chat_client_secret: str = setting("", "Mattermost OAuth client secret", secret=True)
    community_chat_server_url: Address = setting("", "Mattermost server for verification")
    enterprise_chat_client_id: str = setting(
        "", "client id of the Microsoft Entra app for verification on Teams"
    )
    enterprise_chat_client_secret: str = setting("", "its client secret", secret=True)
    verification_bot_token: str = setting("", "token of the Telegram bot for verification", secret=True)
    verification_bot_username: UserName = setting("", "its user name, without @")
    require_signatures: Flag | None = setting(
        None, "true: refuse calls whose origin nothing can prove; default: true where DATABASE_URL is set"
    )
    outbound_policy: Literal["open", "public-only"] | None = setting(
        None,
        "'open' or 'public-only' (user-given addresses in private ranges are refused); default:"
        " public-only where DATABASE_URL is set",
    )
    enterprise_chat_trusted_hosts: Hosts = setting(
        "",
        "comma-separated hosts that get the Teams bot's token over https, besides the Bot Framework's own:"
        " a name, an IP address (IPv6 in brackets), or .domain for all names below it; each may end in"
        " :port, else 443 is meant",
    )
    enterprise_chat_emulator: Flag = setting(
        False,
        "for development: Teams instances without appId talk with a Bot Framework emulator on this"
        " machine, without tokens; refused where signatures are required",
    )
    outbound_allow: Networks = setting("", "comma-separated networks that public-only allows all the same")
    kb_memory_sync: Flag = setting(False, "delete linked memory nodes with a knowledge base")
    memory_url: Address = setting("", "memory service that KB_MEMORY_SYNC calls")
    kb_read_policy: Literal["documented", "strict"] = setting(
        "documented",
        "'strict': every read of a knowledge base needs READ; 'documented': the list of files, files, chunks and"
        " search need none, and where DATABASE_URL is not set nothing else does",
    )
    max_upload_mb: int = setting(100, "largest uploaded file, in MB", low=1, high=10_000)
    max_files_per_upload: int = setting(20, "files in one upload", low=1, high=1000)
    max_message_file_mb: int = setting(
        100, "largest attachment or artifact of a message, in MB", low=1, high=10_000
    )
    message_file_days: int = setting(
        7,
        "days for which files of messages and their signed links are kept; files of unsent replies longer",
        low=1,
        high=365,
    )
    conversation_days: int = setting(
        30,
        "days for which the texts of a conversation are kept after its last message; 0 keeps none beyond what"
        " delivery needs",
        low=0,
        high=3650,
    )
    event_days: int = setting(
        7,
        "days for which events are kept, and recorded after the last reader of events was there",
        low=1,
        high=365,
    )
    audit_days: int = setting(
        365,
        "days for which entries of the audit log are kept",
        low=1,
        high=3650,
    )
    message_days: int = setting(
        180,
        "days for which a message is kept in a conversation that goes on; at least 14 count",
        low=1,
        high=3650,
    )
    dead_letter_days: int = setting(
        90, "days for which messages that could not be delivered are kept to be sent again", low=1, high=365
    )
    usage_days: int = setting(
        400, "days for which the usage of agents is kept, by day, instance, agent and user", low=40, high=3650
    )
    max_webhook_body_kb: int = setting(1024, "largest body of a callback, in KB", low=1, high=12_288)
    resources_file: str = setting("", "TOML file of rules for downstream resources")
    downstream_url: HttpUrl = setting("", "where resources go that no rule and no built-in takes")
    downstream_timeout: int = setting(120, "seconds that a downstream resource has", low=1, high=3600)
    parsing_slots: int = setting(
        2,
        "PDF files, pictures and recordings that are read at a time, and as many files of the other formats",
        low=1,
        high=64,
    )
    whisper_model_dir: str = setting(
        "",
        "folder of a CTranslate2 Whisper model for speech (needs the extra `whisper`); empty: the one of"
        " `switchboard models use`, else PocketSphinx, English",
    )
    voice_transcription: Literal["model", "built-in", "off"] = setting(
        "model",
        "voice messages are handed on as text too: `model` where there is a Whisper model, `built-in` with"
        " PocketSphinx (English) otherwise, `off` never",
    )
    models_url: Address = setting(
        "https://huggingface.co", "where `switchboard models pull` fetches models: the hub, or a mirror of it"
    )
    embedding_model_dir: str = setting(
        "", "folder of a 384-dimension sentence-transformers model; empty: the bundled one"
    )
    embedding_multilingual: Flag = setting(
        False,
        "the model of EMBEDDING_MODEL_DIR knows other scripts than Latin; else those are searched by text"
        " alone",
    )
    embedding_prepared_dir: Folder | None = setting(
        None, "folder with models prepared beforehand, which is only read; the images set it"
    )
    embedding_prepare_at_start: Flag = setting(
        True,
        "prepare the embedding model in the background at the first start, so that the first file need not wait for"
        " it (ten seconds of a processor at low priority, 1 GB of memory for that time); `false`: with the first file"
        " or search, for installations without knowledge bases",
    )
    embedding_preload: Flag = setting(
        False, "load the model right after the start instead of with the first file or search (about 100 MB)"
    )
    embedding_threads: int = setting(
        0,
        "passages that are embedded at a time, each by one processor thread; 0: as many as there are processors, at"
        " most 8",
        low=0,
        high=64,
    )
    embedding_dtype: Literal["auto", "int8", "float32"] = setting(
        "auto",
        "what the embedding model computes with. `int8` is twice as fast as `float32` where the processor has"
        " instructions for it (AVX-VNNI, AVX512-VNNI, AMX, ARM dot products), and slower elsewhere; `auto` looks. A"
        " change embeds all chunks anew",
    )
    blob_s3_bucket: str = setting("", "bucket of an S3-compatible store for uploaded files; empty: DATA_DIR")
    blob_s3_endpoint: Address = setting("https://s3.us-east-1.amazonaws.com", "address of that store")
    blob_s3_region: str = setting("us-east-1", "region that its requests are signed for")
    blob_s3_prefix: str = setting("switchboard/", "begins all keys in the bucket")
    blob_s3_access_key_id: str = setting("", "access key of that store")
    blob_s3_secret_access_key: str = setting("", "its secret", secret=True)
    pages_pause_ms: int = setting(
        1000, "milliseconds between two requests for web pages to one host", low=0, high=60_000
    )
    pages_max_mb: int = setting(20, "largest web page, or file at a web address, in MB", low=1, high=1000)
    upload_concurrency: int = setting(
        4,
        "uploads that a worker processes at a time, and as many again of users who have none among those",
        low=1,
        high=64,
    )
    log_level: Literal["debug", "info", "warning", "error"] = setting("info", "debug, info, warning or error")
    log_format: Literal["auto", "json", "console"] = setting(
        "auto", "json, console, or auto: console on a terminal"
    )
    otlp_endpoint: str = setting(
        "",
        "OpenTelemetry collector for traces (OTLP over HTTP); empty: none",
        name="OTEL_EXPORTER_OTLP_ENDPOINT",
    )
    platform_limits: Literal["published", "answers"] = setting(
        "published",
        "'published': the rate limits that platforms publish are kept; 'answers': only a 429 holds"
        " anything back, for accounts with limits of their own",
    )
    worker_concurrency: int = setting(
        256, "conversations that one worker works on at once", low=1, high=10_000
    )
    addresses: Mapping[str, str] = Field({}, validation_alias="addresses")
    """Addresses of signing in, and what else channels ask for, by the names of the settings."""
    env_file_names: frozenset[str] = Field(frozenset(), validation_alias="env_file_names")
    """Names that the `.env` file sets."""
    environment: Mapping[str, str] = Field({}, validation_alias="environment", repr=False)
    """All that was set, for names that a configuration file mentions (`token_env` of a resource rule)."""

    def address(self, address: PlatformAddress) -> str:
        """A platform's base address as it is set, else its default. Raises `SettingsError`."""
        configured = self.addresses.get(address.setting)
        if configured is not None:
            return configured
        return checked(address.setting, self.environment.get(address.setting) or address.default)

    @property
    def core_over_tls(self) -> bool:
        """Return True if the gateway calls the core over TLS."""
        named = (
            self.core_tls_ca_file,
            self.core_tls_cert_file,
            self.core_tls_server_name,
            self.grpc_tls_cert_file,
        )
        return self.core_tls == "on" or (self.core_tls == "auto" and any(named))

    @property
    def embedded(self) -> bool:
        """Return True if the embedded database is used."""
        return not self.database_url

    @property
    def max_upload_bytes(self) -> int:
        """Of the body of an upload: its files, and 1 MB for each file and for the plain fields."""
        return (self.max_upload_mb * self.max_files_per_upload + self.max_files_per_upload + 1) * 1024 * 1024

    @property
    def verification_page(self) -> str:
        """Where people verify who they are."""
        return self.verification_url or f"{self.agent_url}/console/identities"

    @property
    def other_read_policy(self) -> str:
        """The policy of reads that the interface does not document."""
        return self.kb_read_policy if self.embedded else "strict"

    @property
    def demands_signatures(self) -> bool:
        return not self.embedded if self.require_signatures is None else self.require_signatures

    @property
    def address_policy(self) -> str:
        return self.outbound_policy or ("open" if self.embedded else "public-only")


def names() -> dict[str, FieldInfo]:
    """The settings by their names in the environment."""
    fields = Settings.model_fields.values()
    return {str(field.validation_alias): field for field in fields if field.description}
