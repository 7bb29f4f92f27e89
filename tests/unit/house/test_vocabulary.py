"""The code uses the field's terms (docs/glossary.md), and none of the words that they replaced.

Names are compared word by word: `_lane_of` and `LaneLoop` both hold `lane`. How a word was put into a table:

- `REPLACED`: it has no use of its own here, so it stands nowhere, in tests neither.
- `CLASSES`: an ordinary word ("part", "script"), which is replaced as the name of a class alone.
- `REPLACED_IN`: an ordinary word ("turn" of a chat, "fence" of code, "words" of a text) is replaced only where it
  meant something else, so in the folders that had that meaning. `keep` and `leave` are the verbs of many things;
  in the folder of the queue they were `reserve` and `release`.

`Refusal` is the one base class of errors for a caller and stays.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.support.source_files import files, name_of, nodes, product, source, tree

FOLDERS = ("domain", "ports", "adapters", "apps", "tests", "bench", "examples", "scripts")
STORAGE = "adapters/outbound/storage"
SCHEMA = tuple(f"{STORAGE}/{name}.py" for name in ("tables", "knowledge/tables"))
METRICS = ("adapters/outbound/system/metrics.py", "adapters/outbound/storage/database_metrics.py")

REPLACED = {
    "lane": "QueueKey, QueueWorker or LeaseStore",
    "lanes": "LeaseStore",
    "let go": "cancel",
    "handover": "lease",
    "desk": "QueueWorker",
    "doubtful": "lease_uncertain",
    "relaxed": "ASYNC_COMMIT",
    "face": "Capability",
    "faces": "Capability",
    "kit": "ChannelDependencies",
    "facts": "metadata",
    "bell": "Wakeup",
    "asker": "ApprovalScope",
    "ruling": "ApprovalResult",
    "attended": "has_open_approval",
    "gave up": "ProcessingFailed",
    "unproved for": "missing_proof_field",
    "pacer": "RateLimiter",
    "restrained": "throttled",
    "far off": "next_slot_at",
    "nursery": "ForkServer",
    "walls": "restrictions",
    "bury": "reap",
    "last words": "stderr_tail",
    "callback branch": "CallbackApp",
    "chore": "PeriodicTask",
    "chores": "PeriodicTask",
    "upkeep": "PeriodicRunner",
    "retirement": "retire",
    "hasten": "run_soon",
    "incarnation": "worker_id",
    "postgres links": "PostgresConnections or PostgresVerifications",
    "deed": "Action",
    "happening": "Trigger",
    "receipt": "DeliveryStatus",
    "receipts": "delivery_statuses",
    "blob holds": "BlobReferences",
}

CLASSES = {
    "Places": "SlotAllocator or DataPaths",
    "Room": "Capacity",
    "Waiting": "QueuedEvent",
    "Processed": "EventOutcome",
    "Outgoing": "QueuedMessage",
    "Part": "OutboundMessage or Component",
    "Types": "TypingIndicator",
    "Screens": "SenderFilter",
    "Notices": "ButtonAck",
    "Decides": "PromptCloser",
    "Drafts": "StreamingReply",
    "Pairs": "Pairing",
    "Watches": "PushWatcher",
    "Hub": "EventBus",
    "Talk": "ConversationContext",
    "Asking": "ResourceInvocation",
    "Said": "Reply",
    "Intake": "CallbackService",
    "Move": "SessionRename",
    "Gate": "AuthMiddleware",
    "Answering": "ResponseRecorder",
    "Planner": "ScheduleService",
    "Seal": "ConfigCipher",
    "Life": "DeviceSession",
    "Flow": "StyledText",
    "Script": "RenderedText",
    "Dialect": "MarkupWriter",
}

QUEUE = ("adapters/inbound/jobs/queue_worker.py", "adapters/outbound/storage/queue", "ports/queue.py")
MESSAGES = (
    "domain/delivery",
    "domain/channels",
    "ports/outbox.py",
    "ports/capabilities.py",
    "ports/connections.py",
)
ROUTING = ("domain/routing", "domain/confirmations")
CALLS = ("domain/callbacks", "ports/channels.py", "ports/capabilities.py", "ports/connections.py")
LIMITS = ("domain/delivery", "ports/outbox.py")
BUS = ("adapters/outbound/system/event_bus.py", "adapters/outbound/storage/signals.py")
SANDBOX = ("adapters/outbound/knowledge/parsing/sandbox",)
RENDERING = ("adapters/outbound/rendering",)
REST = ("adapters/inbound/rest", "adapters/rpc")
SECRETS = (
    "adapters/outbound/system/encryption.py",
    "adapters/outbound/system/signed_tokens.py",
    "adapters/outbound/storage/instances.py",
    "apps",
)
REPLACED_IN = {
    "places": ("SlotAllocator or DataPaths", (*QUEUE, "adapters/outbound/storage/embedded")),
    "room": ("Capacity", QUEUE),
    "keep": ("reserve", QUEUE),
    "occupy": ("acquire", QUEUE),
    "leave": ("release", QUEUE),
    "raised": ("enqueue_events", QUEUE),
    "settled": ("complete_events", QUEUE),
    "firm": ("require_sync_commit", (*QUEUE, "ports/queue.py")),
    "part": ("OutboundMessage", MESSAGES),
    "parts": ("OutboundMessage", MESSAGES),
    "known": ("metadata", CALLS),
    "hub": ("EventBus", (*BUS, "apps")),
    "hear": ("on_notification", BUS),
    "lost": ("on_disconnect", BUS),
    "talk": ("ConversationContext", ROUTING),
    "asking": ("ResourceInvocation", ROUTING),
    "said": ("Reply", ROUTING),
    "words": ("user_message", ROUTING),
    "prove": ("verify", CALLS),
    "turn": ("acquire", LIMITS),
    "hold": ("cooldown", LIMITS),
    "place": ("conversation", LIMITS),
    "move": ("SessionRename", ("domain", "ports")),
    "moves": ("SessionRename", ("domain", "ports")),
    "fence": ("sandbox", SANDBOX),
    "gate": ("AuthMiddleware", REST),
    "answering": ("ResponseRecorder", REST),
    "shapes": ("serializers", REST),
    "moments": ("timestamps", REST),
    "seal": ("encryption", SECRETS),
    "box": ("encryption", SECRETS),
    "life": ("DeviceSession", ("adapters/inbound/sockets", "adapters/outbound/linked_device")),
    "elsewhere": ("held_by_other_process", ("adapters/inbound/sockets", "ports", "apps")),
    "forgetting": ("locked_unreferenced", ("adapters/outbound/storage/knowledge", "ports")),
    "flow": ("StyledText", RENDERING),
    "script": ("RenderedText", RENDERING),
    "dialect": ("MarkupWriter", RENDERING),
    "leads": ("keep_with_next", RENDERING),
}

MODULES = {
    "ports/people.py": "identities",
    "ports/facts.py": "metadata",
    "ports/waiting.py": "replies",
    "ports/faces.py": "capabilities",
    "adapters/inbound/rest/gate.py": "auth_middleware",
    "apps/parts.py": "components",
}


def _replaced(path: str) -> dict[str, str]:
    """The words that are replaced in this file, with the standard name of each."""
    here = {word: standard for word, (standard, folders) in REPLACED_IN.items() if path.startswith(folders)}
    return {**REPLACED, **here}


@cache
def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    """Finds in a text what may be such a word within a name, or such a class. Most files need no closer look."""
    spelt = "|".join(word.replace(" ", "_?") for word in words)
    return re.compile(rf"(?i:(?<![a-z])(?:{spelt})|_(?:{spelt}))|\b_?(?:{'|'.join(CLASSES)})\b")


def _names(tree: ast.Module) -> Iterator[tuple[str, int, bool]]:
    """Each name that the file gives to something, its line, and whether it is that of a class."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield node.name, node.lineno, True
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node.lineno, False
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno, False
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno, False
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr, node.lineno, False


