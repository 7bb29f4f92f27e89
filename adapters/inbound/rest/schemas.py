"""The bodies of the REST interface. They are the OpenAPI description as well."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictInt, StrictStr

from domain import limits


class Body(BaseModel):
    """A request body; fields that nobody knows are ignored."""

    model_config = ConfigDict(extra="ignore", populate_by_name=True)


def _text(value: Any) -> Any:
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise ValueError("must be text without lone surrogates") from error
        if "\0" in value:
            raise ValueError("must not contain a NUL character")
    return value


def whole(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("must be a whole number")
    return value


def _storable(value: Any) -> Any:
    try:
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise ValueError("must hold text without lone surrogates") from error
    except (ValueError, RecursionError) as error:
        raise ValueError("must be JSON without NaN or Infinity, and not nested too deeply") from error
    return value


Config = Annotated[dict[str, Any], BeforeValidator(_storable)]
"""Written as JSON it has at most `limits.JSON_BYTES`, which the domain checks."""
Text = Annotated[StrictStr, BeforeValidator(_text)]
"""A field that is one says its longest length, `max_length`, from `domain.limits`."""
Id = Annotated[int, BeforeValidator(whole), Field(ge=1, le=2**63 - 1)]


class ErrorBody(BaseModel):
    """Every error of the service."""

    error: str = Field(description="What is wrong, with which field, and how to mend it.")

    model_config = ConfigDict(json_schema_extra={"example": {"error": "config.smtpPort: must be a number"}})


class Empty(BaseModel):
    """An object with nothing in it."""


class Alive(BaseModel):
    status: Literal["ok"]


class Ready(BaseModel):
    status: Literal["ok"]
    checks: dict[str, Literal["ok", "degraded"]] = Field(description="What was looked at, and how it is.")
    reasons: dict[str, str] = Field(description="What is wrong with what is degraded.")


class NotReady(BaseModel):
    error: str
    status: Literal["not ready"]
    checks: dict[str, str] = Field(description="What was looked at, and what is wrong with it.")


class SetupInstructions(BaseModel):
    webhookRequired: bool
    webhookPath: str
    title: str
    steps: list[str]
    docsUrl: str


class ChannelDefinition(BaseModel):
    id: str
    name: str
    description: str
    configDefinition: str = Field(
        description="JSON text of an array of fields, each with name, type, description, required."
    )
    type: str
    setupInstructions: SetupInstructions


class Socket(BaseModel):
    channelId: str
    channelName: str
    status: str
    connectedSince: str


class ChannelStatus(BaseModel):
    success: bool
    connectedChannels: dict[str, Socket] = Field(description="By instance id.")
    timestamp: str


class ChannelInstance(BaseModel):
    id: int
    channelId: str
    channelName: str
    downStreamResourceId: str | None
    config: dict[str, Any]
    userId: str
    status: Literal["active"]
    channelType: str
    channelTypeName: str


class CreateInstance(Body):
    channelId: Text = Field(description="Channel definition id.", max_length=limits.CHANNEL_ID)
    channelName: Text = Field(description="Display name.", max_length=limits.CHANNEL_NAME)
    config: Config
    downStreamResourceId: Text | None = Field(None, max_length=limits.RESOURCE_ID)
    id: Id | None = Field(None, description="Names an instance of the caller: that one is updated.")


class UpdateInstance(Body):
    config: Config
    downStreamResourceId: Text | None = Field(None, max_length=limits.RESOURCE_ID)
    channelName: Text | None = Field(None, max_length=limits.CHANNEL_NAME)


class CreatedInstance(BaseModel):
    success: bool
    message: str
    instanceId: int
    microserviceConnected: bool = Field(description="Whether a worker is alive.")
    operation: Literal["created", "updated"]
    webhookRegistered: bool | None = Field(None, description="Present only for bot-messenger instances.")
    webhookError: str | None


class UpdatedInstance(BaseModel):
    success: bool
    message: str
    instanceId: int
    microserviceConnected: bool
    webhookRegistered: bool | None = Field(None, description="Present only for bot-messenger instances.")
    webhookError: str | None = None


class DeletedInstance(BaseModel):
    success: bool
    message: str
    instanceId: str


class PairingAnswer(BaseModel):
    success: bool
    pairingCode: str | None
    message: str


class ActivityHealth(BaseModel):
    healthy: bool = Field(description="False while the latest try failed and nothing made up for that.")
    lastSuccess: str | None
    lastError: str | None
    lastErrorAt: str | None


class InstanceHealth(BaseModel):
    instanceId: int
    healthy: bool
    warnings: list[str]
    lastSuccess: str | None
    lastError: str | None
    lastErrorAt: str | None
    nextRun: str | None
    queue: dict[str, int]
    pairingCode: str | None
    breaker: Literal["closed", "open", "half_open"]
    breakerUntil: str | None
    receiving: ActivityHealth = Field(description="Polls, schedules, connections, calls of the platform.")
    processing: ActivityHealth = Field(
        description="From a message to its answer: reading it, fetching its attachments, asking the resource."
    )
    sending: ActivityHealth = Field(description="Handing replies to the platform.")


class DeliveryRecord(BaseModel):
    id: int
    status: Literal["pending", "sent", "dead"]
    attempts: int
    lastError: str | None
    createdAt: str
    nextAttemptAt: str | None


class Pagination(BaseModel):
    currentPage: int
    totalPages: int
    totalCount: int
    limit: int
    offset: int


class DeliveryList(BaseModel):
    deliveries: list[DeliveryRecord]
    pagination: Pagination


class Accepted(BaseModel):
    success: bool
    message: str


class VerificationProviders(BaseModel):
    success: bool
    providers: dict[str, bool]


class VerifiedIdentity(BaseModel):
    field: str
    value: str


class VerifiedIdentities(BaseModel):
    success: bool
    identities: list[VerifiedIdentity]


class IdentityRemoved(BaseModel):
    success: bool
    message: str


class StartEmail(Body):
    email: Text = Field(max_length=limits.EMAIL)


class CodeSent(BaseModel):
    success: bool
    expiresInSeconds: int
    message: str


class VerifyEmail(Body):
    otp: Text = Field(description="The 6 digits that were sent.", max_length=limits.ONE_TIME_CODE)


class EmailVerified(BaseModel):
    success: bool
    message: str
    email: str


class BotLinkAnswer(BaseModel):
    success: bool
    deepLink: str
    expiresInSeconds: int
    message: str


class BotCallback(Body):
    token: Text = Field(max_length=limits.LINK_TOKEN)
    bot_messenger_id: Annotated[Text, Field(max_length=limits.MESSENGER_ID)] | StrictInt
    phone: Annotated[Text, Field(max_length=limits.PHONE)] | StrictInt


class BotVerified(BaseModel):
    success: bool
    message: str
    userId: str


class AuthUrl(BaseModel):
    success: bool
    authUrl: str
