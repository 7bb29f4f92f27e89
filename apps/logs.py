"""Structured logs: JSON when nobody looks at a terminal, with the request id, and never a secret.

Whatever a record holds, its line is bounded in length and in the time that it takes, and shows no control character:
texts in it come from outside. The `repr` of an object of unknown size is never written: it may take minutes and
hundreds of megabytes.
"""

import contextlib
import linecache
import logging
import sys
import threading
from asyncio import AbstractEventLoop
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from datetime import date
from enum import Enum
from pathlib import PurePath
from traceback import walk_tb
from types import FrameType
from typing import Any, TextIO
from uuid import UUID

import structlog

from adapters import trace_context
from apps.settings import Settings
from apps.settings_loading import unknown_settings

NOISY = (
    "a2a",
    "aiohttp",
    "alembic",
    "arq",
    "asyncio",
    "grpc",
    "httpcore",
    "httpx",
    "httpx2",
    "mcp",
    "psycopg",
    "urllib3",
    "uvicorn",
)
KEPT = ("instance", "ms", "conversation")
LONGEST_EVENT = 4_000
"""Characters of what a log line says, before its values and its traceback."""

log = logging.getLogger("switchboard")
current_request: ContextVar[str] = ContextVar("request", default="")
"""The request id of what is logged from here on in this task."""


def set_up(settings: Settings, role: str = "") -> None:
    """Sends all logging, all warnings and all errors that nobody caught to standard error in one form. `role`: the
    command of the process, which JSON lines name."""
    terminal = sys.stderr.isatty()
    as_json = settings.log_format == "json" or (settings.log_format == "auto" and not terminal)
    root = logging.getLogger()
    root.handlers[:] = [handler(sys.stderr, as_json=as_json, colors=terminal, role=role if as_json else "")]
    root.setLevel(settings.log_level.upper())
    for name in NOISY:
        logging.getLogger(name).setLevel(logging.WARNING)
    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)  # `Database` says once what it says at each try
    for name in ("mcp.client", "client"):  # what servers do wrong is told once, by `mcp_tools`
        logging.getLogger(name).setLevel(logging.CRITICAL)
    logging.captureWarnings(True)
    sys.excepthook = lambda _, error, __: log.critical("the process ended by an error", exc_info=error)
    sys.unraisablehook = lambda found: log.error(
        "an error could not be raised: %s", found.err_msg or "", exc_info=found.exc_value
    )
    threading.excepthook = lambda found: log.error("a thread ended by an error", exc_info=found.exc_value)
    for sentence in unknown_settings(settings):
        log.warning("%s", sentence)


def announce(*lines: str) -> None:
    """Says what a person or an operator is to read at the start: on a terminal as it is, else as JSON logs are."""
    if _writes_json() and not sys.stdout.isatty():
        for line in filter(None, map(str.strip, lines)):
            log.info("%s", line)
    else:
        print("\n".join(lines), flush=True)


def announce_end(reason: str) -> None:
    """Says on standard error why the process ends."""
    if _writes_json():
        log.critical("%s", reason)
    else:
        print(f"switchboard: {escaped(reason)}", file=sys.stderr)


def _writes_json() -> bool:
    """True in a process of the service whose logs are JSON: the rest of what it says is JSON too."""
    return any(
        isinstance(handler_, _Handler) and handler_.is_json for handler_ in logging.getLogger().handlers
    )


def handler(stream: TextIO, *, as_json: bool, colors: bool = False, role: str = "") -> logging.Handler:
    """What writes log lines to a stream."""

    def named(_logger: Any, _method: str, event: Any) -> Any:
        if role:
            event["role"] = role
        return event

    renderer: Any = structlog.processors.JSONRenderer()
    if not as_json:
        renderer = structlog.dev.ConsoleRenderer(
            colors=colors, exception_formatter=structlog.dev.plain_traceback
        )
    writer = _Handler(stream)
    writer.is_json = as_json and bool(role)
    writer.setFormatter(
        _Formatter(
            foreign_pre_chain=[
                named,
                _with_request,
                structlog.stdlib.add_log_level,
                structlog.stdlib.add_logger_name,
                structlog.stdlib.ExtraAdder(allow=KEPT),
                structlog.processors.TimeStamper(fmt="iso", utc=True),
            ],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, _bounded, renderer],
        )
    )
    return writer


