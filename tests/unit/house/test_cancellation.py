"""A task that is told to end must end: no loop may outlive its cancellation, nobody may swallow one."""

import ast
from collections.abc import Iterator

from tests.support.source_files import name_of, nodes, product

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
    "apps/processes/process.py": "the phases, each with its deadline",
    "adapters/outbound/storage/knowledge/vector_indexes.py": "a setting; the connection is closed if it was cut off",
    "domain/knowledge/ingest.py": "what is being stored, which the cancellation reaches as well",
}


def caught(handler: ast.ExceptHandler) -> set[str]:
    match handler.type:
        case None:
            return {"BaseException"}
        case ast.Tuple(elts=kinds):
            return {name_of(kind) for kind in kinds}
    return {name_of(handler.type)}


def leaves(body: list[ast.stmt]) -> bool:
    return isinstance(body[-1], ast.Raise | ast.Return | ast.Break)


def endless(path: str) -> Iterator[ast.While]:
    """Loops that await within a `try` and go on after what they catch there."""
    for loop in nodes(path, ast.While):
        tries = [node for node in ast.walk(loop) if isinstance(node, ast.Try)]
        awaiting = [block for block in tries if any(isinstance(node, ast.Await) for node in ast.walk(block))]
        if any(
            caught(handler) & BROAD and not leaves(handler.body)
            for block in awaiting
            for handler in block.handlers
        ):
            yield loop


def test_no_loop_goes_on_after_its_cancellation() -> None:
    """Where whatever happens is caught, the cancellation may have become something else on its way."""
    offenders = [
        f"{path}:{loop.lineno}"
        for path in product()
        for loop in endless(path)
        if not any(name_of(node) == "cancelled" for node in ast.walk(loop) if isinstance(node, ast.Call))
    ]

    assert offenders == [], "ask adapters.tasks.cancelled() after the try"


def test_nobody_swallows_a_cancellation() -> None:
    suppressed = [
        f"{path}:{node.lineno}"
        for path in product()
        for node in nodes(path, ast.Call)
        if name_of(node) == "suppress"
        and {name_of(argument) for argument in node.args} & {"CancelledError", "BaseException"}
    ]
    handled = [
        f"{path}:{handler.lineno}"
        for path in product()
        if path not in ANSWERS_LAST
        for function in nodes(path, ast.AsyncFunctionDef)
        for handler in ast.walk(function)
        if isinstance(handler, ast.ExceptHandler)
        and caught(handler) & {"CancelledError", "BaseException"}
        and not any(isinstance(node, ast.Raise) for node in ast.walk(handler))
    ]

    assert suppressed + handled == [], "let it through; adapters.tasks.end() waits for cancelled tasks"


def test_nothing_is_noted_while_a_function_is_left() -> None:
    """What a `finally` waits for delays a cancellation, and its failure takes the place of it."""
    offenders = [
        f"{path}:{node.lineno}: {name_of(node.value)}"
        for path in product()
        if path not in BOUNDED
        for attempt in nodes(path, ast.Try)
        for statement in attempt.finalbody
        for node in ast.walk(statement)
        if isinstance(node, ast.Await) and name_of(node.value) not in CLOSING
    ]

    assert offenders == []
