"""Agents that users set up, without files of the operator."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from domain import limits
from domain.access.sharing import Level
from domain.confirmations.policy import ApprovalRule, rule_faults
from domain.refusals import Fault
from domain.routing.model import Resource, ResourceKind, TrialAnswer
from domain.usage.model import CURRENCY, MAX_PRICE
from domain.usage.model import Prices as Prices
from domain.values import value

MOST_AGENTS = 500
"""Of one user."""
MAX_TOOLS = 64
MAX_SECRET = 10_000

_SLUG = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_RESERVED = re.compile(r"echo|kb-[0-9]+")
_PREFIX = f"{ResourceKind.AGENT}::"


@value
class AgentTool:
    """An endpoint, or an MCP server, that a model may use: its settings as they were given, and what is secret of
    them. `secret` is sent as a Bearer token, `headers` as they are."""

    settings: Mapping[str, Any]
    secret: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        return str(self.settings.get("name", ""))


@value
class AgentDefinition:
    """How an agent is reached. `settings` are the keys of its kind; `secret` is the token that it is called with.
    `knowledge`: ids of bases. `approval_policy` counts beside what tools and servers say themselves. All of it is
    stored encrypted."""

    kind: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    knowledge: tuple[int, ...] = ()
    tools: tuple[AgentTool, ...] = ()
    mcp_servers: tuple[AgentTool, ...] = ()
    secret: str = field(default="", repr=False)
    prices: Prices | None = None
    approval_policy: tuple[ApprovalRule, ...] = ()


@value
class Agent:
    """An agent of a user. Instances are bound to it by `resource_id`, `agent::<slug>`.

    `trusted`: an admin lets it call addresses that users may not have called. `level` is the caller's. `fault` says
    why it cannot be read from the store; empty where it can.
    """

    id: int
    slug: str
    name: str
    owner: str
    definition: AgentDefinition
    created_at: datetime
    updated_at: datetime
    trusted: bool = False
    level: Level = Level.NONE
    fault: str = ""

    @property
    def resource_id(self) -> str:
        return _PREFIX + self.slug


@value
class AgentView:
    """An agent as it is shown: it holds no secret. What a caller with READ alone does not see is None. A tool or MCP
    server has `hasSecret`, and the names of its headers. `fault` says why the agent cannot be used; empty where it
    can."""

    id: int
    resource_id: str
    name: str
    owner: str
    kind: str
    knowledge: tuple[int, ...]
    trusted: bool
    level: Level
    fault: str
    created_at: datetime
    updated_at: datetime
    has_secret: bool
    prices: Prices | None = None
    approval_policy: tuple[ApprovalRule, ...] = ()
    settings: Mapping[str, Any] | None = None
    tools: tuple[Mapping[str, Any], ...] | None = None
    mcp_servers: tuple[Mapping[str, Any], ...] | None = None


def view_of(agent: Agent, fault: str) -> AgentView:
    definition, is_open = agent.definition, agent.level >= Level.UPDATE
    return AgentView(
        id=agent.id,
        resource_id=agent.resource_id,
        name=agent.name,
        owner=agent.owner,
        kind=definition.kind,
        knowledge=definition.knowledge,
        trusted=agent.trusted,
        level=agent.level,
        fault=fault,
        created_at=agent.created_at,
        updated_at=agent.updated_at,
        has_secret=bool(definition.secret),
        prices=definition.prices,
        approval_policy=definition.approval_policy,
        settings=definition.settings if is_open else None,
        tools=tuple(map(_shown_tool, definition.tools)) if is_open else None,
        mcp_servers=tuple(map(_shown_tool, definition.mcp_servers)) if is_open else None,
    )


def _shown_tool(tool: AgentTool) -> Mapping[str, Any]:
    headers = {"headers": dict.fromkeys(tool.headers)} if tool.headers else {}
    return {**tool.settings, "hasSecret": bool(tool.secret), **headers}


@value
class AgentChange:
    """What a caller gives; None leaves a field as it is. An empty `secret` removes the stored one. A tool or server
    without a secret keeps the one that is stored under its name."""

    name: str | None = None
    resource_id: str | None = None
    kind: str | None = None
    settings: Mapping[str, Any] | None = None
    secret: str | None = field(default=None, repr=False)
    knowledge: tuple[int, ...] | None = None
    tools: tuple[Mapping[str, Any], ...] | None = field(default=None, repr=False)
    mcp_servers: tuple[Mapping[str, Any], ...] | None = field(default=None, repr=False)
    prices: Prices | None = None
    approval_policy: tuple[ApprovalRule, ...] | None = None


@value
class AgentExchange:
    """One HTTP or gRPC call of a test, without secrets. `status` 0: there was no answer, and `error` says why."""

    method: str
    url: str
    request_headers: Mapping[str, str]
    request_body: str
    status: int = 0
    response_headers: Mapping[str, str] = field(default_factory=dict)
    response_body: str = ""
    error: str = ""
    seconds: float = 0.0


@value
class AgentTest:
    """What an agent answered to a test, and the calls that were made for it, in order. `cost`: by its prices, None
    without them or where it told no usage."""

    answer: TrialAnswer
    exchanges: Sequence[AgentExchange]
    cost: float | None = None


def slug_of(resource: Resource) -> str | None:
    """The slug of the agent that a resource id names; None for an id that cannot be that of a stored agent."""
    if resource.kind is not ResourceKind.AGENT or not _SLUG.fullmatch(resource.id):
        return None
    return None if _RESERVED.fullmatch(resource.id) else resource.id


def checked_slug(resource_id: str) -> str | Fault:
    """The slug in `agent::<slug>`, or what is wrong with it."""
    slug = resource_id.removeprefix(_PREFIX)
    if not _SLUG.fullmatch(slug):
        return Fault(
            "resourceId",
            "must be agent:: and up to 63 lower-case letters, digits and hyphens: agent::support",
        )
    if _RESERVED.fullmatch(slug):
        return Fault("resourceId", f"names a built-in, {_PREFIX}{slug}; choose another id")
    return slug


def slug_for(name: str, number: int = 1) -> str:
    """A slug made of a name; `number` tells further ones of the same name apart."""
    words = re.findall(r"[a-z0-9]+", name.lower())
    slug = "-".join(words)[:50].strip("-") or "agent"
    if _RESERVED.fullmatch(slug):
        slug = f"agent-{slug}"
    return slug if number == 1 else f"{slug}-{number}"


def changed(definition: AgentDefinition, change: AgentChange) -> AgentDefinition | Sequence[Fault]:
    """The definition with a change, or the faults of the change.

    A stored secret stays for the server that it was given for: one who may change an agent must not have its secret
    sent elsewhere.
    """
    settings = definition.settings if change.settings is None else change.settings
    secret = definition.secret if change.secret is None else change.secret
    faults = [*_settings_faults(settings), *_policy_faults(change)]
    if secret and change.secret is None and _address(settings) != _address(definition.settings):
        faults.append(Fault("secret", "must be given again, as the address is another one"))
    after = AgentDefinition(
        kind=definition.kind if change.kind is None else change.kind,
        settings=settings,
        knowledge=definition.knowledge if change.knowledge is None else change.knowledge,
        tools=_changed_tools("tools", definition.tools, change.tools, faults),
        mcp_servers=_changed_tools("mcpServers", definition.mcp_servers, change.mcp_servers, faults),
        secret=secret,
        prices=definition.prices if change.prices is None else change.prices,
        approval_policy=(
            definition.approval_policy if change.approval_policy is None else change.approval_policy
        ),
    )
    return faults or after


def _settings_faults(settings: Mapping[str, Any]) -> Iterator[Fault]:
    if fault := limits.json_fault(settings):
        yield Fault("settings", fault)
    if {"secret", "tokenEnv", "token_env"} & settings.keys():
        yield Fault("settings", "must hold no secret; give it in the field secret")


def _policy_faults(change: AgentChange) -> Iterator[Fault]:
    if prices := change.prices:
        for name, price in (("input", prices.input), ("output", prices.output)):
            if not 0 <= price <= MAX_PRICE:
                yield Fault(f"prices.{name}", f"must be from 0 to {MAX_PRICE}, for a million tokens")
        if not CURRENCY.fullmatch(prices.currency):
            yield Fault("prices.currency", "must be a code of three letters, such as EUR")
    yield from rule_faults("approvalPolicy", change.approval_policy or ())


def _changed_tools(
    field_name: str,
    stored: tuple[AgentTool, ...],
    given: tuple[Mapping[str, Any], ...] | None,
    faults: list[Fault],
) -> tuple[AgentTool, ...]:
    if given is None:
        return stored
    known = {tool.name: tool for tool in stored}
    tools = []
    for at, entry in enumerate(given[: MAX_TOOLS + 1]):
        fault = Fault("", f"must be at most {MAX_TOOLS}") if at == MAX_TOOLS else _tool_fault(entry)
        if fault:
            faults.append(Fault(f"{field_name}[{at}]{fault.field}", fault.message))
        else:
            tools.append(_changed_tool(known.get(str(entry.get("name"))), entry))
    return tuple(tools)


def _tool_fault(given: Mapping[str, Any]) -> Fault | None:
    if fault := limits.json_fault(given):
        return Fault("", fault)
    if not isinstance(given.get("secret"), str | None):
        return Fault(".secret", "must be a text")
    headers = given.get("headers", {})
    if not isinstance(headers, Mapping) or not all(isinstance(text, str | None) for text in headers.values()):
        return Fault(".headers", "must be an object of texts; null keeps the stored value")
    return None


def _changed_tool(before: AgentTool | None, given: Mapping[str, Any]) -> AgentTool:
    settings = {key: part for key, part in given.items() if key not in ("secret", "headers", "hasSecret")}
    stored = AgentTool({})
    if before is not None and _address(settings) == _address(before.settings):
        stored = before
    headers = {
        name: stored.headers.get(name, "") if text is None else text
        for name, text in given.get("headers", stored.headers).items()
    }
    return AgentTool(settings, given.get("secret", stored.secret) or "", headers)


def _address(settings: Mapping[str, Any]) -> object:
    """Whom a secret is sent to: the server, whatever the path on it."""
    url = settings.get("url")
    try:
        server = urlsplit(url)[:2] if isinstance(url, str) else url
    except ValueError:
        server = url
    return settings.get("preset"), server, settings.get("target")


def addresses(definition: AgentDefinition) -> Sequence[object]:
    """All that an agent calls, down to the path: trust ends when one of them changes."""
    tools = (*definition.tools, *definition.mcp_servers)
    places = [definition.settings, *(tool.settings for tool in tools)]
    return [
        definition.kind,
        *((place.get("preset"), place.get("url"), place.get("target")) for place in places),
    ]
