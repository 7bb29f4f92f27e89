"""Settings: a default for each, one clear sentence for a wrong one, no secret where it could be read."""

import ipaddress
import sys
from pathlib import Path

import pytest

from apps.setting_types import SettingsError, default_gateway
from apps.settings import Settings, names
from apps.settings_loading import load, with_values_of_files


def loaded(**environment: str) -> Settings:
    return load(environment, env_file=None)


def test_every_setting_has_a_default_that_works_on_a_fresh_machine() -> None:
    settings = loaded()
    assert settings.embedded
    assert (settings.http_host, settings.http_port, settings.grpc_port) == ("127.0.0.1", 3011, 50051)
    assert settings.data_dir == Path.cwd() / ".data"
    assert settings.pg_bin_dir is None


def test_trusted_hosts_are_handed_to_the_channel() -> None:
    settings = loaded(ENTERPRISE_CHAT_TRUSTED_HOSTS=" Bots.example, .other.example:8443,bots:1, [::1]:2")
    assert (
        settings.addresses["ENTERPRISE_CHAT_TRUSTED_HOSTS"]
        == "bots.example,.other.example:8443,bots:1,[::1]:2"
    )


def test_an_emulator_is_for_development_alone() -> None:
    assert loaded().addresses["ENTERPRISE_CHAT_EMULATOR"] == ""
    assert loaded(ENTERPRISE_CHAT_EMULATOR="true").addresses["ENTERPRISE_CHAT_EMULATOR"]
    for strict in ({"REQUIRE_SIGNATURES": "true"}, {"DATABASE_URL": "postgresql://db/x"}):
        with pytest.raises(SettingsError, match=r"ENTERPRISE_CHAT_EMULATOR.*REQUIRE_SIGNATURES=false"):
            loaded(ENTERPRISE_CHAT_EMULATOR="true", **strict)


def test_an_empty_value_is_the_default() -> None:
    assert loaded(HTTP_PORT="").http_port == loaded().http_port


def test_the_public_address_follows_the_port_until_it_is_set() -> None:
    assert loaded().agent_url == "http://localhost:3011"
    assert loaded(HTTP_PORT="4000").agent_url == "http://localhost:4000"
    given = loaded(HTTP_PORT="4000", AGENT_URL="https://bots.example")
    assert given.agent_url == "https://bots.example"


@pytest.mark.parametrize(
    ("environment", "signatures", "policy"),
    [
        ({}, False, "open"),
        ({"DATABASE_URL": "postgresql://db/x"}, True, "public-only"),
        ({"DATABASE_URL": "host=db dbname=x"}, True, "public-only"),
        ({"REQUIRE_SIGNATURES": "true", "OUTBOUND_POLICY": "public-only"}, True, "public-only"),
        (
            {"DATABASE_URL": "postgresql://db/x", "REQUIRE_SIGNATURES": "no", "OUTBOUND_POLICY": "open"},
            False,
            "open",
        ),
    ],
)
def test_an_external_database_makes_the_stricter_defaults(
    environment: dict[str, str], signatures: bool, policy: str
) -> None:
    settings = loaded(**environment)
    assert settings.demands_signatures is signatures
    assert settings.address_policy == policy


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("HTTP_PORT", "many", "HTTP_PORT must be a whole number from 0 to 65535, not 'many'"),
        ("HTTP_PORT", "65536", "HTTP_PORT must be a whole number from 0 to 65535"),
        ("HTTP_PORT", "-1", "HTTP_PORT must be a whole number"),
        ("SMTP_SECURE", "perhaps", "SMTP_SECURE must be true or false, not 'perhaps'"),
        ("AGENT_URL", "switchboard.example", "AGENT_URL must begin with http:// or https://"),
        ("OUTBOUND_POLICY", "closed", "OUTBOUND_POLICY must be one of open, public-only"),
        ("ENTERPRISE_CHAT_TRUSTED_HOSTS", "bots.example:70000", "not 'bots.example:70000'"),
        ("ENTERPRISE_CHAT_TRUSTED_HOSTS", "https://bots.example", "not 'https://bots.example'"),
        ("ENTERPRISE_CHAT_TRUSTED_HOSTS", "bots.example, *", "ENTERPRISE_CHAT_TRUSTED_HOSTS must list hosts"),
        (
            "OUTBOUND_ALLOW",
            "10.0.0.0/8, intranet",
            "OUTBOUND_ALLOW must list networks such as 10.0.0.0/8: 'intranet' is not a network",
        ),
        ("KB_READ_POLICY", "lax", "KB_READ_POLICY must be one of documented, strict"),
        ("WORKSPACE_CHAT_TOKEN_URL", "slack.com/api", "WORKSPACE_CHAT_TOKEN_URL must begin with http"),
        ("DATABASE_URL", "mysql://me:hidden@db/x", "DATABASE_URL must be a libpq URL such as postgresql://"),
        ("DATABASE_URL", "postgresql://me:hidden@db:port:x/%zz", "DATABASE_URL must be a libpq URL"),
        (
            "INTERNAL_SERVICE_KEY",
            "hidden \N{LATIN SMALL LETTER U WITH DIAERESIS}",
            "INTERNAL_SERVICE_KEY must be",
        ),
        ("INTERNAL_SERVICE_KEY", "hidden" * 400, "at most 2000 ASCII characters"),
        ("REDIS_URL", "me:hidden@queue", "REDIS_URL must be a URL such as redis://"),
        ("REDIS_URL", "http://:hidden@queue", "REDIS_URL must be a URL such as redis://"),
    ],
)
def test_a_wrong_value_is_refused_by_name_and_a_secret_one_is_not_repeated(
    name: str, value: str, words: str
) -> None:
    with pytest.raises(SettingsError) as caught:
        loaded(**{name: value})
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "hidden" not in str(caught.value)


