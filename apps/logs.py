"""Structured logs: JSON when nobody looks at a terminal, with the request id, and never a secret."""

from __future__ import annotations

import logging
import sys
from contextvars import ContextVar
from typing import Any

import structlog

from apps.settings import Settings

NOISY = ("aiohttp", "alembic", "arq", "asyncio", "grpc", "psycopg", "urllib3", "uvicorn")
KEPT = ("instance", "ms", "conversation")

_request: ContextVar[str] = ContextVar("request", default="")


def set_up(settings: Settings) -> None:
    """Sends all logging of the process to standard error in one form."""
    shared: list[Any] = [
        _with_request,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.ExtraAdder(allow=KEPT),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    renderer: list[Any]
    if settings.log_format == "json" or (settings.log_format == "auto" and not sys.stderr.isatty()):
        renderer = [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    else:
        renderer = [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())]
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderer],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(settings.log_level.upper())
    for name in NOISY:
        logging.getLogger(name).setLevel(logging.WARNING)
    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)  # `Database` says once what it says at each try


def bind_request(request_id: str) -> None:
    """Ties a request id to what is logged from here on in this task."""
    _request.set(request_id)


def _with_request(_logger: Any, _method: str, event: Any) -> Any:
    request_id = _request.get()
    if request_id:
        event["request"] = request_id
    return event
