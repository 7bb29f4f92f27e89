"""Instances, their health and their deliveries to protobuf and back. Configurations cross as JSON text."""

import json

from switchboard.channels.v1 import instances_pb2 as pb

from adapters.wire.conversion import Conversion
from adapters.wire.pages import fitting
from domain.instances.model import (
    Activity,
    ActivityHealth,
    Deliveries,
    Delivery,
    Health,
    Instance,
    InstanceChange,
    InstanceView,
    NewInstance,
    Page,
    Pairing,
    SaveResult,
    UnansweredMessage,
    UnansweredPage,
)

INSTANCE = Conversion(Instance, pb.Instance, downstream_resource_id="resource_id")
NEW = Conversion(NewInstance, pb.CreateInstanceRequest, downstream_resource_id="resource_id")
CHANGE = Conversion(InstanceChange, pb.UpdateInstanceRequest, downstream_resource_id="resource_id")
SAVED = Conversion(SaveResult, pb.SaveInstanceResponse)
PAIRING = Conversion(Pairing, pb.RequestPairingResponse, pairing_code="code")
HEALTH = Conversion(Health, pb.Health)
ACTIVITY = Conversion(ActivityHealth, pb.ActivityHealth)
DELIVERY = Conversion(Delivery, pb.Delivery)
UNANSWERED = Conversion(UnansweredMessage, pb.UnansweredMessage)


def view_to_pb(view: InstanceView) -> pb.Instance:
    config = json.dumps(view.instance.config)
    return INSTANCE.to_pb(
        view.instance,
        channel_type=view.channel_type,
        config_json=config,
        public_id=view.public_id,
        embed_tag=view.embed_tag,
    )


def view_from_pb(message: pb.Instance) -> InstanceView:
    instance = INSTANCE.from_pb(message, config=json.loads(message.config_json))
    public_id, embed_tag = message.public_id or None, message.embed_tag or None
    return InstanceView(instance, message.channel_type, public_id, embed_tag)


def health_to_pb(health: Health) -> pb.Health:
    activities = {name.value: ACTIVITY.to_pb(activity) for name, activity in health.activities.items()}
    return HEALTH.to_pb(health, **activities)


def health_from_pb(message: pb.Health) -> Health:
    activities = {activity: ACTIVITY.from_pb(getattr(message, activity.value)) for activity in Activity}
    return HEALTH.from_pb(message, activities=activities)


def deliveries_to_pb(deliveries: Deliveries) -> pb.ListDeliveriesResponse:
    page = deliveries.page
    return pb.ListDeliveriesResponse(
        deliveries=fitting(map(DELIVERY.to_pb, deliveries.items)),
        total=page.total,
        limit=page.limit,
        offset=page.offset,
    )


def deliveries_from_pb(message: pb.ListDeliveriesResponse) -> Deliveries:
    items = tuple(map(DELIVERY.from_pb, message.deliveries))
    return Deliveries(items, Page(message.limit, message.offset, message.total))


def unanswered_to_pb(messages: UnansweredPage) -> pb.ListUnansweredResponse:
    page = messages.page
    return pb.ListUnansweredResponse(
        messages=fitting(map(UNANSWERED.to_pb, messages.items)),
        total=page.total,
        limit=page.limit,
        offset=page.offset,
    )


def unanswered_from_pb(message: pb.ListUnansweredResponse) -> UnansweredPage:
    items = tuple(map(UNANSWERED.from_pb, message.messages))
    return UnansweredPage(items, Page(message.limit, message.offset, message.total))
