"""Channel instances over REST, with the two legacy aliases."""

import operator
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response
from pydantic import BeforeValidator, Field, StrictBool

from adapters.inbound.rest.approvals import ApprovalRule, rules_of
from adapters.inbound.rest.bodies import (
    AT,
    Accepted,
    Answer,
    Body,
    Config,
    Done,
    GranteeAnswer,
    GranteeBody,
    Id,
    Number,
    OptionalTimestamp,
    Pagination,
    StrictBody,
    Text,
    Timestamp,
    WholeNumber,
    attribute,
    is_none,
    text_of,
)
from adapters.inbound.rest.routing import (
    Call,
    DeliveryStatus,
    InstanceId,
    JsonRoute,
    ManagerRoute,
    RequestedPage,
    errors,
    id_in_path,
)
from domain import limits
from domain.access.sharing import Permission
from domain.instances import model
from domain.paging import LARGEST_LIMIT, Slice
from domain.routing import routes


def _is_empty(value: object) -> bool:
    return value is None or value == []


class RouteHours(Answer):
    days: list[str] = Field(examples=[["mon", "fri"]], exclude_if=_is_empty)
    start: str = Field(serialization_alias="from", examples=["09:00"])
    end: str = Field(serialization_alias="to", examples=["17:00"])
    timeZone: str = Field(examples=["Europe/Berlin"])


class RouteCondition(Answer):
    language: list[str] = Field(examples=[["de"]], exclude_if=_is_empty)
    matches: list[str] = Field(examples=[["refund*"]], exclude_if=_is_empty)
    hours: RouteHours | None = Field(exclude_if=is_none)
    verified: bool | None = Field(exclude_if=is_none)
    group: bool | list[str] | None = Field(exclude_if=is_none)
    label: list[str] = Field(examples=[["billing"]], exclude_if=_is_empty)
    share: float | None = Field(examples=[0.1], exclude_if=is_none)


class Route(Answer):
    when: RouteCondition
    to: str = Field(examples=["agent::german"])


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


Texts = Annotated[list[Text], BeforeValidator(_listed, json_schema_input_type=str | list[str])]
"""One text may stand for a list of one."""


def _group(value: Any) -> Any:
    """The value as a bool, or as texts. A fault of a union would name types instead of what is accepted."""
    if value is None or isinstance(value, bool):
        return value
    names = _listed(value)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError("must be true, false, or ids or names of groups")
    return [text_of(name) for name in names]


class RouteHoursToSave(StrictBody):
    days: Texts = Field([], description="mon to sun; none: all.", examples=[["mon", "fri"]])
    start: Text = Field(alias="from", examples=["09:00"])
    end: Text = Field(
        alias="to", description="Before from: on the next day. 24:00: the end of a day.", examples=["17:00"]
    )
    timeZone: Text = Field("UTC", description="Its IANA name.", examples=["Europe/Berlin"])

    def value(self) -> routes.Hours:
        return routes.Hours(self.start, self.end, tuple(self.days), self.timeZone)


class RouteConditionToSave(StrictBody):
    """All that is given must hold; of a list one entry is enough."""

    language: Texts = Field([], description="What the sender's language begins with.", examples=[["de"]])
    matches: Texts = Field(
        [], description="Words in the text; * stands for any letters of a word.", examples=[["refund*"]]
    )
    hours: RouteHoursToSave | None = None
    verified: StrictBool | None = Field(None, description="Whether the sender is known as a platform user.")
    group: Annotated[
        bool | list[str] | None, BeforeValidator(_group, json_schema_input_type=StrictBool | Texts | None)
    ] = Field(
        None, description="Whether it was written in a group, or ids or names of groups.", examples=[True]
    )
    label: Texts = Field([], description="Labels of the conversation.", examples=[["billing"]])
    share: Number | None = Field(None, description="Part of the conversations, from 0 to 1.", examples=[0.1])

    def value(self) -> routes.Condition:
        hours, group = self.hours, self.group
        return routes.Condition(
            tuple(self.language),
            tuple(self.matches),
            hours.value() if hours else None,
            self.verified,
            group if isinstance(group, bool) else None,
            tuple(group) if isinstance(group, list) else (),
            tuple(self.label),
            self.share,
        )


