"""Stored agents over REST."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import ConfigDict, Field, StrictBool

from adapters.inbound.rest.approvals import ApprovalRule, rules_of
from adapters.inbound.rest.bodies import (
    Answer,
    Body,
    Config,
    GranteeAnswer,
    GranteeBody,
    Id,
    Number,
    Text,
    Timestamp,
    WholeNumber,
)
from adapters.inbound.rest.resources import TrialAnswer
from adapters.inbound.rest.routing import Call, CursorPage, JsonRoute, errors, id_in_path
from domain import limits
from domain.agents import model
from domain.agents.model import AgentChange
from domain.paging import Page

KINDS = (
    "As the kind of a rule: http, grpc, chat-completions, ...; may be left out where settings name a preset."
)


class AgentPrices(Body):
    input: Number = Field(description="Of a million tokens that the model reads.", examples=[2.5])
    output: Number = Field(description="Of a million tokens that it writes.", examples=[10.0])
    currency: Text = Field(max_length=3, examples=["EUR"])

    model_config = ConfigDict(from_attributes=True)


class AgentBody(Body):
    name: Text | None = Field(None, max_length=limits.BASE_NAME, examples=["Support"])
    resourceId: Text | None = Field(
        None,
        max_length=limits.RESOURCE_ID,
        description="agent::<slug>: what instances are bound to. One is made of the name where it is left out.",
        examples=["agent::support"],
    )
    kind: Text | None = Field(None, max_length=50, description=KINDS, examples=["chat-completions"])
    settings: Config | None = Field(
        None,
        description="The keys of a rule of that kind, in camel case.",
        examples=[{"url": "https://api.example.com/v1", "model": "large"}],
    )
    secret: Text | None = Field(
        None,
        max_length=model.MAX_SECRET,
        description="The token that the agent is called with; never shown again. An empty text or null removes it;"
        " left out, it stays.",
    )
    knowledge: list[Id] | None = Field(
        None, max_length=20, description="Ids of the knowledge bases that a model may search.", examples=[[]]
    )
    tools: list[Config] | None = Field(
        None,
        max_length=model.MAX_TOOLS,
        description="Endpoints that a model may use: the keys of [[rule.tool]] in camel case, and `secret`.",
    )
    mcpServers: list[Config] | None = Field(
        None,
        max_length=model.MAX_TOOLS,
        description="MCP servers whose tools a model may use: the keys of [[rule.mcp_server]] in camel case,"
        " and `secret`. A header with null keeps its stored value.",
    )

    prices: AgentPrices | None = Field(None, description="What the test reckons with, and later the usage.")
    approvalPolicy: list[ApprovalRule] | None = Field(
        None,
        max_length=model.MAX_TOOLS,
        description="Tools of a model for whose use somebody decides, whatever they say themselves.",
    )

    def change(self) -> AgentChange:
        secret = self.secret
        if secret is None and "secret" in self.model_fields_set:
            secret = ""
        return AgentChange(
            self.name,
            self.resourceId,
            self.kind,
            self.settings,
            secret,
            None if self.knowledge is None else tuple(self.knowledge),
            None if self.tools is None else tuple(self.tools),
            None if self.mcpServers is None else tuple(self.mcpServers),
            None if self.prices is None else model.Prices(**self.prices.model_dump()),
            rules_of(self.approvalPolicy),
        )


class Agent(Answer):
    id: int = Field(examples=[4])
    resourceId: str = Field(examples=["agent::support"])
    name: str = Field(examples=["Support"])
    owner: str = Field(description="The user with whose rights it reads knowledge bases.", examples=["ann"])
    kind: str = Field(examples=["chat-completions"])
    knowledge: list[int] = Field(examples=[[3]])
    trusted: bool = Field(
        description="An admin lets it call addresses that the outbound policy forbids to users."
    )
    level: int = Field(description="The caller's: 1 READ, 2 UPDATE, 3 DELETE.", examples=[3])
    fault: str = Field(description="Why it cannot be used; empty where it can.", examples=[""])
    createdAt: Timestamp
    updatedAt: Timestamp
    hasSecret: bool
    prices: AgentPrices | None
    approvalPolicy: list[ApprovalRule]
    settings: dict[str, object] | None = Field(description="null for callers with READ alone.")
    tools: list[dict[str, object]] | None
    mcpServers: list[dict[str, object]] | None


class AgentList(Answer):
    agents: list[Agent] = Field(validation_alias="items")
    next: int | None


class AgentTrust(Body):
    trusted: StrictBool


class TestAgent(Body):
    text: Text = Field(max_length=limits.TRIAL_TEXT, examples=["How late is it?"])


class AgentExchange(Answer):
    method: str = Field(examples=["POST"])
    url: str = Field(examples=["https://api.example.com/v1/chat/completions"])
    requestHeaders: dict[str, str]
    requestBody: str
    status: int = Field(description="0: there was no answer.", examples=[200])
    responseHeaders: dict[str, str]
    responseBody: str = Field(description="At most the first 20,000 characters, as of the request.")
    error: str = Field(examples=[""])
    seconds: float = Field(examples=[0.8])


class AgentTest(Answer):
    answer: TrialAnswer
    exchanges: list[AgentExchange] = Field(
        description="The calls that were made, in order, without secrets; none for callers with READ alone."
    )
    cost: float | None = Field(description="By the agent's prices; null without them, or without a usage.")


class AgentPermissionBody(GranteeBody):
    level: WholeNumber = Field(description="0 revokes, 1 READ, 2 UPDATE, 3 DELETE.", examples=[1])


class AgentPermission(GranteeAnswer):
    level: int = Field(examples=[1])


class AgentPermissions(Answer):
    permissions: list[AgentPermission]


BASE = "/api/agent/agents"
ONE = BASE + "/{agentId}"
router = APIRouter(route_class=JsonRoute, tags=["agents"])

AgentId = Annotated[int, id_in_path("agentId", "Id of an agent.", 4)]


@router.post(
    BASE, status_code=201, response_model=Agent, responses=errors(400, 409, 413), summary="Set up an agent"
)
async def create(call: Call, body: AgentBody) -> model.AgentView:
    """Stores how an agent is reached; secrets are kept encrypted. Instances can be bound to its `resourceId` at once.
    Its addresses obey the outbound policy, unless an admin marks it as trusted."""
    return await call.services.agents.create(call.caller, body.change())


@router.get(
    BASE, response_model=AgentList, responses=errors(400), summary="The agents that the caller may use"
)
async def list_agents(call: Call, page: CursorPage) -> Page[model.AgentView, int]:
    """Ordered by id; an admin sees those of all users."""
    return await call.services.agents.list(call.caller, page.number, page.limit)


@router.get(ONE, response_model=Agent, responses=errors(403, 404), summary="One agent; needs READ")
async def get(call: Call, agent: AgentId) -> model.AgentView:
    """Without its secrets."""
    return await call.services.agents.get(call.caller, agent)


@router.put(
    ONE,
    response_model=Agent,
    responses=errors(400, 403, 404, 409, 413),
    summary="Change an agent; needs UPDATE",
)
async def update(call: Call, agent: AgentId, body: AgentBody) -> model.AgentView:
    """Fields that are left out stay. A secret must be given again when the address changes. Takes effect in all
    processes at once."""
    return await call.services.agents.update(call.caller, agent, body.change())


@router.delete(ONE, status_code=204, responses=errors(403, 404, 409), summary="Delete an agent; needs DELETE")
async def delete(call: Call, agent: AgentId) -> None:
    """Refused while instances are bound to it."""
    await call.services.agents.delete(call.caller, agent)


@router.put(
    ONE + "/trusted",
    response_model=Agent,
    responses=errors(400, 403, 404),
    summary="Trust an agent, or trust it no longer",
)
async def set_trusted(call: Call, agent: AgentId, body: AgentTrust) -> model.AgentView:
    """Lets the agent call addresses that the outbound policy forbids to users, such as one in the network of the
    service. Admins alone may. Trust ends when somebody else changes an address of the agent."""
    return await call.services.agents.set_trusted(call.caller, agent, trusted=body.trusted)


@router.post(
    ONE + "/test",
    response_model=AgentTest,
    responses=errors(400, 403, 404, 413, 429),
    summary="Ask an agent, and see what was sent; needs READ",
)
async def test(call: Call, agent: AgentId, body: TestAgent) -> model.AgentTest:
    """Asks the agent for real, for 30 seconds at most, and shows each call and its answer without secrets."""
    return await call.services.agents.test(call.caller, agent, body.text)


@router.get(
    ONE + "/permissions",
    response_model=AgentPermissions,
    responses=errors(403, 404),
    summary="Who may use an agent; needs DELETE",
)
async def list_permissions(call: Call, agent: AgentId) -> dict[str, object]:
    """Users and teams, and their levels."""
    return {"permissions": await call.services.agents.permissions(call.caller, agent)}


@router.put(
    ONE + "/permissions",
    status_code=204,
    responses=errors(400, 403, 404),
    summary="Share an agent, or stop sharing it; needs DELETE",
)
async def set_permission(call: Call, agent: AgentId, body: AgentPermissionBody) -> None:
    """Gives a user or a team a level, or takes it away with 0."""
    await call.services.agents.set_permission(call.caller, agent, body.grantee(), body.level)