def loop_failed(_: AbstractEventLoop, context: Mapping[str, Any]) -> None:
    """Logs what an event loop reports; asyncio itself would write out every object of the report."""
    log.error("%s", context.get("message"), exc_info=context.get("exception"))


class _Formatter(structlog.stdlib.ProcessorFormatter):
    def format(self, record: logging.LogRecord) -> str:
        record = logging.makeLogRecord(record.__dict__)
        message = record.msg if isinstance(record.msg, str) else str(shown(record.msg))
        if record.args:
            values: Any
            if isinstance(record.args, Mapping):
                values = {name: shown(value) for name, value in record.args.items()}
            else:
                values = tuple(map(shown, record.args))
            try:
                message = str(message % values)
            except (TypeError, ValueError, KeyError) as error:
                message = f"{message} ({message_of(error)})"
        record.msg, record.args = message, ()
        return super().format(record)


class _Handler(logging.StreamHandler[TextIO]):
    is_json = False

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's name
        """The standard one would write the record out as it is."""
        error = sys.exc_info()[1]
        with contextlib.suppress(Exception):
            self.stream.write(f"a log record of {record.name} could not be written: {type(error).__name__}\n")


def _bounded(_logger: Any, _method: str, event: Any) -> Any:
    """Every text of a line cut and escaped, an exception as a bounded traceback."""
    info, stack = event.pop("exc_info", None), event.pop("stack_info", None)
    for name, field in event.items():
        value = shown(field) if name != "event" else cut(field.strip(), LONGEST_EVENT)
        event[name] = escaped(value) if isinstance(value, str) else value
    if info and info[1] is not None:
        event["exception"] = traceback_of(info[1])
    if stack:
        event["stack"] = "\n".join(escaped(line) for line in cut(stack, LONGEST_EVENT).splitlines())
    return event


def _with_request(_logger: Any, _method: str, event: Any) -> Any:
    request_id = current_request.get()
    if request_id:
        event["request"] = request_id
    if trace_id := trace_context.trace_id():
        event["trace"] = trace_id
    return event


LONGEST_VALUE = 2_000
"""Characters of one value in a log line, and of the message of one exception."""
LONGEST_SOURCE = 200
"""Characters of a path or of a source line in a traceback."""
LONGEST_TRACEBACK = 16_000
"""Characters of a traceback with all its exceptions: log collectors split longer records."""
FIRST_FRAMES, LAST_FRAMES = 5, 15
"""Frames that are shown of the beginning and of the end of a stack."""
MAX_CHAIN = 5
"""Exceptions that are shown of a chain of causes, and of each group."""
MAX_GROUPS = 3
"""Levels of groups within groups."""

_CAUSED = "The above exception was the direct cause of the following exception:"
_DURING = "During handling of the above exception, another exception occurred:"