class RouteToSave(StrictBody):
    when: RouteConditionToSave
    to: Text = Field(max_length=limits.RESOURCE_ID, examples=["agent::german"])


class RoutingToSave(Body):
    """What create and update have in common."""

    routes: list[RouteToSave] | None = Field(
        None,
        description="At most 20: messages for which `when` holds go to the resource `to`; the first that fits.",
    )
    fallback: list[Text] | None = Field(
        None,
        description="At most 5 resource ids, asked in turn where a resource fails.",
        examples=[["agent::spare"]],
    )

    feedback: StrictBool | None = Field(None, description="Ask people whether an answer helped.")
    approvalPolicy: list[ApprovalRule] | None = Field(
        None,
        description="At most 50 rules: who decides before a tool is used; of each tool the first that fits.",
        examples=[[{"tool": "refund*", "by": "team:3", "minutes": 60}]],
    )

    def routing(self) -> dict[str, Any]:
        """The same arguments of `NewInstance` and `InstanceChange`."""
        return {
            "routes": None
            if self.routes is None
            else tuple(routes.Route(route.when.value(), route.to) for route in self.routes),
            "fallback": None if self.fallback is None else tuple(self.fallback),
            "feedback": self.feedback,
            "approval_policy": rules_of(self.approvalPolicy),
        }


class ChannelInstance(Answer):
    id: int = attribute("instance.id")
    channelId: str = attribute("instance.channel_id", examples=["http-webhook"])
    channelName: str = attribute("instance.channel_name", examples=["Support"])
    downStreamResourceId: str | None = attribute("instance.resource_id", examples=["agent::echo"])
    config: dict[str, Any] = attribute(
        "instance.config", examples=[{"webhookSecret": "s3cret", "syncResponse": True}]
    )
    userId: str = attribute("instance.user_id", examples=["ann"])
    status: Literal["active"] = attribute("instance.status")
    channelType: str = Field(examples=["HTTP webhook"])
    channelTypeName: str = attribute("instance.channel_id", examples=["http-webhook"])
    trusted: bool = attribute(
        "instance.trusted", description="An admin takes the owner's word for who the senders are."
    )
    permissionLevel: int | None = Field(
        None,
        description="Present only with `scope`: 1 VIEW, 2 ANSWER, 3 MANAGE. Below 3 secrets are masked.",
        examples=[3],
        exclude_if=is_none,
    )
    publicId: str | None = Field(
        None, description="Present only for web-chat: by it web pages name the instance.", exclude_if=is_none
    )
    embedTag: str | None = Field(
        None, description="Present only for web-chat: the tag for web pages.", exclude_if=is_none
    )
    routes: list[Route] = attribute(
        "instance.routes", description="Present only where there are some.", exclude_if=_is_empty
    )
    fallback: list[str] = attribute(
        "instance.fallback",
        description="Present only where it is set.",
        examples=[["agent::spare"]],
        exclude_if=_is_empty,
    )
    feedback: bool = attribute(
        "instance.feedback",
        description="Present only where it is true: people are asked whether an answer helped.",
        exclude_if=operator.not_,
    )
    approvalPolicy: list[ApprovalRule] = attribute(
        "instance.approval_policy",
        description="Present only where it is set: who decides before a tool is used.",
        examples=[[{"tool": "refund*", "by": "team:3", "minutes": 60}]],
        exclude_if=_is_empty,
    )


class CreateInstance(RoutingToSave):
    channelId: Text = Field(
        description="Channel definition id.", max_length=limits.CHANNEL_ID, examples=["http-webhook"]
    )
    channelName: Text = Field(
        description="Display name.", max_length=limits.CHANNEL_NAME, examples=["Support"]
    )
    config: Config = Field(examples=[{"webhookSecret": "s3cret", "syncResponse": True}])
    downStreamResourceId: Text | None = Field(None, max_length=limits.RESOURCE_ID, examples=["agent::echo"])
    id: Id | None = Field(None, description="Names an instance of the caller: that one is updated.")