def test_the_line_end_of_a_service_key_is_no_part_of_it() -> None:
    assert loaded(INTERNAL_SERVICE_KEY="key\n").internal_service_key == "key"


def test_secrets_are_not_shown_with_the_settings() -> None:
    secret_ones = {
        "DATABASE_URL": "postgresql://me:hidden@db/x",
        "REDIS_URL": "redis://:hidden@queue/0",
        "INTERNAL_SERVICE_KEY": "hidden",
        "CONFIG_ENCRYPTION_KEY": "hidden",
        "SMTP_PASSWORD": "hidden",
        "WORKSPACE_CHAT_CLIENT_SECRET": "hidden",
        "GAMING_CHAT_CLIENT_SECRET": "hidden",
        "COMMUNITY_CHAT_CLIENT_SECRET": "hidden",
        "VERIFICATION_BOT_TOKEN": "hidden",
    }
    assert "hidden" not in repr(loaded(**secret_ones))


def test_the_environment_goes_before_the_env_file(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("# a comment\n\nexport HTTP_PORT=4000\nSMTP_FROM='Me <me@x.example>'\nGRPC_PORT=4001\n")
    settings = load({"GRPC_PORT": "5000"}, env_file=file)
    assert (settings.http_port, settings.grpc_port) == (4000, 5000)
    assert settings.smtp_from == "Me <me@x.example>"


def test_a_line_of_the_env_file_that_says_nothing_is_named(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("HTTP_PORT=4000\nGRPC_PORT 4001\n")
    with pytest.raises(SettingsError, match=r"\.env, line 2: expected NAME=value"):
        load({}, env_file=file)


def test_every_setting_can_be_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "value"
    for name in names():
        if f"{name}_FILE" not in names():
            file.write_text("wrong value \n")
            assert with_values_of_files({f"{name}_FILE": str(file)}, names())[name] == "wrong value"
    file.write_text("sesame\n")
    assert loaded(SMTP_PASSWORD_FILE=str(file)).smtp_password == "sesame"


def test_a_setting_that_is_named_as_a_file_stays_one(tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text("")
    assert loaded(RESOURCES_FILE=str(rules)).resources_file == str(rules)


@pytest.mark.parametrize(
    ("content", "words"),
    [(None, "No such file"), (b"", "is empty"), (b"\xff", "is not text in UTF-8")],
)
def test_a_file_without_a_value_is_refused(tmp_path: Path, content: bytes | None, words: str) -> None:
    file = tmp_path / "value"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(SettingsError, match=f"SMTP_PASSWORD_FILE: .*{words}"):
        loaded(SMTP_PASSWORD_FILE=str(file))


def test_a_value_and_its_file_are_not_both_set(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="SMTP_PASSWORD and SMTP_PASSWORD_FILE are both set"):
        loaded(SMTP_PASSWORD="a", SMTP_PASSWORD_FILE=str(tmp_path / "value"))


ROUTES = """Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
eth1\t{inside}\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0
eth0\t00000000\t{gateway}\t0003\t0\t0\t0\t00000000\t0\t0\t0
"""


def test_a_container_finds_the_machine_that_runs_it_as_its_proxy() -> None:
    packed = {
        name: f"{int.from_bytes(ipaddress.ip_address(address).packed, sys.byteorder):08X}"
        for name, address in {"inside": "172.19.0.0", "gateway": "172.18.0.1"}.items()
    }
    assert default_gateway(ROUTES.format(**packed)) == "172.18.0.1"
    assert default_gateway("\n".join(ROUTES.format(**packed).splitlines()[:2])) == ""
    assert "default-gateway" not in loaded(TRUSTED_PROXIES="default-gateway, 10.0.0.1").trusted_proxies