def escaped(text: str) -> str:
    """The text with each character that does not print (control characters, line separators, marks that change the
    direction of writing, lone surrogates) as a visible escape such as \\x1b or \\u202e."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        for character in text
    )


def cut(text: str, longest: int = LONGEST_VALUE) -> str:
    """The text, or its beginning with a note of how long it is."""
    return text if len(text) <= longest else f"{text[:longest]}… ({len(text)} characters)"


def shown(value: object) -> Any:
    """A value as a log line shows it: numbers as they are, texts cut, other objects by their type alone."""
    if isinstance(value, bool | float | None):
        return value
    if isinstance(value, int):
        return value if value.bit_length() <= 256 else f"<integer of {value.bit_length()} bits>"
    if isinstance(value, str):
        return cut(str(value.value) if isinstance(value, Enum) else value)
    if isinstance(value, BaseException):
        return message_of(value)
    if isinstance(value, PurePath | UUID | date):
        return cut(str(value))
    if isinstance(value, bytes):
        return repr(value[:LONGEST_SOURCE]) + ("…" if len(value) > LONGEST_SOURCE else "")
    return f"<{type(value).__module__}.{type(value).__qualname__}>"


def message_of(error: BaseException) -> str:
    """The message of an exception. Arguments that are neither text nor numbers are shown by their type."""
    if type(error).__str__ in (BaseException.__str__, KeyError.__str__):
        return cut(", ".join(str(shown(argument)) for argument in error.args[:MAX_CHAIN]))
    try:
        return cut(str(error))
    except Exception as broken:  # noqa: BLE001 - whatever it is, the log line must be written
        return f"<message not available: {type(broken).__name__}>"


def traceback_of(error: BaseException) -> str:
    """The traceback of an exception with its causes and groups, each line escaped. Local variables are not shown."""
    text = ""
    for line in _lines(error, {id(error)}, MAX_GROUPS):
        text += f"{escaped(line)}\n"
        if len(text) > 4 * LONGEST_TRACEBACK:
            break
    if len(text) <= LONGEST_TRACEBACK:
        return text.rstrip("\n")
    half = LONGEST_TRACEBACK // 2
    return f"{text[:half]}\n… characters are left out here …\n{text[-half:]}".rstrip("\n")


def _lines(error: BaseException, seen: set[int], groups: int) -> Iterator[str]:
    for position, (exception, link) in enumerate(_chain(error, seen)):
        if position:
            yield from ("", link, "")
        yield from _own_lines(exception)
        if not isinstance(exception, BaseExceptionGroup):
            continue
        if not groups:
            yield "  … the exceptions of this group are left out"
            continue
        for number, member in enumerate(exception.exceptions[:MAX_CHAIN], start=1):
            yield f"  --- {number} of {len(exception.exceptions)} ---"
            yield from (f"  {line}" for line in _lines(member, {*seen, id(member)}, groups - 1))


def _chain(error: BaseException, seen: set[int]) -> list[tuple[BaseException, str]]:
    """The exception and what it came from, the oldest first, each with the words that link it to the one before."""
    chain: list[tuple[BaseException, str]] = []
    current: BaseException | None = error
    while current is not None and len(chain) < MAX_CHAIN:
        hidden = current.__suppress_context__
        chain.append((current, _CAUSED if current.__cause__ else _DURING))
        following = current.__cause__ or (None if hidden else current.__context__)
        if following is None or id(following) in seen:
            break
        seen.add(id(following))
        current = following
    return chain[::-1]


def _own_lines(error: BaseException) -> Iterator[str]:
    if error.__traceback__ is not None:
        yield "Traceback (most recent call last):"
        frames = [*walk_tb(error.__traceback__)]
        first, last = frames[:FIRST_FRAMES], frames[FIRST_FRAMES:][-LAST_FRAMES:]
        yield from _frame_lines(first)
        if left_out := len(frames) - len(first) - len(last):
            yield f"  … {left_out} frames are left out …"
        yield from _frame_lines(last)
    kind = type(error).__qualname__
    if type(error).__module__ not in ("builtins", "__main__"):
        kind = f"{type(error).__module__}.{kind}"
    message = message_of(error)
    yield f"{kind}: {message}" if message else kind
    for note in getattr(error, "__notes__", ())[:MAX_CHAIN]:
        yield str(shown(note))


def _frame_lines(frames: Sequence[tuple[FrameType, int]]) -> Iterator[str]:
    for frame, number in frames:
        code = frame.f_code
        yield f'  File "{cut(code.co_filename, LONGEST_SOURCE)}", line {number}, in {code.co_name}'
        if source := linecache.getline(code.co_filename, number, frame.f_globals).strip():
            yield f"    {cut(source, LONGEST_SOURCE)}"
