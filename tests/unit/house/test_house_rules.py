"""Rules of the code that the import contracts cannot express. Each test lists all offenders of one rule."""

import ast
import re
from graphlib import CycleError, TopologicalSorter

import grimp

from tests.support.source_files import PRODUCT, ROOT, name_of, nodes, product

CLOCKS = {
    ("datetime", "now"),
    ("datetime", "utcnow"),
    ("datetime", "today"),
    ("date", "today"),
    ("time", "time"),
    ("time", "monotonic"),
    ("time", "sleep"),
}
RANDOMNESS = {"random", "secrets", "uuid"}
MOST_BRANCHES = 10
BRANCHES = (
    ast.If,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.ExceptHandler,
    ast.BoolOp,
    ast.IfExp,
    ast.comprehension,
    ast.Match,
)
NAMES_CHANNELS = {
    "domain/verification": "the contract names the providers of verification",
    "adapters/inbound/console/pages/identities.py": "the contract names the providers of verification",
    "adapters/outbound/system/verification_bot.py": "codes go out by mail and Telegram (the contract)",
    "domain/web_chat": "the service of the web chat: its address and its tag for web pages",
    "adapters/inbound/rest/web_chat": "the service of the web chat: its paths",
    "adapters/inbound/rest/auth_middleware.py": "the paths of the web chat",
    "adapters/inbound/rest/routing.py": "the paths of the contract",
    "adapters/inbound/rest/instances.py": "fields that the contract has for one channel",
    "adapters/inbound/rest/openapi.py": "answers that the contract has for one channel",
    "adapters/inbound/rest/examples.py": "examples of the documentation",
    "adapters/inbound/rest/catalogue.py": "examples of the documentation",
    "adapters/inbound/rest/conversations.py": "examples of the documentation",
    "adapters/inbound/rest/monitoring.py": "examples of the documentation",
    "adapters/inbound/rest/verification.py": "the contract names the providers of verification",
    "adapters/inbound/console/pages/resources.py": "the page for trying an agent is a web chat",
    "adapters/inbound/console/pages/channels.py": "the first bot is a web chat",
}
"""Where a channel is named outside its folder, and why."""


def test_the_domain_has_no_clock_and_no_randomness() -> None:
    """Both come through ports."""
    offenders = []
    for path in product("domain"):
        for node in nodes(path, ast.Attribute, ast.Import, ast.ImportFrom):
            match node:
                case ast.Attribute(value=ast.Name(id=owner), attr=attribute) if (owner, attribute) in CLOCKS:
                    offenders.append(f"{path}:{node.lineno}: {owner}.{attribute}")
                case ast.Import(names=names) if any(alias.name in RANDOMNESS for alias in names):
                    offenders.append(f"{path}:{node.lineno}")
                case ast.ImportFrom(module=str(module)) if module in RANDOMNESS:
                    offenders.append(f"{path}:{node.lineno}: {module}")

    assert offenders == []


def test_methods_of_protocols_have_no_body() -> None:
    """Somebody who inherited from it would otherwise get silence."""
    offenders = [
        f"{path}:{method.lineno}: {protocol.name}.{method.name}"
        for path in product("ports")
        for protocol in nodes(path, ast.ClassDef)
        if any(name_of(base) == "Protocol" for base in protocol.bases)
        for method in protocol.body
        if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef)
        if not all(
            isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            for statement in method.body
        )
    ]

    assert offenders == []


def test_no_adapter_inherits_from_a_port() -> None:
    """A forgotten method would return None: adapters have the methods, and mypy compares them."""
    offenders = []
    for path in product("adapters"):
        from_ports = {
            alias.asname or alias.name
            for node in nodes(path, ast.ImportFrom)
            if (node.module or "").startswith("ports")
            for alias in node.names
        }
        offenders += [
            f"{path}:{node.lineno}: {name_of(base)}"
            for node in nodes(path, ast.ClassDef)
            for base in node.bases
            if name_of(base) in from_ports and not name_of(base).endswith(("Failed", "Error"))
        ]

    assert offenders == []


def test_no_channel_is_named_outside_its_folder() -> None:
    """A new channel is one folder, one page and one line in the registry."""
    folder = "adapters/outbound/channels/"
    names = {path.name for path in (ROOT / folder).iterdir() if (path / "channel.py").is_file()}
    ids = {name.replace("_", "-") for name in names} - {"email", "cron"}  # also words of their own
    assert len(ids) > 10
    named = re.compile(rf"(?<![\w-])(?:{'|'.join(ids)})(?![\w-])")
    listed = tuple(NAMES_CHANNELS)
    offenders, used = [], set()
    for path in product():
        if path.startswith(folder) and path.removeprefix(folder).split("/")[0] in names:
            continue
        for node in nodes(path, ast.Constant):
            if isinstance(node.value, str) and named.search(node.value):
                exception = next((entry for entry in listed if path.startswith(entry)), None)
                used.add(exception)
                if exception is None:
                    offenders.append(f"{path}:{node.lineno}: {node.value[:60]}")

    assert offenders == []
    assert used == set(listed), "an exception is no longer needed"


def test_no_two_files_import_each_other() -> None:
    graph = grimp.build_graph(*PRODUCT, exclude_type_checking_imports=True, cache_dir=None)
    imports = {
        module: graph.find_modules_directly_imported_by(module)
        for module in graph.modules
        if ".tests" not in module
    }
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        raise AssertionError(f"a circle of imports: {' <- '.join(error.args[1])}") from None


def test_functions_have_few_branches() -> None:
    """A function of 60 lines that reads from top to bottom is fine; one with many ways through it is not."""
    counts = {
        f"{path}:{function.name}": 1 + sum(isinstance(node, BRANCHES) for node in ast.walk(function))
        for path in product()
        for function in nodes(path, ast.FunctionDef, ast.AsyncFunctionDef)
    }
    offenders = {name: count for name, count in counts.items() if count > MOST_BRANCHES}

    assert offenders == {}


def test_messages_for_people_name_no_class_of_an_error() -> None:
    """`type(error).__name__` stands in logs alone: people read `domain.refusals.INTERNAL`."""
    offenders = []
    for path in product():
        if path.endswith("/child.py"):  # a child's text goes to its parent's log
            continue
        logged = {
            id(node)
            for call in nodes(path, ast.Call)
            if name_of(call) in ("debug", "info", "warning", "error", "exception", "write")
            for node in ast.walk(call)
        }
        offenders += [
            f"{path}:{text.lineno}"
            for text in nodes(path, ast.JoinedStr)
            if id(text) not in logged
            and re.search(r"type\((error|failure|exc\w*|unexpected|cause)\)\.__name__", ast.unparse(text))
        ]

    assert offenders == []
