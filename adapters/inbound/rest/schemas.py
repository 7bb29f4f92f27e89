"""The bodies of the channel, operation and verification routes."""

import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool, StrictInt

from adapters.inbound.rest.bodies import (
    Answer,
    Body,
    Config,
    Done,
    Id,
    OptionalTimestamp,
    Text,
    Timestamp,
    attribute,
    is_none,
)
from domain import limits


class ErrorBody(BaseModel):
    """Every error of the service."""

    error: str = Field(description="What is wrong, with which field, and how to mend it.")

    model_config = ConfigDict(json_schema_extra={"example": {"error": "config.smtpPort: must be a number"}})


class Empty(Answer):
    """An object with nothing in it."""


class Alive(Answer):
    status: Literal["ok"]


class Ready(Answer):
    status: Literal["ok"]
    checks: dict[str, Literal["ok", "degraded"]] = Field(description="What was looked at, and how it is.")
    reasons: dict[str, str] = Field(description="What is wrong with what is degraded.")


class NotReady(Answer):
    error: str
    status: Literal["not ready"]
    checks: dict[str, str] = Field(description="What was looked at, and what is wrong with it.")


def _config_definition(fields: Any) -> Any:
    if isinstance(fields, str):
        return fields
    names = ("name", "type", "description", "required")
    return json.dumps(
        [{name: getattr(field, name) for name in names} for field in fields], ensure_ascii=False
    )


class SetupInstructions(Answer):
    webhookRequired: bool
    webhookPath: str
    title: str
    steps: list[str]
    docsUrl: str


class ChannelDefinition(Answer):
    id: str
    name: str
    description: str
    configDefinition: Annotated[str, BeforeValidator(_config_definition)] = attribute(
        "fields", description="JSON text of an array of fields, each with name, type, description, required."
    )
    type: str
    setupInstructions: SetupInstructions = attribute("setup")


class Socket(Answer):
    channelId: str
    channelName: str
    status: str
    connectedSince: Timestamp


class ChannelStatus(Done):
    connectedChannels: dict[str, Socket] = Field(description="By instance id.")
    timestamp: Timestamp


class ChannelInstance(Answer):
    id: int = attribute("instance.id")
    channelId: str = attribute("instance.channel_id")
    channelName: str = attribute("instance.channel_name")
    downStreamResourceId: str | None = attribute("instance.resource_id")
    config: dict[str, Any] = attribute("instance.config")
    userId: str = attribute("instance.user_id")
    status: Literal["active"] = attribute("instance.status")
    channelType: str
    channelTypeName: str = attribute("instance.channel_id")
    trusted: bool = attribute(
        "instance.trusted", description="An admin takes the owner's word for who the senders are."
    )
    publicId: str | None = Field(
        None, description="Present only for web-chat: by it web pages name the instance.", exclude_if=is_none
    )
    embedTag: str | None = Field(
        None, description="Present only for web-chat: the tag for web pages.", exclude_if=is_none
    )


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


class InstanceTrust(Body):
    trusted: StrictBool = Field(description="Whether the owner's word counts for who the senders are.")


class UpdatedInstance(Done):
    message: str
    instanceId: int
    microserviceConnected: bool = attribute("worker_alive", description="Whether a worker is alive.")
    webhookRegistered: bool | None = Field(
        None,
        description="Present only for bot-messenger instances. False with webhookError null: updates are fetched.",
        exclude_if=is_none,
    )
    webhookError: str | None


class CreatedInstance(UpdatedInstance):
    operation: Literal["created", "updated"]


class DeletedInstance(Done):
    message: str
    instanceId: str


class PairingAnswer(Answer):
    success: bool
    pairingCode: str | None = attribute("code")
    message: str


class ActivityHealth(Answer):
    healthy: bool = Field(description="False while the latest try failed and nothing made up for that.")
    lastSuccess: OptionalTimestamp
    lastError: str | None
    lastErrorAt: OptionalTimestamp


class InstanceHealth(Answer):
    instanceId: int
    healthy: bool
    warnings: list[str]
    notes: list[str] = Field(description="What is worth knowing and needs no action.")
    lastSuccess: OptionalTimestamp
    lastError: str | None
    lastErrorAt: OptionalTimestamp
    nextRun: OptionalTimestamp
    queue: dict[str, int]
    pairingCode: str | None
    breaker: Literal["closed", "open", "half_open"]
    breakerUntil: OptionalTimestamp
    receiving: ActivityHealth = Field(description="Polls, schedules, connections, calls of the platform.")
    processing: ActivityHealth = Field(
        description="From a message to its answer: reading it, fetching its attachments, asking the resource.",
    )
    sending: ActivityHealth = Field(description="Handing replies to the platform.")
    unanswered: dict[str, int] = Field(description="Messages that are not answered, by the reason.")


class DeliveryRecord(Answer):
    id: int
    status: Literal["pending", "sent", "dead"]
    attempts: int
    lastError: str | None
    createdAt: Timestamp
    nextAttemptAt: OptionalTimestamp


class Pagination(Answer):
    currentPage: int = attribute("current")
    totalPages: int = attribute("pages")
    totalCount: int = attribute("total")
    limit: int
    offset: int


class DeliveryList(Answer):
    deliveries: list[DeliveryRecord] = attribute("items")
    pagination: Pagination = attribute("window")


class UnansweredRecord(Answer):
    id: int
    reason: str = Field(description="One word, such as list or auto-submitted.")
    sender: str
    senderName: str = attribute("sender_name")
    subject: str
    text: str = Field(description="Its beginning.")
    receivedAt: Timestamp


class UnansweredList(Answer):
    unanswered: list[UnansweredRecord] = attribute("items")
    pagination: Pagination = attribute("window")


class Accepted(Done):
    message: str


class VerificationProviders(Done):
    providers: dict[str, bool]


class VerifiedIdentity(Answer):
    field: str
    value: str


class VerifiedIdentities(Done):
    identities: list[VerifiedIdentity]


class IdentityRemoved(Done):
    message: str


class StartEmail(Body):
    email: Text = Field(max_length=limits.EMAIL)


class CodeSent(Done):
    expiresInSeconds: int
    message: str


class VerifyEmail(Body):
    otp: Text = Field(description="The 6 digits that were sent.", max_length=limits.ONE_TIME_CODE)


class EmailVerified(Done):
    message: str
    email: str


class BotLinkAnswer(Done):
    deepLink: str = attribute("address")
    expiresInSeconds: int
    message: str


class BotCallback(Body):
    token: Text = Field(max_length=limits.LINK_TOKEN)
    bot_messenger_id: Annotated[Text, Field(max_length=limits.MESSENGER_ID)] | StrictInt
    phone: Annotated[Text, Field(max_length=limits.PHONE)] | StrictInt


class BotVerified(Done):
    message: str
    userId: str


class AuthUrl(Done):
    authUrl: str
