"""GET /api/agent/channels: the definitions, and the connections that are up."""

import json
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BeforeValidator, Field

from adapters.inbound.rest.bodies import AT, Answer, Done, Timestamp, attribute
from adapters.inbound.rest.routing import Call, ChannelType, GatewayState, Services, errors
from domain.channels import model


def _config_definition(fields: Any) -> Any:
    if isinstance(fields, str):
        return fields
    names = ("name", "type", "description", "required")
    return json.dumps(
        [{name: getattr(field, name) for name in names} for field in fields], ensure_ascii=False
    )


class SetupInstructions(Answer):
    webhookRequired: bool = Field(examples=[False])
    webhookPath: str = Field(examples=["webhook"])
    title: str = Field(examples=["Set up a schedule"])
    steps: list[str] = Field(
        examples=[["Write the schedule as a cron expression.", "Write the message to send."]]
    )
    docsUrl: str = Field(examples=["https://en.wikipedia.org/wiki/Cron"])


class ChannelDefinition(Answer):
    id: str = Field(examples=["cron"])
    name: str = Field(examples=["Cron"])
    description: str = Field(examples=["Sends a message to the downstream resource on a schedule."])
    configDefinition: Annotated[str, BeforeValidator(_config_definition)] = attribute(
        "fields",
        description="JSON text of an array of fields, each with name, type, description, required.",
        examples=[
            '[{"name":"cronSchedule","type":"string","description":"Five fields, as 0 9 * * 1-5.","required":true}]'
        ],
    )
    type: str = Field(examples=["cron"])
    setupInstructions: SetupInstructions = attribute("setup")


class Socket(Answer):
    channelId: str = Field(examples=["linked-device-messaging"])
    channelName: str = Field(examples=["My phone"])
    status: str = Field(examples=["connected"])
    connectedSince: Timestamp


class ChannelStatus(Done):
    connectedChannels: dict[str, Socket] = Field(
        description="By instance id.",
        examples=[
            {
                "4": {
                    "channelId": "linked-device-messaging",
                    "channelName": "My phone",
                    "status": "connected",
                    "connectedSince": AT,
                }
            }
        ],
    )
    timestamp: Timestamp


router = APIRouter(prefix="/api/agent/channels", tags=["channel definitions"])


@router.get("", response_model=list[ChannelDefinition], responses=errors(), summary="All definitions")
async def list_definitions(services: Services) -> Sequence[model.ChannelDefinition]:
    """All channel types with their configuration fields and set-up steps."""
    return await services.catalogue.definitions()


@router.get("/status", response_model=ChannelStatus, responses=errors(), summary="Live connections")
async def status(gateway: GatewayState, call: Call) -> dict[str, object]:
    """The connections that are up, of the caller's instances; an admin sees all."""
    sockets = await call.services.catalogue.sockets(call.caller)
    connected = {str(socket.instance_id): socket for socket in sockets}
    return {"connectedChannels": connected, "timestamp": gateway.clock.now()}


@router.get("/{type}", response_model=ChannelDefinition, responses=errors(404), summary="One definition")
async def definition(services: Services, type: ChannelType) -> model.ChannelDefinition:
    """One channel type with its configuration fields and set-up steps."""
    return await services.catalogue.definition(type)
