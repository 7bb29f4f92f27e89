"""Structured logs: JSON when nobody looks at a terminal, with the request id, and never a secret.

Whatever a record holds, its line is bounded in length and in the time that it takes, and shows no control character:
texts in it come from outside.
"""

import contextlib
import logging
import sys
import threading
from asyncio import AbstractEventLoop
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any, TextIO

import structlog

from adapters import trace_context
from apps.printable import cut, escaped, message_of, shown, traceback_of
from apps.settings import Settings
from apps.settings_loading import unknown_settings

NOISY = ("aiohttp", "alembic", "arq", "asyncio", "grpc", "mcp", "psycopg", "urllib3", "uvicorn")
KEPT = ("instance", "ms", "conversation")
LONGEST_EVENT = 4_000
"""Characters of what a log line says, before its values and its traceback."""

log = logging.getLogger("switchboard")
_request: ContextVar[str] = ContextVar("request", default="")


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


def bind_request(request_id: str) -> None:
    """Ties a request id to what is logged from here on in this task."""
    _request.set(request_id)


def loop_failed(_: AbstractEventLoop, context: Mapping[str, Any]) -> None:
    """Logs what an event loop reports; asyncio itself would write out every object of the report."""
    log.error("%s", context.get("message"), exc_info=context.get("exception"))


class _Formatter(structlog.stdlib.ProcessorFormatter):
    def format(self, record: logging.LogRecord) -> str:
        record = logging.makeLogRecord(record.__dict__)
        record.msg, record.args = _message(record), ()
        return super().format(record)


class _Handler(logging.StreamHandler[TextIO]):
    is_json = False

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's name
        """The standard one would write the record out as it is."""
        error = sys.exc_info()[1]
        with contextlib.suppress(Exception):
            self.stream.write(f"a log record of {record.name} could not be written: {type(error).__name__}\n")


def _message(record: logging.LogRecord) -> str:
    message = record.msg if isinstance(record.msg, str) else str(shown(record.msg))
    if not record.args:
        return message
    values: Any
    if isinstance(record.args, Mapping):
        values = {name: shown(value) for name, value in record.args.items()}
    else:
        values = tuple(map(shown, record.args))
    try:
        return str(message % values)
    except (TypeError, ValueError, KeyError) as error:
        return f"{message} ({message_of(error)})"


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
    request_id = _request.get()
    if request_id:
        event["request"] = request_id
    if trace_id := trace_context.trace_id():
        event["trace"] = trace_id
    return event