@cache
def _words(name: str) -> str:
    """`_LaneOf` as ' lane of '."""
    return f" {' '.join(re.findall(r'[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+', name)).lower()} "


def _standard(replaced: dict[str, str], name: str, *, is_class: bool = False) -> str | None:
    words = _words(name)
    former = next((word for word in replaced if f" {word} " in words), None)
    return replaced[former] if former else CLASSES.get(name.strip("_")) if is_class else None


def _report(path: str, line: int, name: str, standard: str) -> str:
    return f"{path}:{line}: '{name}': the standard name is {standard}"


def test_no_name_is_of_the_former_vocabulary() -> None:
    reports = []
    for path in files(*FOLDERS):
        replaced = _replaced(path)
        if _pattern(tuple(replaced)).search(source(path)):
            reports += [
                _report(path, line, name, standard)
                for name, line, is_class in _names(tree(path))
                if (standard := _standard(replaced, name, is_class=is_class))
            ]

    assert not reports, "\n" + "\n".join(reports)


def test_no_module_is_of_the_former_vocabulary() -> None:
    reports = [
        _report(path, 1, name, standard)
        for path in files(*FOLDERS)
        for name in Path(path).with_suffix("").parts
        if (standard := MODULES.get(path) or _standard(_replaced(path), name))
    ]

    assert not reports, "\n" + "\n".join(reports)


def test_no_column_or_metric_is_of_the_former_vocabulary() -> None:
    reports = [
        _report(path, text.lineno, name, standard)
        for path in (*SCHEMA, *METRICS)
        for text in nodes(path, ast.Constant)
        if isinstance(text.value, str)
        for name in re.findall(r"\w+", text.value)
        if (standard := _standard(_replaced(path), name))
    ]

    assert not reports, "\n" + "\n".join(reports)


RIDDLE = re.compile(
    r"^(Whether|None (where|for|while)|What (it|each|is|of)|As (it|they)|That )"
    r"|is told|are told|is none\b|gives up\b",
    re.MULTILINE,
)
"""Openings and phrases of docstrings that a reader has to turn round: write "Return True if", "None if"."""
VAGUE = {"found", "wanted", "given", "told", "whole", "each", "one"}
"""Names of variables that say nothing of the thing: it has the name of what it is."""
CONTRACT_NAMES = {"found"}
"""Fields of the contract, as annotations of a class: the pages or files that a source names."""


def test_docstrings_say_plainly_what_things_do() -> None:
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    offenders = [
        f"{path}:{getattr(node, 'lineno', 1)}: {match[0]}"
        for path in product()
        for node in nodes(path, *kinds)
        if (match := RIDDLE.search(ast.get_docstring(node) or ""))
    ]

    assert offenders == []


def test_variables_are_named_after_the_thing() -> None:
    fields = {
        id(statement.target)
        for path in product()
        for node in nodes(path, ast.ClassDef)
        for statement in node.body
        if isinstance(statement, ast.AnnAssign) and name_of(statement.target) in CONTRACT_NAMES
    }
    offenders = [
        f"{path}:{node.lineno}: {node.id}"
        for path in product()
        for node in nodes(path, ast.Name)
        if isinstance(node.ctx, ast.Store)
        if node.id in VAGUE and id(node) not in fields
    ]

    assert offenders == []
