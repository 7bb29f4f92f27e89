"""Rules of the house that the import contracts cannot express."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
DOMAIN = sorted((ROOT / "domain").rglob("*.py"))
PORTS = sorted((ROOT / "ports").rglob("*.py"))

OWN_MEANS = {
    ("datetime", "now"),
    ("datetime", "utcnow"),
    ("datetime", "today"),
    ("date", "today"),
    ("time", "time"),
    ("time", "monotonic"),
    ("time", "sleep"),
}
"""Time comes through ports.clock; nothing in the domain looks at a clock itself."""

CHANCE = {"random", "secrets", "uuid"}


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def test_there_is_a_domain_to_look_at() -> None:
    assert len(DOMAIN) > 20
    assert len(PORTS) > 10


@pytest.mark.parametrize("path", DOMAIN, ids=lambda path: str(path.relative_to(ROOT)))
def test_only_services_of_the_domain_await(path: Path) -> None:
    awaiting = [node for node in ast.walk(_tree(path)) if isinstance(node, ast.AsyncFunctionDef)]

    assert not awaiting or path.name == "service.py"


@pytest.mark.parametrize("path", DOMAIN, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_domain_has_no_clock_and_no_chance_of_its_own(path: Path) -> None:
    found = []
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if (node.value.id, node.attr) in OWN_MEANS:
                found.append(f"{node.value.id}.{node.attr}")
        elif isinstance(node, ast.Import):
            found += [each.name for each in node.names if each.name in CHANCE]
        elif isinstance(node, ast.ImportFrom) and node.module in CHANCE:
            found.append(node.module)

    assert found == []


@pytest.mark.parametrize("path", PORTS, ids=lambda path: path.name)
def test_ports_hold_protocols_and_values_alone(path: Path) -> None:
    """A Protocol's method has no body: somebody who inherited from it would otherwise get silence."""
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.ClassDef) and any(_name(base) == "Protocol" for base in node.bases):
            for method in node.body:
                if isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    assert all(_is_empty(statement) for statement in method.body), (
                        f"{node.name}.{method.name}"
                    )


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _is_empty(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


@pytest.mark.parametrize(
    "path", sorted((ROOT / "adapters").rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT))
)
def test_ports_are_conformed_to_and_never_inherited(path: Path) -> None:
    tree = _tree(path)
    from_ports = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ports")
        for alias in node.names
    }
    bases = {_name(base) for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for base in node.bases}

    assert {base for base in bases & from_ports if not base.endswith(("Failed", "Error"))} == set()


def test_no_channel_is_named_outside_its_folder() -> None:
    """Another channel is one folder and one line in the registry."""
    ids = [
        path.name.replace("_", "-")
        for path in (ROOT / "adapters/outbound/channels").iterdir()
        if (path / "channel.py").is_file()
    ]
    assert ids
    places = [*DOMAIN, *PORTS, *(ROOT / "apps").rglob("*.py"), *(ROOT / "adapters/inbound").rglob("*.py")]
    compared = []
    for path in places:
        for node in ast.walk(_tree(path)):
            if isinstance(node, ast.Compare):
                words = {each.value for each in ast.walk(node) if isinstance(each, ast.Constant)}
                compared += [f"{path.relative_to(ROOT)}:{node.lineno}" for name in ids if name in words]

    assert [place for place in compared if "verification" not in place] == []


def test_messages_for_people_name_no_class_of_an_error() -> None:
    """`type(error).__name__` stands in logs alone: people read `domain.refusals.INTERNAL`."""
    places = [path for part in ("domain", "adapters", "apps") for path in (ROOT / part).rglob("*.py")]
    offenders = []
    for path in places:
        if "tests" in path.parts or path.name == "child.py":  # a child's text goes to its parent's log
            continue
        tree = _tree(path)
        logged = {
            id(node)
            for call in ast.walk(tree)
            if isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and call.func.attr in ("debug", "info", "warning", "error", "exception", "write")
            for node in ast.walk(call)
        }
        offenders += [
            f"{path.relative_to(ROOT)}:{text.lineno}"
            for text in ast.walk(tree)
            if isinstance(text, ast.JoinedStr)
            and id(text) not in logged
            and re.search(r"type\((error|failure|exc\w*|unexpected|cause)\)\.__name__", ast.unparse(text))
        ]

    assert offenders == []
