"""What a form for a configuration is made from, and the checks of what is written into it, over REST."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Literal

from fastapi import APIRouter, Request
from pydantic import Field

from adapters.inbound.rest.bodies import Answer, Body, Config, Text
from adapters.inbound.rest.instances import BASE
from adapters.inbound.rest.routing import (
    Call,
    ChannelType,
    InstanceId,
    JsonRoute,
    ManagerRoute,
    Services,
    errors,
)
from domain import limits
from domain.instances.model import ConfigDraft, CredentialsCheck
from domain.refusals import Fault


class ConfigToCheck(Body):
    config: Config = Field(examples=[{"webhookSecret": "s3cret", "syncResponse": True}])
    channelName: Text | None = Field(
        None, description="Left out: not checked.", max_length=limits.CHANNEL_NAME
    )
    downStreamResourceId: Text | None = Field(None, max_length=limits.RESOURCE_ID)

    def draft(self, channel_id: str = "", instance_id: int | None = None) -> ConfigDraft:
        return ConfigDraft(channel_id, self.config, self.channelName, self.downStreamResourceId, instance_id)


class CredentialsToCheck(Body):
    config: Config = Field(examples=[{"webhookSecret": "s3cret", "syncResponse": True}])


class StoredCredentialsToCheck(Body):
    config: Config | None = Field(
        None, description="Left out: as it is stored. The stored secrets stand for those that it leaves out."
    )


class FieldFault(Answer):
    field: str = Field(examples=["email"])
    message: str


class ConfigFaults(Answer):
    faults: list[FieldFault] = Field(description="What saving would refuse; empty where it would not.")


class CredentialsAnswer(Answer):
    state: Literal["accepted", "refused", "unreachable", "nothing-to-check"]
    message: str = Field(description="In the platform's words where it refused.")
    action: str = Field(description="What to do; empty for nothing.")


class ConfigFieldAnswer(Answer):
    name: str = Field(examples=["Handbook"])
    type: Literal["string", "number", "boolean"]
    description: str = Field(examples=["How we work"])
    required: bool
    secret: bool = Field(description="A password, key or token.")
    basic: bool = Field(description="Shown without asking for more settings.")
    format: str = Field(description="A rule of the value besides its type, such as `url` or `port`.")
    choices: list[str] = Field(description="The values that are allowed; empty for any.")
    suggested: str = Field(description="What a form for a new instance proposes.")


class ChannelForm(Answer):
    id: str
    name: str = Field(examples=["Handbook"])
    fields: list[ConfigFieldAnswer]
    advice: list[list[list[str]]] = Field(
        description="Of each entry at least one list of fields should be given in full."
    )
    withoutPublicAddress: str = Field(
        description="How it works where the platform cannot call this server; empty where it does not."
    )
    checksCredentials: bool = Field(description="Whether the platform can be asked about the credentials.")


FORMS = "/api/agent/channel-forms"
FORM = FORMS + "/{type}"
CREDENTIALS = (
    "Has the platform try the credentials, and answers in its words. Saves nothing and registers nothing. Addresses"
    " of the configuration obey OUTBOUND_POLICY. 20 checks in five minutes for each user (429)."
)


class ChannelRoute(JsonRoute):
    """A route whose body is read for channels that exist."""

    async def before_body(self, request: Request) -> None:
        """Raises `NotFound`."""
        await request.app.state.gateway.use_cases.catalogue.definition(request.path_params["type"])


router = APIRouter(route_class=JsonRoute, tags=["channel instances"])
of_channel = APIRouter(route_class=ChannelRoute)
owned = APIRouter(route_class=ManagerRoute)


@router.get(FORM, response_model=ChannelForm, responses=errors(404), summary="The form of a channel")
async def form(services: Services, type: ChannelType) -> dict[str, object]:
    """The fields of a channel's configuration with what a form needs: which are secret, which come first, which
    values are allowed."""
    definition = await services.catalogue.definition(type)
    return {
        "id": definition.id,
        "name": definition.name,
        "fields": [{**asdict(field), "basic": definition.is_basic(field)} for field in definition.fields],
        "advice": definition.advice,
        "withoutPublicAddress": definition.without_public_address,
        "checksCredentials": definition.checks_credentials,
    }


@of_channel.post(
    FORM + "/check",
    response_model=ConfigFaults,
    responses=errors(400, 404, 413),
    summary="Check a new configuration",
)
async def check(call: Call, type: ChannelType, body: ConfigToCheck) -> dict[str, Sequence[Fault]]:
    """The faults for which creating an instance would be refused, per field. Saves nothing, and asks no platform."""
    return {"faults": await call.services.checks.faults(call.caller, body.draft(channel_id=type))}


@of_channel.post(
    FORM + "/check-credentials",
    response_model=CredentialsAnswer,
    responses=errors(400, 404, 413, 429),
    summary="Check new credentials",
    description=CREDENTIALS,
)
async def check_credentials(call: Call, type: ChannelType, body: CredentialsToCheck) -> CredentialsCheck:
    return await call.services.checks.credentials(call.caller, ConfigDraft(type, body.config))


@owned.post(
    BASE + "/{instanceId}/check",
    response_model=ConfigFaults,
    responses=errors(400, 403, 404, 413),
    summary="Check a change of a configuration",
)
async def check_change(call: Call, instance: InstanceId, body: ConfigToCheck) -> dict[str, Sequence[Fault]]:
    """The faults for which updating the instance would be refused, per field. Stored secrets stand for those that the
    configuration leaves out; null takes one away. Saves nothing, and asks no platform."""
    return {"faults": await call.services.checks.faults(call.caller, body.draft(instance_id=instance))}


@owned.post(
    BASE + "/{instanceId}/check-credentials",
    response_model=CredentialsAnswer,
    responses=errors(400, 403, 404, 409, 413, 429),
    summary="Check the credentials of an instance",
    description=(
        f"{CREDENTIALS} Stored secrets stand for those that `config` leaves out; null takes one away. Without"
        " `config` the stored configuration is tried: a webhook that the platform lost is registered again, and the"
        " result is noted in the health."
    ),
)
async def check_stored_credentials(
    call: Call, instance: InstanceId, body: StoredCredentialsToCheck
) -> CredentialsCheck:
    return await call.services.checks.credentials(
        call.caller, ConfigDraft(config=body.config, instance_id=instance)
    )


router.include_router(of_channel)
router.include_router(owned)
