"""The bodies of the checks of configurations, and what a form for a configuration is made from."""

from typing import Literal

from pydantic import Field

from adapters.inbound.rest.bodies import Answer, Body, Config, Text
from domain import limits
from domain.instances.model import ConfigDraft


class ConfigToCheck(Body):
    config: Config
    channelName: Text | None = Field(
        None, description="Left out: not checked.", max_length=limits.CHANNEL_NAME
    )
    downStreamResourceId: Text | None = Field(None, max_length=limits.RESOURCE_ID)

    def draft(self, channel_id: str = "", instance_id: int | None = None) -> ConfigDraft:
        return ConfigDraft(channel_id, self.config, self.channelName, self.downStreamResourceId, instance_id)


class CredentialsToCheck(Body):
    config: Config


class StoredCredentialsToCheck(Body):
    config: Config | None = Field(
        None, description="Left out: as it is stored. The stored secrets stand for those that it leaves out."
    )


class FieldFault(Answer):
    field: str
    message: str


class ConfigFaults(Answer):
    faults: list[FieldFault] = Field(description="What saving would refuse; empty where it would not.")


class CredentialsAnswer(Answer):
    state: Literal["accepted", "refused", "unreachable", "nothing-to-check"]
    message: str = Field(description="In the platform's words where it refused.")
    action: str = Field(description="What to do; empty for nothing.")


class ConfigFieldAnswer(Answer):
    name: str
    type: Literal["string", "number", "boolean"]
    description: str
    required: bool
    secret: bool = Field(description="A password, key or token.")
    basic: bool = Field(description="Shown without asking for more settings.")
    format: str = Field(description="A rule of the value besides its type, such as `url` or `port`.")
    choices: list[str] = Field(description="The values that are allowed; empty for any.")
    suggested: str = Field(description="What a form for a new instance proposes.")


class ChannelForm(Answer):
    id: str
    name: str
    fields: list[ConfigFieldAnswer]
    advice: list[list[list[str]]] = Field(
        description="Of each entry at least one list of fields should be given in full."
    )
    withoutPublicAddress: str = Field(
        description="How it works where the platform cannot call this server; empty where it does not."
    )
    checksCredentials: bool = Field(description="Whether the platform can be asked about the credentials.")
