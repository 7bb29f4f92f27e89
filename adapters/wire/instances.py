"""Instances, their health and their deliveries to protobuf and back. Configurations cross as JSON text."""

from __future__ import annotations

import json
from datetime import datetime

from switchboard.channels.v1 import instances_pb2 as pb

from adapters.wire.json_text import json_object, json_text
from adapters.wire.pages import fitting
from adapters.wire.timestamps import from_us, to_us
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
)


def _us(moment: datetime | None) -> int | None:
    return None if moment is None else to_us(moment)


def view_to_pb(view: InstanceView) -> pb.Instance:
    value = view.instance
    return pb.Instance(
        id=value.id,
        channel_id=value.channel_id,
        channel_name=value.channel_name,
        downstream_resource_id=value.resource_id,
        config_json=json.dumps(value.config),
        user_id=value.user_id,
        status=value.status,
        channel_type=view.channel_type,
        created_at_us=to_us(value.created_at),
        updated_at_us=to_us(value.updated_at),
    )


def view_from_pb(message: pb.Instance) -> InstanceView:
    instance = Instance(
        id=message.id,
        user_id=message.user_id,
        channel_id=message.channel_id,
        channel_name=message.channel_name,
        config=json.loads(message.config_json),
        resource_id=message.downstream_resource_id if message.HasField("downstream_resource_id") else None,
        created_at=from_us(message.created_at_us),
        updated_at=from_us(message.updated_at_us),
        status=message.status,
    )
    return InstanceView(instance, message.channel_type)


def new_to_pb(new: NewInstance) -> pb.CreateInstanceRequest:
    return pb.CreateInstanceRequest(
        channel_id=new.channel_id,
        channel_name=new.channel_name,
        config_json=json_text(new.config),
        downstream_resource_id=new.resource_id,
        id=new.id,
    )


def new_from_pb(message: pb.CreateInstanceRequest) -> NewInstance:
    return NewInstance(
        message.channel_id,
        message.channel_name,
        json_object(message.config_json, "config_json"),
        message.downstream_resource_id if message.HasField("downstream_resource_id") else None,
        message.id if message.HasField("id") else None,
    )


def change_to_pb(instance_id: int, change: InstanceChange) -> pb.UpdateInstanceRequest:
    return pb.UpdateInstanceRequest(
        instance_id=instance_id,
        config_json=json_text(change.config),
        downstream_resource_id=change.resource_id,
        channel_name=change.channel_name,
    )


def change_from_pb(message: pb.UpdateInstanceRequest) -> InstanceChange:
    return InstanceChange(
        json_object(message.config_json, "config_json"),
        message.downstream_resource_id if message.HasField("downstream_resource_id") else None,
        message.channel_name if message.HasField("channel_name") else None,
    )


def saved_to_pb(result: SaveResult) -> pb.SaveInstanceResponse:
    return pb.SaveInstanceResponse(
        instance_id=result.instance_id,
        operation=result.operation,
        message=result.message,
        worker_alive=result.worker_alive,
        webhook_registered=result.webhook_registered,
        webhook_error=result.webhook_error,
    )


def saved_from_pb(message: pb.SaveInstanceResponse) -> SaveResult:
    return SaveResult(
        message.instance_id,
        message.operation,
        message.message,
        message.worker_alive,
        message.webhook_registered if message.HasField("webhook_registered") else None,
        message.webhook_error if message.HasField("webhook_error") else None,
    )


def pairing_to_pb(pairing: Pairing) -> pb.RequestPairingResponse:
    return pb.RequestPairingResponse(
        success=pairing.success, pairing_code=pairing.code, message=pairing.message
    )


def pairing_from_pb(message: pb.RequestPairingResponse) -> Pairing:
    code = message.pairing_code if message.HasField("pairing_code") else None
    return Pairing(message.success, code, message.message)


def health_to_pb(health: Health) -> pb.Health:
    return pb.Health(
        instance_id=health.instance_id,
        healthy=health.healthy,
        warnings=health.warnings,
        last_success_us=_us(health.last_success),
        last_error=health.last_error,
        last_error_at_us=_us(health.last_error_at),
        next_run_us=_us(health.next_run),
        queue=health.queue,
        pairing_code=health.pairing_code,
        breaker=health.breaker,
        breaker_until_us=_us(health.breaker_until),
        **{name.value: _activity_to_pb(activity) for name, activity in health.activities.items()},
    )


def _activity_to_pb(activity: ActivityHealth) -> pb.ActivityHealth:
    return pb.ActivityHealth(
        healthy=activity.healthy,
        last_success_us=_us(activity.last_success),
        last_error=activity.last_error,
        last_error_at_us=_us(activity.last_error_at),
    )


def _activity_from_pb(message: pb.ActivityHealth) -> ActivityHealth:
    return ActivityHealth(
        from_us(message.last_success_us) if message.HasField("last_success_us") else None,
        message.last_error if message.HasField("last_error") else None,
        from_us(message.last_error_at_us) if message.HasField("last_error_at_us") else None,
        message.healthy,
    )


def health_from_pb(message: pb.Health) -> Health:
    return Health(
        instance_id=message.instance_id,
        healthy=message.healthy,
        warnings=tuple(message.warnings),
        last_success=from_us(message.last_success_us) if message.HasField("last_success_us") else None,
        last_error=message.last_error if message.HasField("last_error") else None,
        last_error_at=from_us(message.last_error_at_us) if message.HasField("last_error_at_us") else None,
        next_run=from_us(message.next_run_us) if message.HasField("next_run_us") else None,
        queue=dict(message.queue),
        pairing_code=message.pairing_code if message.HasField("pairing_code") else None,
        breaker=message.breaker,
        breaker_until=from_us(message.breaker_until_us) if message.HasField("breaker_until_us") else None,
        activities={
            Activity.RECEIVING: _activity_from_pb(message.receiving),
            Activity.PROCESSING: _activity_from_pb(message.processing),
            Activity.SENDING: _activity_from_pb(message.sending),
        },
    )


def deliveries_to_pb(found: Deliveries) -> pb.ListDeliveriesResponse:
    return pb.ListDeliveriesResponse(
        deliveries=fitting(
            pb.Delivery(
                id=each.id,
                status=each.status,
                attempts=each.attempts,
                last_error=each.last_error,
                created_at_us=to_us(each.created_at),
                next_attempt_at_us=_us(each.next_attempt_at),
            )
            for each in found.items
        ),
        total=found.page.total,
        limit=found.page.limit,
        offset=found.page.offset,
    )


def deliveries_from_pb(message: pb.ListDeliveriesResponse) -> Deliveries:
    items = tuple(
        Delivery(
            each.id,
            each.status,
            each.attempts,
            each.last_error if each.HasField("last_error") else None,
            from_us(each.created_at_us),
            from_us(each.next_attempt_at_us) if each.HasField("next_attempt_at_us") else None,
        )
        for each in message.deliveries
    )
    return Deliveries(items, Page(message.limit, message.offset, message.total))
