"""Renders the chart with each of its sets of values as Helm does, and checks what comes out against the schemas of
Kubernetes: `make chart`. With a file of values, that one alone is rendered, checked and printed.

Objects of KEDA and of the Prometheus operator, which Kubernetes does not define, are named and not checked.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import helm_python
import kubernetes_validate
import yaml

CHART = Path(__file__).parent.parent / "deploy" / "helm" / "switchboard"
VERSIONS = ("1.30", "1.37")
RELEASE, NAMESPACE = "bots", "chat"

Objects = list[dict[str, Any]]


def value_sets() -> Mapping[str, dict[str, Any]]:
    """The sets of values that the chart is tried with, by name."""
    files = sorted((CHART / "ci").glob("*-values.yaml"))
    return {file.name.removesuffix("-values.yaml"): yaml.safe_load(file.read_text()) for file in files}


def render(values: Mapping[str, Any]) -> dict[str, str]:
    """The text of each template. Raises `helm_python.HelmError` for values that the chart refuses."""
    with helm_python.Chart.load(CHART) as chart:
        chart.validate_schema(dict(values))
        return chart.render(dict(values), name=RELEASE, namespace=NAMESPACE)


def objects_of(rendered: Mapping[str, str]) -> Objects:
    texts = [text for name, text in rendered.items() if name.endswith(".yaml")]
    return [document for text in texts for document in yaml.safe_load_all(text) if document]


def notes_of(rendered: Mapping[str, str]) -> str:
    """What Helm prints after an installation."""
    return next(text for name, text in rendered.items() if name.endswith("NOTES.txt"))


def faults_of(objects: Objects, version: str) -> Iterator[str]:
    for object_ in objects:
        try:
            kubernetes_validate.validate(object_, version, strict=True)
        except kubernetes_validate.ValidationError as error:
            yield f"{name_of(object_)} in {version}: {error.message}"
        except kubernetes_validate.SchemaNotFoundError:
            if not is_foreign(object_):
                yield f"{name_of(object_)}: Kubernetes {version} has no {object_['apiVersion']}"


def name_of(found: Mapping[str, Any]) -> str:
    return f"{found['kind']} {found['metadata']['name']}"


def is_foreign(found: Mapping[str, Any]) -> bool:
    return found["apiVersion"].partition("/")[0] in ("keda.sh", "monitoring.coreos.com")


def lint(values: Mapping[str, Any]) -> Iterator[str]:
    """What `helm lint --strict` says, but for its advice to give the chart an icon."""
    for message in helm_python.lint(CHART, dict(values), strict=True, namespace=NAMESPACE)["messages"]:
        if "icon is recommended" not in message.get("message", message.get("error", "")):
            yield f"lint: {message}"


def check(name: str, values: Mapping[str, Any]) -> tuple[Objects, list[str]]:
    """The objects, and what is wrong with them."""
    objects = objects_of(render(values))
    faults = [*lint(values)]
    for version in VERSIONS:
        faults += faults_of(objects, version)
    return objects, [f"{name}: {fault}" for fault in faults]


def main() -> int:
    parser = argparse.ArgumentParser(description="Renders the chart, and checks what comes out.")
    parser.add_argument("file", nargs="?", type=Path, help="values; without them all sets of the chart")
    file: Path | None = parser.parse_args().file
    faults: list[str] = []
    for name, values in ({file.name: yaml.safe_load(file.read_text())} if file else value_sets()).items():
        try:
            objects, faults_of_set = check(name, values)
        except helm_python.HelmError as error:
            sys.exit(f"{name}: {error}")
        faults += faults_of_set
        unchecked = [name_of(entry) for entry in objects if is_foreign(entry)]
        print(f"# {name}: {len(objects)} objects; not checked: {', '.join(unchecked) or 'none'}")
        if file:
            print(yaml.safe_dump_all(objects, sort_keys=False))
            print("".join(f"# {line}\n" for line in notes_of(render(values)).splitlines()))
    print("\n".join(faults) or f"# no fault against Kubernetes {', '.join(VERSIONS)}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