class UpdateInstance(RoutingToSave):
    config: Config = Field(examples=[{"webhookSecret": "s3cret", "syncResponse": True}])
    downStreamResourceId: Text | None = Field(None, max_length=limits.RESOURCE_ID)
    channelName: Text | None = Field(None, max_length=limits.CHANNEL_NAME, examples=["Support"])


class InstanceTrust(Body):
    trusted: StrictBool = Field(description="Whether the owner's word counts for who the senders are.")


class UpdatedInstance(Done):
    message: str = Field(examples=["The instance was updated."])
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
    message: str = Field(examples=["The instance was deleted."])
    instanceId: str = Field(examples=["1"])


class PairingAnswer(Answer):
    success: bool
    pairingCode: str | None = attribute("code", examples=["ABCD-1234"])
    message: str = Field(
        examples=["On the phone open WhatsApp > Settings > Linked devices, and enter the code."]
    )


class ActivityHealth(Answer):
    healthy: bool = Field(description="False while the latest try failed and nothing made up for that.")
    lastSuccess: OptionalTimestamp = Field(examples=[AT])
    lastError: str | None
    lastErrorAt: OptionalTimestamp


class InstanceHealth(Answer):
    instanceId: int
    healthy: bool
    warnings: list[str] = Field(examples=[[]])
    notes: list[str] = Field(description="What is worth knowing and needs no action.", examples=[[]])
    lastSuccess: OptionalTimestamp = Field(examples=[AT])
    lastError: str | None
    lastErrorAt: OptionalTimestamp
    nextRun: OptionalTimestamp
    queue: dict[str, int] = Field(examples=[{"waiting": 0, "pending": 0, "dead": 0}])
    pairingCode: str | None
    breaker: Literal["closed", "open", "half_open"]
    breakerUntil: OptionalTimestamp
    receiving: ActivityHealth = Field(description="Polls, schedules, connections, calls of the platform.")
    processing: ActivityHealth = Field(
        description="From a message to its answer: reading it, fetching its attachments, asking the resource."
    )
    sending: ActivityHealth = Field(description="Handing replies to the platform.")
    unanswered: dict[str, int] = Field(
        description="Messages that are not answered, by the reason.", examples=[{"list": 2}]
    )


class DeliveryRecord(Answer):
    id: int = Field(examples=[7])
    status: Literal["pending", "sent", "dead"] = Field(examples=["dead"])
    attempts: int = Field(examples=[8])
    lastError: str | None = Field(examples=["HTTP 503"])
    createdAt: Timestamp
    nextAttemptAt: OptionalTimestamp


class DeliveryList(Answer):
    deliveries: list[DeliveryRecord] = attribute("items")
    pagination: Pagination = attribute("window")


class UnansweredRecord(Answer):
    id: int = Field(examples=[12])
    reason: str = Field(description="One word, such as list or auto-submitted.", examples=["list"])
    sender: str = Field(examples=["news@shop.example"])
    senderName: str = attribute("sender_name", examples=["Shop"])
    subject: str = Field(examples=["News of the week"])
    text: str = Field(description="Its beginning.", examples=["Three new kettles."])
    receivedAt: Timestamp


class UnansweredList(Answer):
    unanswered: list[UnansweredRecord] = attribute("items")
    pagination: Pagination = attribute("window")


BASE = "/api/agent/channel-instances"
CREATED = {
    **errors(400, 403, 409, 413),
    200: {"model": CreatedInstance, "description": "The instance named by id was updated."},
}
CREATE = (
    "Checks the configuration against the channel's definition and stores it encrypted. Names of instances are unique"
    " for each user and channel (409). With `id` an instance of the caller is updated (200). A platform that refuses"
    " the webhook or the credentials fails nothing: its words are in `webhookError`."
)
DELETE = (
    "Deletes the instance, its waiting messages and its replies on their way, and takes back the webhook that was"
    " registered for it. Only the owner may."
)
router = APIRouter(route_class=JsonRoute, tags=["channel instances"])
owned = APIRouter(route_class=ManagerRoute)

DeliveryId = Annotated[int, id_in_path("deliveryId", "Id of a delivery.", 7)]
UnansweredId = Annotated[int, id_in_path("unansweredId", "Id of a message that is not answered.", 12)]


