"""What stands behind resource ids over REST."""

from typing import Literal

from fastapi import APIRouter
from pydantic import Field, StrictBool

from adapters.inbound.rest.bodies import Answer, Body, OptionalTimestamp, Text
from adapters.inbound.rest.routing import Call, JsonRoute, errors
from domain import limits
from domain.routing import model

Kind = Literal[
    "builtin", "http", "grpc", "chat-completions", "responses", "langgraph", "ag-ui", "a2a", "dify", "flowise"
]


class ResourceRule(Answer):
    source: Literal["rule", "agent", "built-in", "default"] = Field(
        description="rule: of RESOURCES_FILE; agent: a stored agent; default: DOWNSTREAM_URL."
    )
    match: str = Field(description="A glob over canonical resource ids.", examples=["agent::support-*"])
    kind: Kind = Field(examples=["http"])
    target: str = Field(
        description="An address without what may be secret, or what a built-in does.",
        examples=["https://agents.example.com/ask"],
    )
    seconds: float = Field(description="For a message, retries included.", examples=[60.0])
    line: int = Field(description="In the rules file; 0 for what stands in none.", examples=[3])
    model: str = Field(examples=[""])
    tools: list[str] = Field(examples=[[]])
    hasToken: bool
    knowledge: list[int] = Field(
        description="Ids of the knowledge bases that a model may search.", examples=[[]]
    )
    mcpServers: list[str] = Field(
        description="Names of the MCP servers whose tools a model may use.", examples=[[]]
    )
    agentId: int = Field(description="Of a stored agent; 0 for others.", examples=[0])


class ResourceRules(Answer):
    rules: list[ResourceRule] = Field(description="In the order in which they are tried.")
    file: str = Field(
        description="RESOURCES_FILE; empty without one.", examples=["/etc/switchboard/resources.toml"]
    )
    readAt: OptionalTimestamp
    fault: str = Field(
        description="The file was changed, and cannot be used as it is: the rules from before stay in force.",
        examples=[""],
    )


class TryResource(Body):
    downStreamResourceId: Text = Field(max_length=limits.RESOURCE_ID, examples=["agent::echo"])
    text: Text = Field("", max_length=limits.TRIAL_TEXT, examples=["How late is it?"])
    ask: StrictBool = Field(False, description="Asks the resource for real.", examples=[True])


class Usage(Answer):
    inputTokens: int = Field(description="Tokens that models read.", examples=[812])
    outputTokens: int = Field(description="Tokens that models wrote.", examples=[64])


class TrialAnswer(Answer):
    text: str = Field(
        description="Markdown; at most the first 20,000 characters.",
        examples=["ERR-4711: the pump runs dry."],
    )
    files: list[str] = Field(description="Names of files.", examples=[[]])
    choices: list[str] = Field(description="Labels of choices.", examples=[[]])
    tool: str = Field(description="The tool that it asks to use; empty for none.", examples=[""])
    wantsPerson: bool = Field(examples=[False])
    error: str = Field(description="Why it gave no answer; empty where it did.", examples=[""])
    seconds: float = Field(examples=[0.8])
    usage: Usage | None = Field(description="null where the resource does not tell it.")


class ResourceTrial(Answer):
    resource: str = Field(description="Canonical form of the id.", examples=["agent::support-de_0"])
    source: Literal["rule", "agent", "built-in", "default", "nothing"]
    kind: str = Field(
        description="As in the kind of the rule; empty for nothing.",
        examples=["http"],
    )
    rule: ResourceRule | None = Field(description="For admins alone.")
    answer: TrialAnswer | None = Field(description="null where the resource was not asked.")


BASE = "/api/agent/resources"
router = APIRouter(route_class=JsonRoute, tags=["resources"])


@router.get(BASE, response_model=ResourceRules, responses=errors(403), summary="The rules of resources")
async def rules(call: Call) -> model.ResourceRules:
    """What runs behind which resource ids, for admins. Tokens, and what may be secret in addresses, are left out."""
    return await call.services.resources.rules(call.caller)


@router.post(
    BASE + "/try", response_model=ResourceTrial, responses=errors(400, 413, 429), summary="Try a resource"
)
async def try_out(call: Call, body: TryResource) -> model.ResourceTrial:
    """Tells what takes a resource id, and with `ask` asks it for real, for 30 seconds at most. The resource gets a
    message of a new conversation of the channel `trial`; what it answers goes nowhere else. One trial of a user at a
    time, 8 of all."""
    return await call.services.resources.try_out(
        call.caller, body.downStreamResourceId, body.text, ask=body.ask
    )
