"""The chart says what the code says: names of settings, ports, commands, paths. Rendered where Helm's engine is."""

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
from scripts.settings_page import CHART_FILE, chart_file

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
    own_settings = re.findall(r"^([A-Z][A-Z_]+): ", TEMPLATES, re.M)
    assert "AGENT_URL" in own_settings
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


def test_the_chart_knows_every_setting() -> None:
    assert CHART_FILE.read_text() == chart_file(), (
        "run: PYTHONPATH=. .venv/bin/python scripts/settings_page.py"
    )


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
        faults = [line for line in done.stderr.splitlines() if " INFO found symbolic link" not in line]
        return done.returncode, "\n".join([done.stdout, *faults])

    return run


def test_what_helm_makes_of_it_fits_the_schemas_of_kubernetes(helm: Helm) -> None:
    status, output = helm()
    assert status == 0, output
    assert "no fault against Kubernetes" in output


def pods(output: str) -> dict[str, dict[str, Any]]:
    """The templates of pods by the component that they are of."""
    objects = [found for found in yaml.safe_load_all(output) if found]
    templates = [found["spec"]["template"] for found in objects if found["kind"] in ("Deployment", "Job")]
    return {template["metadata"]["labels"]["app.kubernetes.io/component"]: template for template in templates}


def test_each_pod_has_what_is_given_for_it_and_the_migration_no_less(helm: Helm) -> None:
    values = CHART / "ci" / "everything-values.yaml"
    given = yaml.safe_load(values.read_text())
    status, output = helm(values)
    assert status == 0, output
    found = pods(output)
    assert set(found) == {"gateway", "core", "worker", "migrate"}
    for kind, template in found.items():
        own, pod = given["migration" if kind == "migrate" else kind], template["spec"]
        [container] = pod["containers"]
        for key in ("initContainers", "nodeSelector", "tolerations", "affinity", "priorityClassName"):
            assert pod[key] == own[key], (kind, key)
        for key, place in (
            ("extraVolumes", pod["volumes"]),
            ("extraVolumeMounts", container["volumeMounts"]),
            ("extraEnv", container["env"]),
            ("extraEnvFrom", container["envFrom"]),
        ):
            assert all(entry in place for entry in own[key]), (kind, key)
        assert pod["imagePullSecrets"] == given["imagePullSecrets"]
        assert pod["securityContext"] == given["podSecurityContext"]
        assert container["securityContext"] == given["containerSecurityContext"]
        assert pod["serviceAccountName"] == (
            "bots-switchboard-migrate" if kind == "migrate" else "bots-switchboard"
        )
        assert own["podLabels"].items() <= template["metadata"]["labels"].items()
        assert own["podAnnotations"].items() <= template["metadata"]["annotations"].items()
    [settings] = [
        found["data"]
        for found in yaml.safe_load_all(output)
        if found and found["kind"] == "ConfigMap" and found["metadata"]["name"].endswith("-settings")
    ]
    [migration] = found["migrate"]["spec"]["containers"]
    assert settings.items() <= {entry["name"]: entry.get("value") for entry in migration["env"]}.items()


def test_an_account_of_ones_own_is_that_of_all_pods_and_security_is_strict_by_default(
    helm: Helm, tmp_path: Path
) -> None:
    least = yaml.safe_load((CHART / "ci" / "least-values.yaml").read_text())
    file = tmp_path / "values.yaml"
    file.write_text(yaml.safe_dump({**least, "serviceAccount": {"name": "own"}}))
    status, output = helm(file)
    assert status == 0, output
    assert "kind: ServiceAccount" not in output
    for template in pods(output).values():
        pod = template["spec"]
        assert pod["serviceAccountName"] == "own"
        assert (pod["securityContext"]["runAsUser"], pod["securityContext"]["runAsNonRoot"]) == (10001, True)
        assert pod["containers"][0]["securityContext"]["readOnlyRootFilesystem"] is True


def test_settings_that_are_none_are_named_with_what_was_meant(helm: Helm, tmp_path: Path) -> None:
    least = yaml.safe_load((CHART / "ci" / "least-values.yaml").read_text())
    right = {"SMTP_HOST": "a", "SMTP_PASSWORD_FILE": "/x", "TRUSTED_PROXIES": "10.0.0.0/8"}
    wrong = {"SMTP_HOTS": "a", "TRUSTED_PROXY": "10.0.0.0/8", "MAX_UPLAOD_MB": 5, "COLOUR": "red"}
    file = tmp_path / "values.yaml"
    file.write_text(yaml.safe_dump({**least, "settings": right | wrong}))
    status, output = helm(file)
    assert status == 0, output
    assert re.findall(r"^# settings\.(.*)$", output, re.M) == [
        "COLOUR is no setting of Switchboard",
        "MAX_UPLAOD_MB is no setting of Switchboard; did you mean MAX_UPLOAD_MB?",
        "SMTP_HOTS is no setting of Switchboard; did you mean SMTP_HOST?",
        "TRUSTED_PROXY is no setting of Switchboard; did you mean TRUSTED_PROXIES?",
    ]


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
