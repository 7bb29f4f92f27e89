"""What a form for a configuration is made from, and the checks of what is written into it, over REST."""

from collections.abc import Sequence

from fastapi import APIRouter, Request

from adapters.inbound.rest import config_check_schemas as schemas
from adapters.inbound.rest.instances import BASE, require_ownership
from adapters.inbound.rest.routing import (
    CurrentCaller,
    InstanceId,
    JsonRoute,
    Services,
    before_body,
    errors,
)
from domain.channels.model import ChannelDefinition
from domain.instances.model import ConfigDraft, CredentialsCheck
from domain.refusals import Fault
from ports.use_cases import UseCases

FORMS = "/api/agent/channel-forms"
FORM = FORMS + "/{type}"
CREDENTIALS = (
    "Has the platform try the credentials, and answers in its words. Saves nothing and registers nothing. Addresses"
    " of the configuration obey OUTBOUND_POLICY. 20 checks in five minutes for each user (429)."
)

router = APIRouter(route_class=JsonRoute, tags=["channel instances"])


def _form(definition: ChannelDefinition) -> dict[str, object]:
    fields = [
        {
            "name": field.name,
            "type": field.type,
            "description": field.description,
            "required": field.required,
            "secret": field.secret,
            "basic": definition.is_basic(field),
            "format": field.format,
            "choices": field.choices,
            "suggested": field.suggested,
        }
        for field in definition.fields
    ]
    return {
        "id": definition.id,
        "name": definition.name,
        "fields": fields,
        "advice": definition.advice,
        "withoutPublicAddress": definition.without_public_address,
        "checksCredentials": definition.checks_credentials,
    }


async def require_channel(services: UseCases, request: Request) -> None:
    """Raises `NotFound`."""
    await services.catalogue.definition(request.path_params["type"])


@router.get(FORM, response_model=schemas.ChannelForm, responses=errors(404), summary="The form of a channel")
async def form(services: Services, type: str) -> dict[str, object]:
    """The fields of a channel's configuration with what a form needs: which are secret, which come first, which
    values are allowed."""
    return _form(await services.catalogue.definition(type))


@router.post(
    FORM + "/check",
    response_model=schemas.ConfigFaults,
    responses=errors(400, 404, 413),
    summary="Check a new configuration",
)
@before_body(require_channel)
async def check(
    services: Services, caller: CurrentCaller, type: str, body: schemas.ConfigToCheck
) -> dict[str, Sequence[Fault]]:
    """The faults for which creating an instance would be refused, per field. Saves nothing, and asks no platform."""
    return {"faults": await services.checks.faults(caller, body.draft(channel_id=type))}


@router.post(
    FORM + "/check-credentials",
    response_model=schemas.CredentialsAnswer,
    responses=errors(400, 404, 413, 429),
    summary="Check new credentials",
    description=CREDENTIALS,
)
@before_body(require_channel)
async def check_credentials(
    services: Services, caller: CurrentCaller, type: str, body: schemas.CredentialsToCheck
) -> CredentialsCheck:
    return await services.checks.credentials(caller, ConfigDraft(type, body.config))


@router.post(
    BASE + "/{instanceId}/check",
    response_model=schemas.ConfigFaults,
    responses=errors(400, 403, 404, 413),
    summary="Check a change of a configuration",
)
@before_body(require_ownership)
async def check_change(
    services: Services, caller: CurrentCaller, instance: InstanceId, body: schemas.ConfigToCheck
) -> dict[str, Sequence[Fault]]:
    """The faults for which updating the instance would be refused, per field. Stored secrets stand for those that the
    configuration leaves out; null takes one away. Saves nothing, and asks no platform."""
    return {"faults": await services.checks.faults(caller, body.draft(instance_id=instance))}


@router.post(
    BASE + "/{instanceId}/check-credentials",
    response_model=schemas.CredentialsAnswer,
    responses=errors(400, 403, 404, 409, 413, 429),
    summary="Check the credentials of an instance",
    description=(
        f"{CREDENTIALS} Stored secrets stand for those that `config` leaves out; null takes one away. Without"
        " `config` the stored configuration is tried: a webhook that the platform lost is registered again, and the"
        " result is noted in the health."
    ),
)
@before_body(require_ownership)
async def check_stored_credentials(
    services: Services, caller: CurrentCaller, instance: InstanceId, body: schemas.StoredCredentialsToCheck
) -> CredentialsCheck:
    return await services.checks.credentials(caller, ConfigDraft(config=body.config, instance_id=instance))
