"""Tests use no private members of the product, and the product none of libraries."""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from types import FunctionType
from typing import Generic, Protocol

import pytest

from tests.support.source_files import PRODUCT, files, name_of, nodes, product

PATHS = [
    path
    for path in files("tests", "bench", "examples", *PRODUCT)
    if path.startswith(("tests/", "bench/")) or "/tests/" in path
]
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
    ("tests/support/postgres.py", "_replace"): "a method of named tuples that is public in spite of its name",
    ("tests/support/servers.py", "_server"): "aiohttp shows the server of a site in no other way",
    (
        f"{LINKED_DEVICE}/tests/test_neonize.py",
        "_qr",
    ): "neonize keeps the handler of QR codes under this name",
}
"""Members of others than the product, each with the reason why a test uses it."""

OF_LIBRARIES_IN_THE_PRODUCT = {
    "_exit": "os._exit is public in spite of its name (Python 3.11)",
    "_replace": "a method of named tuples that is public in spite of its name (Python 3.11)",
}
"""Members of libraries, each with the version it was read in and the reason why the product uses it."""

INHERITED_FROM_LIBRARIES = {
    ("HttpProtocol", "_unsupported_upgrade_warning"): "uvicorn 0.54.0 has no setting for this warning",
    ("MailBox", "_get_mailbox_client"): "imap-tools 1.16.0 is given its client in no other way",
    ("_Client", "_create_socket"): "imaplib of Python 3.11 is given a connected socket in no other way",
    ("_Stream", "_size"): "aiohttp 3.14.5: how a payload tells its length",
}
"""Members of libraries that a class of the product overrides or sets, each with version and reason."""


USING = (ast.Attribute, ast.ImportFrom, ast.Call, ast.Constant)
"""The kinds of nodes in which a private member is named."""


def private_members(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    """The line and the name of each."""
    for node in nodes:
        yield from ((node.lineno, name) for name in _names(node) if PRIVATE.fullmatch(name))


def _names(node: ast.AST) -> Iterable[str]:
    match node:
        case ast.Attribute(value=owner, attr=name) if not _is_own(owner):
            return [name]
        case ast.ImportFrom(module=str(module), names=names) if module.split(".")[0] in PRODUCT:
            return [*module.split("."), *(alias.name for alias in names)]
        case ast.Call(func=function, args=[_, ast.Constant(value=str(name)), *_]) if name_of(function) in (
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
    match node:
        case ast.Name(id="self" | "cls") | ast.Call(func=ast.Name(id="super")):
            return True
    return False


@cache
def _used() -> list[tuple[str, int, str]]:
    """File, line and name of each."""
    return [(path, line, name) for path in PATHS for line, name in private_members(nodes(path, *USING))]


def test_no_private_member_of_the_product_is_used() -> None:
    assert [
        f"{path}:{line}: {name}" for path, line, name in _used() if (path, name) not in OF_LIBRARIES
    ] == []


def test_each_exception_is_needed() -> None:
    assert {(path, name) for path, _, name in _used()} == OF_LIBRARIES.keys()


def test_the_product_uses_no_private_member_of_a_library() -> None:
    """A name that a file of the product defines itself is one of the product's own."""
    found = {
        name: f"{path}:{line}: {name}"
        for path in product()
        for line, name in private_members(nodes(path, *USING))
        if name not in _defined(path)
    }
    found |= {
        name: f"{path}:{node.lineno}: {name}"
        for path in product()
        for node in nodes(path, ast.ImportFrom)
        if node.module != "__future__"
        for name in [*(node.module or "").split("."), *(alias.name for alias in node.names)]
        if PRIVATE.fullmatch(name)
    }

    assert [place for name, place in found.items() if name not in OF_LIBRARIES_IN_THE_PRODUCT] == []
    assert found.keys() == OF_LIBRARIES_IN_THE_PRODUCT.keys(), "an exception is no longer needed"


def test_the_product_overrides_no_private_member_of_a_library() -> None:
    found = {
        (node.name, name)
        for path in product()
        for node in nodes(path, ast.ClassDef)
        if node.bases and (own := _own_private_names(node))
        for name in own & _private_names_of_libraries(path, node.name)
    }
    assert found == INHERITED_FROM_LIBRARIES.keys()


def _own_private_names(node: ast.ClassDef) -> set[str]:
    """The methods that a class defines, and the attributes of `self` and `super()` that it names."""
    methods = {part.name for part in node.body if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef))}
    attributes = {
        part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute) and _is_own(part.value)
    }
    return {name for name in methods | attributes if PRIVATE.fullmatch(name)}


def _private_names_of_libraries(path: str, name: str) -> set[str]:
    """What the bases of a class define or use that are no classes of the product."""
    kind = getattr(import_module(path.removesuffix(".py").replace("/", ".")), name, object)
    bases = [base for base in kind.__mro__ if base.__module__.split(".")[0] not in PRODUCT]
    members = [vars(base) for base in bases if base not in (object, Generic, Protocol)]
    functions = [part for own in members for part in own.values() if isinstance(part, FunctionType)]
    return {name for own in members for name in own} | {
        name for function in functions for name in function.__code__.co_names
    }


def _defined(path: str) -> set[str]:
    """The names of functions, classes, variables and attributes that a file defines."""
    names = set()
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Name, ast.Attribute)
    for node in nodes(path, *kinds):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.Name(id=name, ctx=ast.Store()):
                names.add(name)
            case ast.Attribute(value=owner, attr=name, ctx=ast.Store()) if _is_own(owner):
                names.add(name)
    return names


@pytest.mark.parametrize(
    "code",
    [
        "world.container._runner",
        "worker._tasks.clear()",
        "worker.loop()._tasks",
        "from apps.compose.container import _made",
        "from apps._container import made",
        "monkeypatch.setattr(search, '_wider', noted)",
        "monkeypatch.setattr('apps.compose.container._made', noted)",
        "point = 'apps.compose.container:Container._made'",
        "point = f'{STORAGE}.inbox:Inbox._made'",
    ],
)
def test_each_way_to_a_private_member_is_found(code: str) -> None:
    assert list(private_members(ast.walk(ast.parse(code))))


@pytest.mark.parametrize(
    "code",
    ["self._tasks", "cls._tasks", "super()._made()", "from __future__ import annotations", "part.__dict__"],
)
def test_a_class_may_use_its_own(code: str) -> None:
    assert not list(private_members(ast.walk(ast.parse(code))))
