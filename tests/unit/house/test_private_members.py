"""Tests and measurements use no private members of the product."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PRODUCT = ("adapters", "apps", "domain", "ports")
PATHS = sorted(
    path
    for folder in ("tests", "bench", "examples", *PRODUCT)
    for path in (ROOT / folder).rglob("*.py")
    if folder in ("tests", "bench") or "tests" in path.relative_to(ROOT).parts
)
PRIVATE = re.compile(r"_[A-Za-z]\w*(?<!__)")
IN_TEXT = re.compile(r"(?:[\w.]+[.:])?(_[A-Za-z]\w*(?<!__))")
"""As `setattr` and paths of what is wrapped name a member."""

OF_LIBRARIES = {
    "_exit": "os._exit is public in spite of its name",
    "_replace": "a named tuple's method is public in spite of its name",
    "_get_local_constants": "Hypothesis has no setting for the constants that it draws",
    "_local_constants": "Hypothesis has no setting for the constants that it draws",
    "_server": "aiohttp shows the server of a site in no other way",
    "_cells": "python-docx gives the cells of a table in one list in no other way",
    "_element": "python-docx shows the XML of a document in no other way",
    "_p": "python-docx shows the XML of a document in no other way",
    "_qr": "neonize calls the handler of QR codes by this name",
}
"""Names that the product has not, each with the reason why a test uses it."""


def found(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and PRIVATE.fullmatch(node.attr) and not _own(node.value):
            yield node.lineno, node.attr
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in PRODUCT:
            names = [*(node.module or "").split("."), *(alias.name for alias in node.names)]
            yield from ((node.lineno, name) for name in names if PRIVATE.fullmatch(name))
        elif isinstance(node, ast.Call) and _name(node.func) in (
            "setattr",
            "getattr",
            "delattr",
            "patch",
            "object",
        ):
            yield from ((node.lineno, name) for name in _named(node.args))
        elif isinstance(node, ast.Constant) and str(node.value).startswith(
            tuple(f"{each}." for each in PRODUCT)
        ):
            yield from ((node.lineno, name) for name in _named([node]))


def _own(node: ast.expr) -> bool:
    """A class's own members, inherited ones included."""
    return _name(node) in ("self", "cls") or (isinstance(node, ast.Call) and _name(node.func) == "super")


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _named(arguments: list[ast.expr]) -> Iterator[str]:
    for argument in arguments:
        if isinstance(argument, ast.Constant) and (match := IN_TEXT.fullmatch(str(argument.value))):
            yield match[1]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_private_member_of_the_product_is_used(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))

    assert [f"{line}: {name}" for line, name in found(tree) if name not in OF_LIBRARIES] == []


@pytest.mark.parametrize(
    "code",
    [
        "world.container._runner",
        "worker._tasks.clear()",
        "worker.loop()._tasks",
        "from apps.container import _made",
        "from apps._container import made",
        "monkeypatch.setattr(search, '_wider', noted)",
        "monkeypatch.setattr('apps.container._made', noted)",
        "point = 'apps.container:Container._made'",
    ],
)
def test_each_way_to_a_private_member_is_found(code: str) -> None:
    assert list(found(ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    ["self._tasks", "cls._tasks", "super()._made()", "from __future__ import annotations", "part.__dict__"],
)
def test_a_class_may_use_its_own(code: str) -> None:
    assert not list(found(ast.parse(code)))


def test_the_exceptions_are_used_and_the_product_has_no_such_names() -> None:
    used = {name for path in PATHS for _, name in found(ast.parse(path.read_text(encoding="utf-8")))}

    assert used == OF_LIBRARIES.keys()