class InstancePermissionBody(GranteeBody):
    level: WholeNumber = Field(description="0 revokes, 1 VIEW, 2 ANSWER, 3 MANAGE.", examples=[2])


class InstancePermission(GranteeAnswer):
    level: int = Field(examples=[2])


class InstancePermissions(Answer):
    permissions: list[InstancePermission]


Sharing = Annotated[
    Literal["own", "shared", "all"],
    BeforeValidator(lambda text: text or "own"),
    Query(
        description="`shared`: those of others that are shared with the caller; `all`: both, for an admin those of"
        " everybody.",
        examples=["own"],
    ),
]


@router.get(
    BASE,
    response_model=list[ChannelInstance],
    responses=errors(400),
    summary="The caller's instances",
)
async def list_instances(call: Call, scope: Sharing = "own") -> list[ChannelInstance]:
    """The active instances of the caller, ordered by id. With `scope=shared` or `scope=all` each has
    `permissionLevel`."""
    if scope == "own":
        return [*map(ChannelInstance.model_validate, await call.services.instances.list(call.caller))]
    views: list[ChannelInstance] = []
    cursor: int | None = 0
    while cursor is not None:
        page = await call.services.instances.visible(call.caller, LARGEST_LIMIT, cursor, own=scope == "all")
        views += [
            ChannelInstance.model_validate(view).model_copy(update={"permissionLevel": int(view.level)})
            for view in page.items
        ]
        cursor = page.next
    return views


@router.get(
    BASE + "/{instanceId}", response_model=ChannelInstance, responses=errors(403, 404), summary="One instance"
)
async def get_instance(call: Call, instance: InstanceId) -> model.InstanceView:
    """One instance with its configuration as it was stored."""
    return await call.services.instances.get(call.caller, instance)


@router.post(
    BASE,
    status_code=201,
    response_model=CreatedInstance,
    responses=CREATED,
    summary="Create an instance, or update the one named by id",
    description=CREATE,
)
@router.post(
    "/api/agent/channels",
    status_code=201,
    response_model=CreatedInstance,
    responses=CREATED,
    summary="Create an instance (legacy alias)",
    description=f"{CREATE} The older path of POST {BASE}.",
)
async def create_instance(call: Call, body: CreateInstance, response: Response) -> model.SaveResult:
    new = model.NewInstance(
        body.channelId, body.channelName, body.config, body.downStreamResourceId, body.id, **body.routing()
    )
    result = await call.services.instances.create(call.caller, new)
    response.status_code = 201 if result.created else 200
    return result


@owned.put(
    BASE + "/{instanceId}",
    response_model=UpdatedInstance,
    responses=errors(400, 403, 404, 409, 413),
    summary="Update an instance",
)
async def update_instance(call: Call, instance: InstanceId, body: UpdateInstance) -> model.SaveResult:
    """Replaces the configuration, and the name, resource, routes and fallback where they are given. Only the owner
    may."""
    change = model.InstanceChange(body.config, body.downStreamResourceId, body.channelName, **body.routing())
    return await call.services.instances.update(call.caller, instance, change)


@router.put(
    BASE + "/{instanceId}/trusted",
    response_model=ChannelInstance,
    responses=errors(400, 403, 404, 413),
    summary="Trust an instance, or trust it no longer",
)
async def set_trusted(call: Call, instance: InstanceId, body: InstanceTrust) -> model.InstanceView:
    """Senders who are proved by a secret or server of the instance's owner count as other users only where an admin
    has marked the instance as trusted. Admins alone may."""
    return await call.services.instances.set_trusted(call.caller, instance, trusted=body.trusted)


@router.delete(
    BASE + "/{instanceId}",
    response_model=DeletedInstance,
    responses=errors(403, 404),
    summary="Delete an instance",
    description=DELETE,
)
@router.delete(
    "/api/agent/channels/instance/{instanceId}",
    response_model=DeletedInstance,
    responses=errors(403, 404),
    summary="Delete an instance (legacy alias)",
    description=f"{DELETE} The older path of DELETE {BASE}/{{instanceId}}.",
)
async def delete_instance(call: Call, instance: InstanceId) -> DeletedInstance:
    await call.services.instances.delete(call.caller, instance)
    return DeletedInstance(message="Instance deleted", instanceId=str(instance))


