"""Settings are parsed strictly, and documented to the last one."""

from pathlib import Path

import pytest

from apps.setting_types import SIGN_IN_ADDRESSES, SettingsError
from apps.settings import names
from apps.settings_loading import load
from domain.channels.model import PlatformAddress
from scripts.settings_page import channel_addresses

DOCS = Path(__file__).parents[3] / "docs" / "settings.md"


def test_each_setting_has_a_default_that_works() -> None:
    settings = load({}, env_file=None)

    assert (settings.http_host, settings.http_port) == ("127.0.0.1", 3011)
    assert (settings.grpc_host, settings.grpc_port) == ("127.0.0.1", 50051)
    assert settings.agent_url == "http://localhost:3011"
    assert settings.platform_url == "http://localhost:3010"
    assert settings.smtp_port == 587
    assert settings.embedded


@pytest.mark.parametrize(
    ("given", "signatures", "policy"),
    [
        ({}, False, "open"),
        ({"DATABASE_URL": "postgresql://x"}, True, "public-only"),
        ({"DATABASE_URL": "postgresql://x", "REQUIRE_SIGNATURES": "false"}, False, "public-only"),
        ({"REQUIRE_SIGNATURES": "true", "OUTBOUND_POLICY": "public-only"}, True, "public-only"),
    ],
)
def test_defaults_follow_from_the_database(given: dict[str, str], signatures: bool, policy: str) -> None:
    settings = load(given, env_file=None)

    assert settings.demands_signatures is signatures
    assert settings.address_policy == policy


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HTTP_PORT", "99999"),
        ("HTTP_PORT", "http"),
        ("METRICS_PORT", "65536"),
        ("SMTP_SECURE", "perhaps"),
        ("AGENT_URL", "localhost:3011"),
        ("OUTBOUND_POLICY", "closed"),
        ("OUTBOUND_ALLOW", "10.0.0.0/8, here"),
        ("KB_READ_POLICY", "lax"),
        ("MAX_UPLOAD_MB", "0"),
        ("GAMING_CHAT_TOKEN_URL", "discord"),
        ("CORE_TARGET", "core"),
        ("CORE_TARGET", "https://core:50051"),
        ("CORE_TARGET", "core-1:50051, core-1:50051"),
        ("CORE_TLS", "yes"),
        ("GRPC_TLS_CERT_FILE", "/certs/tls.crt"),
        ("GRPC_TLS_CLIENT_CA_FILE", "/certs/ca.crt"),
        ("CORE_TLS_KEY_FILE", "/certs/tls.key"),
    ],
)
def test_a_wrong_value_names_its_setting(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=name):
        load({name: value}, env_file=None)


@pytest.mark.parametrize(
    ("given", "over_tls"),
    [
        ({}, False),
        ({"CORE_TLS": "on"}, True),
        ({"CORE_TLS_CA_FILE": "/certs/ca.crt"}, True),
        ({"CORE_TLS_SERVER_NAME": "core.internal"}, True),
        ({"GRPC_TLS_CERT_FILE": "/certs/tls.crt", "GRPC_TLS_KEY_FILE": "/certs/tls.key"}, True),
        ({"CORE_TLS_CA_FILE": "/certs/ca.crt", "CORE_TLS": "off"}, False),
    ],
)
def test_tls_to_the_core_follows_from_its_settings(given: dict[str, str], over_tls: bool) -> None:
    assert load(given, env_file=None).core_over_tls is over_tls


def test_the_address_of_a_channel_can_be_set() -> None:
    address = PlatformAddress("BOT_MESSENGER_API_URL", "https://api.telegram.org")
    assert load({}, env_file=None).address(address) == "https://api.telegram.org"
    given = load({"BOT_MESSENGER_API_URL": "http://127.0.0.1:9"}, env_file=None)
    assert given.address(address) == "http://127.0.0.1:9"
    wrong = load({"BOT_MESSENGER_API_URL": "telegram"}, env_file=None)
    with pytest.raises(SettingsError, match="BOT_MESSENGER_API_URL"):
        wrong.address(address)


def test_the_environment_wins_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("# comment\nexport HTTP_PORT=4000\nGRPC_PORT=\"5000\"\nSMTP_FROM='a b'\n")

    settings = load({"HTTP_PORT": "4001"}, env_file=file)

    assert (settings.http_port, settings.grpc_port, settings.smtp_from) == (4001, 5000, "a b")


def test_no_secret_shows_when_settings_are_printed() -> None:
    secret = "a-secret-value"
    given = {name: secret for name, field in names().items() if not field.repr}
    given["REDIS_URL"] = f"redis://:{secret}@queue.example.com:6379/0"
    given["DATABASE_URL"] = f"postgresql://user:{secret}@db.example.com/name"

    assert len(given) >= 6
    assert secret not in repr(load(given, env_file=None))


def test_every_setting_is_documented() -> None:
    text = DOCS.read_text(encoding="utf-8")
    missing = [
        name for name in (*names(), *channel_addresses(), *SIGN_IN_ADDRESSES) if f"`{name}`" not in text
    ]

    assert missing == []
