"""The rule that a stored agent comes to: its settings are the keys of a rule of RESOURCES_FILE, in camel case."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from adapters.outbound.resources.grpc_runner import TLS_KEYS
from adapters.outbound.resources.rules import Rule, rule_of_table
from adapters.outbound.resources.targets import BadRules
from domain.agents.model import AgentDefinition, AgentTool
from domain.refusals import Fault

_SNAKE = re.compile(r"\b[a-z]+(?:_[a-z]+)+\b")
_UPPER = re.compile(r"[A-Z]")
_LISTS = {"tool": "tools", "mcp_server": "mcpServers"}
_FILES = tuple(key for key in TLS_KEYS if key.endswith("_file"))
"""Keys that name files of the server, which belong to its operator."""
_ELSEWHERE = ("match", "kind", "use", "knowledge", "prices", "approvals", *_LISTS)
"""Keys of a rule that are no settings of an agent: fields of their own, and what only a rule can say."""
_UNNAMED = frozenset({*_FILES, *_ELSEWHERE, "token_env", "builtin"})
"""Keys and kinds of rules that agents do not have, or have as fields."""
_SECRET = "secret"  # noqa: S105 - the name under which the secret is found
_BUILTIN = "must not be builtin; bind the instance to agent::echo or agent::kb-<id> itself"


class BadAgent(ValueError):
    """Settings of which no rule can be made."""

    def __init__(self, field: str, what: str) -> None:
        self.fault = Fault(field, what)
        super().__init__(str(self.fault))


def rule_of_agent(slug: str, definition: AgentDefinition) -> Rule:
    """Raises `BadAgent` for the first fault."""
    if definition.kind == "builtin":
        raise BadAgent("kind", _BUILTIN)
    table = _settings_table(definition)
    secrets = {_SECRET: definition.secret, "SSL_CERT_FILE": os.environ.get("SSL_CERT_FILE")}
    fields = {
        "match": f"agent::{slug}",
        "kind": definition.kind,
        "token_env": definition.secret and _SECRET,
        "knowledge": list(definition.knowledge),
        "tool": _tool_tables("tool", definition.tools, secrets),
        "mcp_server": _tool_tables("mcp_server", definition.mcp_servers, secrets),
        "prices": definition.prices and asdict(definition.prices),
    }
    table |= _filled(fields)
    place = "settings"

    def note_place(key: str, table: tuple[str, int] | None = None) -> None:
        nonlocal place
        inside = "" if key in fields else "settings."
        if table:
            inside = f"{_LISTS[table[0]]}[{table[1]}]." if table[0] in _LISTS else f"{table[0]}."
        place = inside + _camel(_LISTS.get(key, key))

    try:
        return rule_of_table(table, secrets.get, note_place, _UNNAMED)
    except BadRules as error:
        raise BadAgent(place, _camel(error.what or str(error))) from None


def _filled(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {key: part for key, part in fields.items() if part}


def _settings_table(definition: AgentDefinition) -> dict[str, Any]:
    """Raises `BadAgent` for keys that only a rule of the operator's file may have."""
    table = _snake_keys(definition.settings)
    for key in sorted(table.keys() & {*_FILES, *_ELSEWHERE}):
        what = "is a file of the server; only a rule of RESOURCES_FILE may name it"
        raise BadAgent(f"settings.{_camel(key)}", what if key in _FILES else "is no setting of an agent")
    return table


def _tool_tables(
    kind: str, tools: Sequence[AgentTool], secrets: dict[str, str | None]
) -> Sequence[Mapping[str, Any]]:
    tables = []
    for at, tool in enumerate(tools):
        table = _snake_keys(tool.settings)
        if tool.secret:
            name = f"{kind} {at}"
            table["token_env"], secrets[name] = name, tool.secret
        if tool.headers:
            table["headers"] = dict(tool.headers)
        tables.append(table)
    return tables


def _snake_keys(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {_UPPER.sub(lambda letter: f"_{letter[0].lower()}", key): value for key, value in settings.items()}


def _camel(text: str) -> str:
    """The text with its keys as they are written in JSON."""
    return _SNAKE.sub(lambda key: re.sub(r"_([a-z])", lambda letter: letter[1].upper(), key[0]), text)