@router.post(
    BASE + "/{instanceId}/request-pairing",
    response_model=PairingAnswer,
    responses=errors(400, 403, 404, 429),
    summary="Force a new pairing code",
)
async def request_pairing(call: Call, instance: InstanceId) -> model.Pairing:
    """Asks for a new pairing code of a linked device; waits for up to 20 seconds. A failure is an answer with
    `success` false. 400 for other channels."""
    return await call.services.instances.request_pairing(call.caller, instance)


@router.get(
    BASE + "/{instanceId}/health",
    response_model=InstanceHealth,
    responses=errors(403, 404),
    summary="What works and what does not",
)
async def health(call: Call, instance: InstanceId) -> model.Health:
    """What worked last, what failed last, what waits, and what to mend."""
    return await call.services.operations.health(call.caller, instance)


@router.get(
    BASE + "/{instanceId}/deliveries",
    response_model=DeliveryList,
    responses=errors(400, 403, 404),
    summary="Reply parts on their way, sent, or given up",
)
async def deliveries(
    call: Call, instance: InstanceId, page: RequestedPage, status: DeliveryStatus = None
) -> Slice[model.Delivery]:
    """The parts of replies, ordered by id: on their way, sent, or given up."""
    return await call.services.operations.deliveries(call.caller, instance, status, page.limit, page.offset)


@router.post(
    BASE + "/{instanceId}/deliveries/{deliveryId}/replay",
    status_code=202,
    response_model=Accepted,
    responses=errors(403, 404, 409),
    summary="Send a delivery again",
)
async def replay(call: Call, instance: InstanceId, delivery: DeliveryId) -> Accepted:
    """Sends a part again that was given up. 409 for one that was sent or is on its way."""
    await call.services.operations.replay(call.caller, instance, delivery)
    return Accepted(message="The delivery is sent again")


@router.delete(
    BASE + "/{instanceId}/deliveries/{deliveryId}",
    status_code=204,
    responses=errors(403, 404),
    summary="Drop a delivery",
)
async def drop(call: Call, instance: InstanceId, delivery: DeliveryId) -> None:
    """Removes a part from the outbox."""
    await call.services.operations.drop(call.caller, instance, delivery)


@router.get(
    BASE + "/{instanceId}/unanswered",
    response_model=UnansweredList,
    responses=errors(400, 403, 404),
    summary="Messages that are not answered",
)
async def unanswered(call: Call, instance: InstanceId, page: RequestedPage) -> Slice[model.UnansweredMessage]:
    """Messages that are not answered, such as mails of lists and machines, with the reason; the newest first."""
    return await call.services.operations.unanswered(call.caller, instance, page.limit, page.offset)


@router.post(
    BASE + "/{instanceId}/unanswered/{unansweredId}/release",
    status_code=202,
    response_model=Accepted,
    responses=errors(403, 404),
    summary="Answer a message that was not answered",
)
async def release(call: Call, instance: InstanceId, message: UnansweredId) -> Accepted:
    """Hands a message to the resource as if it had just come, and takes it off the list."""
    await call.services.operations.release(call.caller, instance, message)
    return Accepted(message="The message is answered")


router.include_router(owned)


@router.get(
    BASE + "/{instanceId}/permissions",
    response_model=InstancePermissions,
    responses=errors(403, 404),
    summary="With whom an instance is shared; needs MANAGE",
)
async def list_permissions(call: Call, instance: InstanceId) -> dict[str, Sequence[Permission]]:
    """Users and teams, and their levels. The owner is not among them."""
    return {"permissions": await call.services.instances.permissions(call.caller, instance)}


@owned.put(
    BASE + "/{instanceId}/permissions",
    status_code=204,
    responses=errors(400, 403, 404),
    summary="Share an instance, or stop sharing it; needs MANAGE",
)
async def set_permission(call: Call, instance: InstanceId, body: InstancePermissionBody) -> None:
    """Gives a user or a team a level, or takes it away with 0. 1 VIEW: conversations, health, deliveries. 2 ANSWER:
    take over, answer, send first, replay. 3 MANAGE: change, delete, share."""
    await call.services.instances.set_permission(call.caller, instance, body.grantee(), body.level)
