"""Tests and measurements use no private members of the product."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
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
PATH_OF_PRIVATE = re.compile(rf"(?:(?:{'|'.join(PRODUCT)})\.|[\w.]+:)[\w.:]*(?<=[.:])({PRIVATE.pattern})")
"""As what is replaced or wrapped is named in a text."""

LINKED_DEVICE = "adapters/outbound/channels/linked_device_messaging"

OF_LIBRARIES = {
    (
        "tests/conftest.py",
        "_get_local_constants",
    ): "Hypothesis has no setting for the constants that it draws",
    ("tests/conftest.py", "_local_constants"): "Hypothesis has no setting for the constants that it draws",
    ("tests/support/failpoints.py", "_exit"): "os._exit is public in spite of its name",
    ("tests/support/postgres.py", "_replace"): "a method of named tuples that is public in spite of its name",
    ("tests/support/servers.py", "_server"): "aiohttp shows the server of a site in no other way",
    (
        f"{LINKED_DEVICE}/tests/test_neonize.py",
        "_qr",
    ): "neonize keeps the handler of QR codes under this name",
}
"""Members of others than the product, each with the reason why a test uses it."""


def private_members(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The line and the name of each."""
    for node in ast.walk(tree):
        yield from ((node.lineno, name) for name in _names(node) if PRIVATE.fullmatch(name))


def _names(node: ast.AST) -> Iterable[str]:
    match node:
        case ast.Attribute(value=owner, attr=name) if not _is_own(owner):
            return [name]
        case ast.ImportFrom(module=str(module), names=names) if module.split(".")[0] in PRODUCT:
            return [*module.split("."), *(alias.name for alias in names)]
        case ast.Call(func=function, args=[_, ast.Constant(value=str(name)), *_]) if _name(function) in (
            "setattr",
            "getattr",
            "delattr",
        ):
            return [name]
        case ast.Constant(value=str(text)) if match := PATH_OF_PRIVATE.fullmatch(text):
            return [match[1]]
    return []


def _is_own(node: ast.expr) -> bool:
    """The class's own members, inherited ones included."""
    return _name(node) in ("self", "cls") or (isinstance(node, ast.Call) and _name(node.func) == "super")


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _used(path: Path) -> list[tuple[int, str]]:
    return list(private_members(ast.parse(path.read_text(encoding="utf-8"))))


@pytest.mark.parametrize("path", PATHS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_private_member_of_the_product_is_used(path: Path) -> None:
    name_of_file = str(path.relative_to(ROOT))

    assert [f"{line}: {name}" for line, name in _used(path) if (name_of_file, name) not in OF_LIBRARIES] == []


def test_each_exception_is_needed() -> None:
    assert {
        (str(path.relative_to(ROOT)), name) for path in PATHS for _, name in _used(path)
    } == OF_LIBRARIES.keys()


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
        "point = f'{STORAGE}.inbox:Inbox._made'",
    ],
)
def test_each_way_to_a_private_member_is_found(code: str) -> None:
    assert list(private_members(ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    ["self._tasks", "cls._tasks", "super()._made()", "from __future__ import annotations", "part.__dict__"],
)
def test_a_class_may_use_its_own(code: str) -> None:
    assert not list(private_members(ast.parse(code)))
