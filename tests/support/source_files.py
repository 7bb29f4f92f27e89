"""The Python files of the project, parsed once for all tests of the code itself."""

import ast
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PRODUCT = ("domain", "ports", "adapters", "apps")


@cache
def files(*folders: str) -> tuple[str, ...]:
    """Paths from the project's root of all Python files in these folders, tests included."""
    return tuple(
        path.relative_to(ROOT).as_posix()
        for folder in folders
        for path in sorted((ROOT / folder).rglob("*.py"))
    )


@cache
def product(*folders: str) -> tuple[str, ...]:
    """Paths of the product's files in these folders (default: all): without tests and migrations."""
    return tuple(
        path for path in files(*(folders or PRODUCT)) if "/tests/" not in path and "/migrations/" not in path
    )


@cache
def source(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


@cache
def tree(path: str) -> ast.Module:
    return ast.parse(source(path))


@cache
def _by_type(path: str) -> dict[type[ast.AST], list[ast.AST]]:
    """All nodes of a file, walked through once: the rules look at each file many times."""
    by_type: dict[type[ast.AST], list[ast.AST]] = {}
    for node in ast.walk(tree(path)):
        by_type.setdefault(type(node), []).append(node)
    return by_type


def nodes(path: str, *kinds: type[Any]) -> Sequence[Any]:
    """The nodes of these kinds in a file."""
    return [node for kind in kinds for node in _by_type(path).get(kind, ())]


def name_of(node: ast.AST | None) -> str:
    """The last name of a name, an attribute or a call, else an empty text."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Call(func=function):
            return name_of(function)
    return ""
