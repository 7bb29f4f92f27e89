"""Who stands behind an MCP message."""

from __future__ import annotations

from typing import TypeAlias

from mcp.server.context import ServerRequestContext
from starlette.requests import Request

from domain.access.model import Caller

Context: TypeAlias = "ServerRequestContext[object, Request]"


def caller_of(context: Context) -> Caller:
    """The caller that the middleware in front has authenticated for this very request."""
    assert context.request is not None
    caller: Caller = context.request.state.caller
    return caller
