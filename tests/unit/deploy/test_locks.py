"""Each lock can be installed on every Python of the declared range, and holds all that is needed there."""

import re
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import pytest
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from scripts import lock

ROOT = Path(__file__).parents[3]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
DECLARED = SpecifierSet(PROJECT["project"]["requires-python"])
DIRECT: list[str] = PROJECT["project"]["dependencies"]
LOCKS = {
    "requirements.lock": [*DIRECT, *PROJECT["build-system"]["requires"]],
    "requirements-dev.lock": PROJECT["dependency-groups"]["dev"],
    "requirements-service.lock": lock.of_service(DIRECT),
    "requirements-gateway.lock": lock.of_gateway(DIRECT),
}
PYTHONS = [
    f"3.{minor}.{patch}" for minor in range(30) for patch in (0, 99) if f"3.{minor}.{patch}" in DECLARED
]
"""The lowest and the highest patch of each minor version of the range."""


def locked(name: str) -> dict[str, str]:
    lines = [line.partition("#")[0].strip() for line in (ROOT / name).read_text().splitlines()]
    return dict(line.split("==") for line in lines if line)


def test_the_range_of_python_has_both_ends() -> None:
    assert {clause.operator for clause in DECLARED} == {">=", "<"}
    assert len(PYTHONS) >= 2
    minors = sorted({Version(python).minor for python in PYTHONS})
    words = ", ".join(f"3.{minor}" for minor in minors[:-1]) + f" or 3.{minors[-1]}"
    assert f"Python {words}," in (ROOT / "README.md").read_text()
    assert (
        f"not (3, {minors[0]}) <= sys.version_info < (3, {minors[-1] + 1})" in (ROOT / "Makefile").read_text()
    )


@pytest.mark.parametrize("name", LOCKS)
def test_what_a_lock_lists_runs_on_every_python_of_the_range(name: str) -> None:
    refused = []
    for package, version in locked(name).items():
        installed = distribution(package)
        assert installed.version.partition("+")[0] == version, (
            f"install {name} first: {package} is another version"
        )
        runs_on = SpecifierSet(installed.metadata.get("Requires-Python") or "")
        refused += [f"{package} {version} on {python}" for python in PYTHONS if python not in runs_on]
    assert refused == []


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_holds_what_is_needed_on_every_python_of_the_range(name: str, python: str) -> None:
    listed = locked(name) | (locked("requirements.lock") if name == "requirements-dev.lock" else {})
    try:
        needed = lock.tree(LOCKS[name], python)
    except PackageNotFoundError as absent:
        pytest.fail(f"{absent.name} is needed on Python {python}, and no lock has it")
    assert {package: listed.get(package) for package in needed} == needed
    assert all(
        package == canonicalize_name(package) and re.match(r"\d", listed[package]) for package in needed
    )
