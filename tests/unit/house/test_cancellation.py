"""A task that is told to end must end: no loop may outlive its cancellation, nobody may swallow one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
CODE = sorted(
    path
    for layer in ("adapters", "apps", "domain")
    for path in (ROOT / layer).rglob("*.py")
    if "tests" not in path.relative_to(ROOT).parts
)
BROAD = {"Exception", "BaseException", "Unavailable"}
CLOSING = {
    "aclose",
    "cancel",
    "close",
    "gather",
    "putconn",
    "_quit",
    "release",
    "to_thread",
    "unlink",
    "wait",
}
"""What a `finally` may wait for: the end of what the function opened or began itself."""
ANSWERS_LAST = {"adapters/inbound/rest/callbacks.py"}
"""The last word of a call that the server cut off, in a task that ends with it."""
BOUNDED = {
    "apps/process.py": "the phases, each with its deadline",
    "adapters/outbound/storage/knowledge/vector_indexes.py": "a setting; the connection is closed if it was cut off",
    "domain/knowledge/ingest/service.py": "what is being stored, which the cancellation reaches as well",
}


def named(node: ast.AST | None) -> str:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Call(func=func):
            return named(func)
    return ""


def caught(handler: ast.ExceptHandler) -> set[str]:
    match handler.type:
        case None:
            return {"BaseException"}
        case ast.Tuple(elts=kinds):
            return {named(kind) for kind in kinds}
    return {named(handler.type)}


def leaves(body: list[ast.stmt]) -> bool:
    return isinstance(body[-1], ast.Raise | ast.Return | ast.Break)


def endless(tree: ast.AST) -> Iterator[ast.While]:
    """Loops that await within a `try` and go on after what they catch there."""
    for loop in ast.walk(tree):
        if isinstance(loop, ast.While):
            tries = [node for node in ast.walk(loop) if isinstance(node, ast.Try)]
            awaiting = [each for each in tries if any(isinstance(node, ast.Await) for node in ast.walk(each))]
            if any(
                caught(handler) & BROAD and not leaves(handler.body)
                for each in awaiting
                for handler in each.handlers
            ):
                yield loop


@pytest.mark.parametrize("path", CODE, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_loop_goes_on_after_its_cancellation(path: Path) -> None:
    """Where whatever happens is caught, the cancellation may have become something else on its way."""
    found = [
        loop.lineno
        for loop in endless(ast.parse(path.read_text("utf-8")))
        if not any(named(node) == "cancelled" for node in ast.walk(loop) if isinstance(node, ast.Call))
    ]

    assert found == [], "ask adapters.tasks.cancelled() after the try"


@pytest.mark.parametrize("path", CODE, ids=lambda path: str(path.relative_to(ROOT)))
def test_nobody_swallows_a_cancellation(path: Path) -> None:
    if str(path.relative_to(ROOT)) in ANSWERS_LAST:
        return
    tree = ast.parse(path.read_text("utf-8"))
    suppressed = [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and named(node) == "suppress"
        and {named(each) for each in node.args} & {"CancelledError", "BaseException"}
    ]
    handled = [
        handler.lineno
        for function in ast.walk(tree)
        if isinstance(function, ast.AsyncFunctionDef)
        for handler in ast.walk(function)
        if isinstance(handler, ast.ExceptHandler)
        and caught(handler) & {"CancelledError", "BaseException"}
        and not any(isinstance(node, ast.Raise) for node in ast.walk(handler))
    ]

    assert suppressed + handled == [], "let it through; adapters.tasks.end() waits for cancelled tasks"


@pytest.mark.parametrize("path", CODE, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_is_noted_while_a_function_is_left(path: Path) -> None:
    """What a `finally` waits for delays a cancellation, and its failure takes the place of it."""
    if str(path.relative_to(ROOT)) in BOUNDED:
        return
    found = [
        f"{node.lineno}: {named(node.value)}"
        for attempt in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(attempt, ast.Try)
        for statement in attempt.finalbody
        for node in ast.walk(statement)
        if isinstance(node, ast.Await) and named(node.value) not in CLOSING
    ]

    assert found == []
