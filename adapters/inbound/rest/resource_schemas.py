"""The bodies of the routes of resources."""

from typing import Literal

from pydantic import Field, StrictBool

from adapters.inbound.rest.bodies import Answer, Body, OptionalTimestamp, Text
from domain import limits

Kind = Literal["builtin", "http", "grpc", "chat-completions"]


class ResourceRule(Answer):
    source: Literal["rule", "built-in", "default"] = Field(
        description="rule: of RESOURCES_FILE; default: DOWNSTREAM_URL."
    )
    match: str = Field(description="A glob over canonical resource ids.")
    kind: Kind
    target: str = Field(description="An address without what may be secret, or what a built-in does.")
    seconds: float = Field(description="For a message, retries included.")
    line: int = Field(description="In the rules file; 0 for what stands in none.")
    model: str
    tools: list[str]
    hasToken: bool
    knowledge: list[int] = Field(description="Ids of the knowledge bases that a model may search.")


class ResourceRules(Answer):
    rules: list[ResourceRule] = Field(description="In the order in which they are tried.")
    file: str = Field(description="RESOURCES_FILE; empty without one.")
    readAt: OptionalTimestamp
    fault: str = Field(
        description="The file was changed, and cannot be used as it is: the rules from before stay in force."
    )


class TryResource(Body):
    downStreamResourceId: Text = Field(max_length=limits.RESOURCE_ID)
    text: Text = Field("", max_length=limits.TRIAL_TEXT)
    ask: StrictBool = Field(False, description="Asks the resource for real.")


class TrialAnswer(Answer):
    text: str = Field(description="Markdown; at most the first 20,000 characters.")
    files: list[str] = Field(description="Names of files.")
    choices: list[str] = Field(description="Labels of choices.")
    tool: str = Field(description="The tool that it asks to use; empty for none.")
    wantsPerson: bool
    error: str = Field(description="Why it gave no answer; empty where it did.")
    seconds: float


class ResourceTrial(Answer):
    resource: str = Field(description="Canonical form of the id.")
    source: Literal["rule", "built-in", "default", "nothing"]
    kind: str = Field(description="builtin, http, grpc or chat-completions; empty for nothing.")
    rule: ResourceRule | None = Field(description="For admins alone.")
    answer: TrialAnswer | None = Field(description="null where the resource was not asked.")
