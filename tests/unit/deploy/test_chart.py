"""The chart says what the code says: names of settings, ports, commands, paths. Rendered where Helm's engine is."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from adapters.inbound.rest import ops
from apps.cli import COMMANDS
from apps.settings import Settings, names

ROOT = Path(__file__).parents[3]
CHART = ROOT / "deploy" / "helm" / "switchboard"
TEMPLATES = "".join(path.read_text() for path in sorted((CHART / "templates").iterdir()))
VALUES: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text())
SCHEMA: dict[str, Any] = json.loads((CHART / "values.schema.json").read_text())
SETS = sorted((CHART / "ci").glob("*.yaml"))
RENDERER = ROOT / ".venv-chart" / "bin" / "python"
Helm = Callable[..., tuple[int, str]]
NOT_OURS = {"HOME"}
"""Variables of the environment that are no settings."""


def env_names() -> set[str]:
    """What the templates set in the environment of containers."""
    listed = re.findall(r'range list ((?:"[A-Z_]+" ?)+)', TEMPLATES)
    return {
        *re.findall(r"- name: ([A-Z][A-Z0-9_]+)\n", TEMPLATES),
        *re.findall(r'"([A-Z_]+)"', " ".join(listed)),
    }


def merged(values: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """As Helm merges values."""
    both = dict(values)
    for key, value in over.items():
        inner = both.get(key)
        both[key] = merged(inner, value) if isinstance(inner, dict) and isinstance(value, dict) else value
    return both


def faults(over: Mapping[str, Any]) -> list[str]:
    least = yaml.safe_load((CHART / "ci" / "least-values.yaml").read_text())
    validator = jsonschema.Draft7Validator(SCHEMA)
    return [error.message for error in validator.iter_errors(merged(merged(VALUES, least), over))]


def leaves(values: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for key, value in values.items():
        if (
            isinstance(value, dict) and value and key not in ("resources", "labels")
        ):  # those are handed on whole
            yield from leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}"


def test_what_containers_get_are_settings() -> None:
    assert len(env_names()) > 15
    assert env_names() - set(names()) == NOT_OURS
    own_settings = re.findall(
        r"^  ([A-Z][A-Z_]+): ", (CHART / "templates" / "configuration.yaml").read_text(), re.M
    )
    assert set(own_settings) <= set(names())
    parts = {f"BLOB_S3_{part.upper()}" for part in VALUES["storage"]["s3"]}
    assert parts <= set(names())


def test_values_can_set_no_secret_and_nothing_that_the_chart_sets() -> None:
    secrets = {name for name, field in names().items() if not field.repr}
    parts = {f"BLOB_S3_{part.upper()}" for part in VALUES["storage"]["s3"]}
    refused = SCHEMA["properties"]["settings"]["propertyNames"]["not"]["enum"]
    assert set(refused) == secrets | parts | {"AGENT_URL"} | (env_names() - NOT_OURS)


def test_ports_commands_and_paths_are_those_of_the_code() -> None:
    default = Settings()
    ports = {int(port) for port in re.findall(r"containerPort: (\d+)", TEMPLATES)}
    metrics = int(re.findall(r'METRICS_PORT\n  value: "(\d+)"', TEMPLATES)[0])
    assert ports == {default.http_port, default.grpc_port, metrics}
    for name, port in (("HTTP_PORT", default.http_port), ("GRPC_PORT", default.grpc_port)):
        assert f'- name: {name}\n  value: "{port}"' in TEMPLATES
    commands = {name for name, _, _ in COMMANDS}
    assert {"gateway", "core", "worker", "migrate"} <= commands
    served = {route.path for route in ops.router.routes if hasattr(route, "path")}
    assert set(re.findall(r"path: (/\w+z), port", TEMPLATES)) == {"/healthz", "/readyz"} < served
    assert "/metrics" not in re.findall(r'range list ((?:"/[^"]*" ?)+)', TEMPLATES)


def test_each_value_is_used_and_each_used_value_is_there() -> None:
    used = {path.rstrip(".") for path in re.findall(r"\.Values\.([a-zA-Z0-9.]+)", TEMPLATES)}
    documented = set(leaves(VALUES))
    parents = {path.rsplit(".", n)[0] for path in documented for n in range(1, path.count(".") + 1)}
    assert used <= documented | parents
    words = set(re.findall(r"[a-zA-Z0-9]+", TEMPLATES)) | set(VALUES["storage"]["s3"])
    assert [path for path in documented if path.split(".")[-1] not in words] == []


def test_the_schema_takes_all_sets_of_values() -> None:
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    for path in SETS:
        assert faults(yaml.safe_load(path.read_text())) == [], path.name


@pytest.mark.parametrize(
    ("over", "words"),
    [
        ({"publicUrl": ""}, "does not match"),
        ({"publicUrl": "https://bots.example.com/"}, "does not match"),
        ({"existingSecret": ""}, "''"),
        ({"image": {"repository": ""}}, "''"),
        ({"gatway": {}}, "gatway"),
        ({"worker": {"replica": 3}}, "replica"),
        ({"settings": {"SMTP_PASSWORD": "x"}}, "SMTP_PASSWORD"),
        ({"settings": {"GRPC_PORT": 1}}, "GRPC_PORT"),
        ({"settings": {"smtp_host": "x"}}, "smtp_host"),
        ({"terminationGracePeriodSeconds": 10}, "minimum of 20"),
        ({"storage": {"size": "20 GB"}}, "20 GB"),
        ({"worker": {"autoscaling": {"kind": "cpu"}}}, "cpu"),
    ],
)
def test_the_schema_refuses(over: dict[str, Any], words: str) -> None:
    assert any(words in fault for fault in faults(over)), faults(over)


def test_the_chart_is_of_the_version_of_the_service() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    project = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.M)
    assert project
    assert chart["appVersion"] == project[1]


@pytest.fixture
def helm() -> Helm:
    """Renders with Helm's own engine: the status, and what was printed."""
    if not RENDERER.exists():
        pytest.skip("Helm's engine is not installed; run: make chart")

    def run(*arguments: Path) -> tuple[int, str]:
        command = [RENDERER, ROOT / "scripts" / "chart.py", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    return run


def test_what_helm_makes_of_it_fits_the_schemas_of_kubernetes(helm: Helm) -> None:
    status, output = helm()
    assert status == 0, output
    assert "no fault against Kubernetes" in output


@pytest.mark.parametrize(
    ("over", "words"),
    [
        ({"storage": {"claim": ""}}, "cores and workers share uploaded files"),
        ({"storage": {"create": True}}, "not both"),
        ({"tls": {"mutual": True, "secretName": "core"}}, "tls.mutual needs tls.gatewaySecretName"),
        ({"tls": {"mutual": True, "gatewaySecretName": "gateway"}}, "tls.mutual needs tls.secretName"),
        ({"worker": {"autoscaling": {"enabled": True}}}, "needs worker.autoscaling.prometheusUrl"),
        ({"core": {"autoscaling": {"enabled": True, "minReplicas": 9}}}, "core.autoscaling.minReplicas"),
        ({"publicUrl": ""}, "publicUrl"),
        ({"settings": {"DATABASE_URL": "postgresql://x"}}, "DATABASE_URL"),
    ],
)
def test_values_that_cannot_work_are_refused(
    helm: Helm, tmp_path: Path, over: dict[str, Any], words: str
) -> None:
    least = yaml.safe_load((CHART / "ci" / "least-values.yaml").read_text())
    file = tmp_path / "values.yaml"
    file.write_text(yaml.safe_dump(merged(least, over)))
    status, output = helm(file)
    assert status == 1
    assert words in output
    assert "Traceback" not in output
