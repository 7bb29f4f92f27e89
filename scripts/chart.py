"""Renders the chart with each of its sets of values as Helm does, and checks what comes out against the schemas of
Kubernetes: `python scripts/chart.py`. With a folder as argument, the objects are written there.

Objects of kinds that Kubernetes does not define (those of KEDA and of the Prometheus operator) are named and not checked.
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
    return [found for text in texts for found in yaml.safe_load_all(text) if found]


def faults_of(objects: Objects, version: str) -> Iterator[str]:
    for found in objects:
        name = f"{found['kind']} {found['metadata']['name']}"
        try:
            kubernetes_validate.validate(found, version, strict=True)
        except kubernetes_validate.ValidationError as error:
            yield f"{name} in {version}: {error.message}"
        except kubernetes_validate.SchemaNotFoundError:
            if found["apiVersion"].split("/")[0] not in ("keda.sh", "monitoring.coreos.com"):
                yield f"{name}: Kubernetes {version} has no {found['apiVersion']}"


def lint(values: Mapping[str, Any]) -> Iterator[str]:
    """What `helm lint --strict` says, but for its advice to give the chart an icon."""
    for message in helm_python.lint(CHART, dict(values), strict=True, namespace=NAMESPACE)["messages"]:
        if "icon is recommended" not in message.get("message", message.get("error", "")):
            yield f"lint: {message}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0] if __doc__ else "")
    parser.add_argument("folder", nargs="?", type=Path, help="where the rendered objects are written")
    folder: Path | None = parser.parse_args().folder
    faults = []
    for name, values in value_sets().items():
        rendered = render(values)
        objects = objects_of(rendered)
        faults += [f"{name}: {fault}" for fault in lint(values)]
        for version in VERSIONS:
            faults += [f"{name}: {fault}" for fault in faults_of(objects, version)]
        print(f"{name}: {len(objects)} objects")
        if folder:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{name}.yaml").write_text(yaml.safe_dump_all(objects, sort_keys=False))
    print("\n".join(faults) or f"no fault against Kubernetes {', '.join(VERSIONS)}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
