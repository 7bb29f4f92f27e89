"""Models behind rules: their settings, tools, MCP servers and knowledge bases, and how they are read."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from adapters.outbound.resources.targets import MAX_TOOLS, Keys, Target

CHAT_COMPLETIONS, RESPONSES = "chat-completions", "responses"
"""The protocols, as kinds of rules."""
SEARCH = "search_knowledge"
"""The tool that `knowledge` brings."""
MAX_BASES = 20
MAX_SERVERS = 16
_SOME_BASES = f"1 to {MAX_BASES} ids of knowledge bases, such as [3, 7]"


@dataclass(frozen=True, slots=True)
class ChatTool:
    """A tool of a rule: `parameters` is its JSON Schema, `url` takes them by POST; with `confirm` a person
    decides."""

    name: str
    url: str
    description: str = ""
    parameters: Mapping[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})
    confirm: bool = True
    token: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class McpServer:
    """An MCP server whose tools a model may use. `tools`: globs of those that it may use, all without any. `confirm`:
    whether a person decides before each use, or globs of the tools of which that is so."""

    name: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    tools: tuple[str, ...] = ()
    confirm: bool | tuple[str, ...] = True
    token: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class ChatModel(Target):
    """A model behind a server; `url` is the base address up to and without `/chat/completions` or `/responses`.
    `knowledge`: the ids of bases that it may search. `kind`: the protocol that the server speaks.
    `approvals`: globs over names of tools for whose use a person decides, whatever the tools say themselves."""

    url: str
    model: str
    system: str = ""
    history_tokens: int = 4000
    stream: bool = False
    temperature: float | None = None
    max_tokens: int | None = None
    tools: tuple[ChatTool, ...] = ()
    knowledge: tuple[int, ...] = ()
    token: str | None = field(default=None, repr=False)
    kind: str = CHAT_COMPLETIONS
    mcp_servers: tuple[McpServer, ...] = ()
    approvals: tuple[str, ...] = ()

    @classmethod
    def read(cls, keys: Keys) -> "ChatModel":
        tokens = keys.integer("history_tokens", 0, 1_000_000)
        tools = _named(keys, "tool", MAX_TOOLS, _tool)
        return cls(
            url=keys.url("url"),
            model=keys.text("model"),
            system=keys.text("system", ""),
            history_tokens=4000 if tokens is None else tokens,
            stream=keys.flag("stream", default=False),
            temperature=keys.number("temperature", 0, 2),
            max_tokens=keys.integer("max_tokens", 1, 1_000_000),
            tools=tools,
            knowledge=_knowledge(keys, tools),
            token=keys.token(),
            kind=keys.text("kind"),
            mcp_servers=_named(keys, "mcp_server", MAX_SERVERS, _mcp_server),
            approvals=keys.globs("approvals"),
        )

    @property
    def bases(self) -> tuple[int, ...]:
        return self.knowledge

    def details(self) -> Mapping[str, Any]:
        return {
            "model": self.model,
            "tools": tuple(tool.name for tool in self.tools),
            "knowledge": self.knowledge,
            "mcp_servers": tuple(server.name for server in self.mcp_servers),
        }


T = TypeVar("T", ChatTool, McpServer)


def _knowledge(keys: Keys, tools: Sequence[ChatTool]) -> tuple[int, ...]:
    """The ids of knowledge bases."""
    ids = keys.value("knowledge", list, f"a list of {_SOME_BASES}")
    if ids is None:
        return ()
    are_ids = all(isinstance(id, int) and not isinstance(id, bool) and 0 < id < 2**31 for id in ids)
    if not are_ids or not 0 < len(ids) <= MAX_BASES:
        raise keys.fault("knowledge", f"must be a list of {_SOME_BASES}")
    if len(set(ids)) < len(ids):
        raise keys.fault("knowledge", "names a knowledge base twice")
    if any(tool.name == SEARCH for tool in tools):
        raise keys.fault("knowledge", f"brings a tool of the name {SEARCH}; call your own tool otherwise")
    return tuple(ids)


def _named(keys: Keys, key: str, most: int, read: Callable[[Keys, Collection[str]], T]) -> tuple[T, ...]:
    """Reads a list of tables, each of which gets the names that are taken."""
    named: dict[str, T] = {}
    for table in keys.tables(key, most):
        tool = read(table, named)
        named[tool.name] = tool
    return tuple(named.values())


def _tool(keys: Keys, taken: Collection[str]) -> ChatTool:
    name = keys.text("name")
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name):
        raise keys.fault("name", "must be up to 64 letters, digits, underscores or hyphens")
    if name in taken:
        raise keys.fault("name", f"repeats {name}")
    parameters = keys.value("parameters", dict, "a table with a JSON Schema")
    tool = ChatTool(
        name=name,
        url=keys.url("url"),
        description=keys.text("description", ""),
        parameters=parameters or {"type": "object", "properties": {}},
        confirm=keys.flag("confirm", default=True),
        token=keys.token(),
    )
    keys.done()
    return tool


def _mcp_server(keys: Keys, taken: Collection[str]) -> McpServer:
    name = keys.text("name")
    if not re.fullmatch(r"[A-Za-z0-9-]{1,32}", name):
        raise keys.fault("name", "must be up to 32 letters, digits or hyphens")
    if name in taken:
        raise keys.fault("name", f"repeats {name}")
    confirm: bool | tuple[str, ...]
    if isinstance(keys.table.get("confirm"), list):
        confirm = keys.globs("confirm")
    else:
        confirm = keys.flag("confirm", default=True)
    server = McpServer(name, keys.url("url"), keys.headers(), keys.globs("tools"), confirm, keys.token())
    if server.token and any(header.lower() == "authorization" for header in server.headers):
        raise keys.fault("headers", "must not have Authorization beside token_env")
    keys.done()
    return server
