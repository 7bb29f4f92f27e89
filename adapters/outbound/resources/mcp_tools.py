"""Tools of MCP servers for a model: which there are, under which names, and how they are used."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib import import_module
from typing import TYPE_CHECKING, Any

from adapters.outbound.net.urls import safe_url
from adapters.outbound.resources.chat_model import ToolCall, ToolOffer
from adapters.outbound.resources.model_settings import McpServer
from adapters.outbound.resources.model_tools import UNREACHABLE, Tool, matches
from domain.json_text import is_too_deep
from ports.http import Http

if TYPE_CHECKING:
    import mcp_types as types

MAX_TOOLS = 128
"""Of all servers of a model; OpenAI takes no more in one request."""
MAX_NAME = 256
"""Characters; a tool with a longer name is left out."""
MAX_DESCRIPTION = 1_000
"""Characters; longer descriptions are cut."""
MAX_SCHEMA = 20_000
"""Characters of the JSON Schema of one tool; a tool with a longer one is left out."""
MAX_SCHEMAS = 400_000
"""Characters of those of all tools of a model."""
LIST_SECONDS = 10.0
"""For connecting to a server and listing its tools."""
FRESH_SECONDS = 60.0
"""How long a list of tools is used again."""
AWAY_SECONDS = 10.0
"""How long a server that could not list its tools is not asked again."""
SEPARATOR = "__"
"""Between the name of a server, which has no underscore, and that of a tool."""
UNCLEAR = "The tool gave no answer. Whether it was carried out is not known."
TOO_LARGE = "The tool gave an answer that is too large to be read."

log = logging.getLogger(__name__)

_SESSION = "adapters.outbound.resources.mcp_session"


@dataclass(frozen=True, slots=True)
class _Listing:
    """The tools of a server with the characters of their parameters, None if it could not list them; good until a
    time of the monotonic clock."""

    tools: Sequence[tuple[Tool, int]] | None
    until: float


class McpTools:
    """The tools of the servers of one model. Lists are used again for a while, so that not each message waits for
    them."""

    def __init__(self, http: Http, servers: Sequence[McpServer]) -> None:
        self._http = http
        self._servers = {server.name: server for server in servers}
        self._listings: dict[str, _Listing] = {}

    async def all(self, seconds: float) -> dict[str, Tool]:
        """The tools by the names that the model knows, at most `MAX_TOOLS`. A server that is away has none."""
        if not self._servers:
            return {}
        await asyncio.to_thread(import_module, _SESSION)  # takes a second, once in a process
        limit = min(LIST_SECONDS, seconds / 2)
        renewed = await asyncio.gather(*(self._renew(server, limit) for server in self._servers.values()))
        tools: dict[str, Tool] = {}
        left_out: list[str] = []
        size = 0
        for server in self._servers:
            for tool, characters in self._listings[server].tools or ():
                name, size = tool.offer.name, size + characters
                if name in tools or len(tools) >= MAX_TOOLS or size > MAX_SCHEMAS:
                    left_out.append(name)
                else:
                    tools[name] = tool
        if any(renewed):
            _warn_of("a model does not get all tools of its MCP servers: they are too many", left_out)
        return tools

    def is_away(self, tool_name: str) -> bool:
        """Return True if the tool is one of a server that could not list its tools."""
        server, separator, _ = tool_name.partition(SEPARATOR)
        listing = self._listings.get(server)
        return bool(separator) and listing is not None and listing.tools is None

    async def _renew(self, server: McpServer, seconds: float) -> bool:
        """Lists the tools of a server, unless they were listed a short while ago. Returns True if it did."""
        from adapters.outbound.resources import mcp_session

        listing = self._listings.get(server.name)
        if listing and time.monotonic() < listing.until:
            return False
        try:
            listed = await mcp_session.listed_tools(self._http, server, seconds)
        except mcp_session.McpFailed as failed:
            _warn_of_failure(server, failed)
            self._listings[server.name] = _Listing(None, time.monotonic() + AWAY_SECONDS)
            return True
        usable, left_out = await asyncio.to_thread(_usable, listed, server.tools or ("*",))
        _warn_of(f"tools of the MCP server {server.name} are left out: too many, or too large", left_out)
        tools = [(self._tool(server, tool, schema), characters) for tool, schema, characters in usable]
        self._listings[server.name] = _Listing(tools, time.monotonic() + FRESH_SECONDS)
        return True

    def _tool(self, server: McpServer, tool: types.Tool, schema: Mapping[str, Any]) -> Tool:
        async def use(call: ToolCall, parameters: Mapping[str, Any], request_id: str, seconds: float) -> str:
            from adapters.outbound.resources import mcp_session

            try:
                return await mcp_session.called_tool(self._http, server, tool.name, parameters, seconds)
            except mcp_session.McpFailed as failed:
                _warn_of_failure(server, failed)
                if failed.is_too_large:
                    return TOO_LARGE
                return UNCLEAR if failed.begun else UNREACHABLE

        name = tool_name(server.name, tool.name)
        description = (tool.description or tool.title or "")[:MAX_DESCRIPTION]
        confirm = server.confirm if isinstance(server.confirm, bool) else matches(tool.name, server.confirm)
        return Tool(ToolOffer(name, description, schema), confirm, use)


def tool_name(server: str, tool: str) -> str:
    """The name of a tool as models know it: up to 64 letters, digits, underscores and hyphens. It depends on both
    names alone, so that an approval fits the same tool later; where characters were lost, a digest keeps names
    apart."""
    plain = f"{server}{SEPARATOR}{tool}"
    if re.fullmatch(r"[A-Za-z0-9_-]{1,64}", plain):
        return plain
    digest = sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{re.sub(r'[^A-Za-z0-9_-]', '_', plain)[:55]}-{digest}"


def _usable(
    listed: Sequence[types.Tool], globs: Sequence[str]
) -> tuple[Sequence[tuple[types.Tool, Mapping[str, Any], int]], Sequence[str]]:
    """The allowed tools whose parameters are small enough, at most `MAX_TOOLS`, each with its schema and the
    characters of it; and the names of those that are left out."""
    usable: list[tuple[types.Tool, Mapping[str, Any], int]] = []
    left_out: list[str] = []
    for tool in listed:
        if len(tool.name) > MAX_NAME or not matches(tool.name, globs):
            continue
        schema = usable_schema(tool.input_schema) if len(usable) < MAX_TOOLS else {}
        text = json.dumps(schema)
        if not schema or len(text) > MAX_SCHEMA or is_too_deep(text.encode()):
            left_out.append(tool.name)
        else:
            usable.append((tool, schema, len(text)))
    return usable, left_out


def usable_schema(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The parameters as models take them, which want an object with properties."""
    properties = schema.get("properties")
    return {
        **{name: value for name, value in schema.items() if name != "$schema"},
        "type": "object",
        "properties": properties if isinstance(properties, dict) else {},
    }


def _warn_of_failure(server: McpServer, failed: Exception) -> None:
    cause = type(failed.__cause__).__name__
    log.warning(
        "the MCP server %s at %s %s", server.name, safe_url(server.url), failed, extra={"cause": cause}
    )


def _warn_of(sentence: str, names: Sequence[str]) -> None:
    if names:
        shown = ", ".join(name[:64] for name in names[:20])
        log.warning("%s: %s", sentence, shown, extra={"tools": len(names)})
