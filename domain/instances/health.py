"""The health of an instance, from its records."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from domain.channels.model import Proof, missing_proof
from domain.instances.model import UNREADABLE, Activity, ActivityHealth, Health, Instance
from domain.instances.validation import advice
from domain.routing.model import STOPPED
from ports.channels import AnyChannel
from ports.instances import HealthRecord

UNDECRYPTED = (
    "the configuration cannot be decrypted: add the key that it was encrypted with to CONFIG_ENCRYPTION_KEY,"
    " or save the instance again"
)


TRUSTED = "an admin has marked the instance as trusted: its senders are recognised as the users that they verified as"
UNTRUSTED = (
    "senders are recognised only as the owner of the instance: they are proved by a secret or server of the owner. To"
    " have other users recognised, ask an admin to mark the instance as trusted"
)

IDLE_SECONDS = 60.0
"""A running worker leases a conversation within a second or two."""
WAITING_SECONDS = 300.0
"""Longer than a resource takes for one message."""


def health_of(
    instance: Instance, channel: AnyChannel, record: HealthRecord, queue: Mapping[str, int]
) -> Health:
    """An instance is healthy without warnings, if the latest try of each activity worked."""
    activities: dict[Activity, ActivityHealth] = {}
    for activity in Activity:
        # A failure before the instance was saved does not count, nor one of replies once all of them were dropped.
        recorded = record.activities.get(activity, ActivityHealth())
        since = max(recorded.last_success or instance.updated_at, instance.updated_at)
        failing = recorded.last_error_at is not None and recorded.last_error_at > since
        if activity is Activity.SENDING and not queue["pending"] and not queue["dead"]:
            failing = False
        activities[activity] = replace(recorded, healthy=not failing)
    warnings = _warnings(instance, channel, record, activities)
    summary = _summary(activities)
    notes = connection_note(instance, channel, record), identity_note(instance, channel, record), record.note
    return Health(
        instance_id=instance.id,
        healthy=not warnings and all(recorded.healthy for recorded in activities.values()),
        warnings=tuple(warnings),
        notes=tuple(filter(None, notes)),
        last_success=summary.last_success,
        last_error=summary.last_error,
        last_error_at=summary.last_error_at,
        next_run=record.next_run,
        queue=queue,
        pairing_code=record.pairing_code,
        breaker=record.breaker,
        breaker_until=record.breaker_until,
        receiving=activities[Activity.RECEIVING],
        processing=activities[Activity.PROCESSING],
        sending=activities[Activity.SENDING],
    )


def _summary(activities: Mapping[Activity, ActivityHealth]) -> ActivityHealth:
    """The failing activity whose error is the latest; the latest success and error of all where none fails."""
    failing = [activity for activity in activities.values() if not activity.healthy]
    candidates = failing or list(activities.values())
    latest = max(candidates, key=lambda activity: _seconds(activity.last_error_at))
    if failing:
        return latest
    return replace(
        latest,
        last_success=max(candidates, key=lambda activity: _seconds(activity.last_success)).last_success,
    )


def _seconds(moment: datetime | None) -> float:
    return moment.timestamp() if moment else 0.0


def _warnings(
    instance: Instance,
    channel: AnyChannel,
    record: HealthRecord,
    activities: Mapping[Activity, ActivityHealth],
) -> list[str]:
    if instance.status == UNREADABLE:
        return [UNDECRYPTED]
    sending = activities[Activity.SENDING]
    configuration = advice(channel.definition, instance.config)
    if record.missing_proof_field:
        configuration.append(
            f"{missing_proof(record.missing_proof_field)}: calls are accepted without proof of origin"
        )
    if instance.resource_id is None:
        configuration.append("downStreamResourceId is not set: messages are answered with a note only")
    if record.webhook_error and channel.registrar and not record.webhook_registered:
        configuration.append(f"the webhook is not registered: {record.webhook_error}")
    elif record.webhook_error and not (
        sending.last_success is not None and sending.last_success > instance.updated_at
    ):
        configuration.append(f"the configuration did not work when it was tried: {record.webhook_error}")
    return [*configuration, *_work_warnings(record)]


def _work_warnings(record: HealthRecord) -> list[str]:
    warnings = [STOPPED] if record.looping else []
    if record.idle_seconds > IDLE_SECONDS:
        idle = f"{record.idle_seconds:.0f} seconds"
        warnings.append(
            f"messages wait, but no worker has processed any for {idle}; check that one is running"
        )
    elif record.waiting_seconds > WAITING_SECONDS:
        warnings.append(f"the oldest waiting message is {record.waiting_seconds / 60:.0f} minutes old")
    if record.breaker != "closed":
        warnings.append(f"replies wait because the platform does not answer: {record.breaker_reason}")
    return warnings


def connection_note(instance: Instance, channel: AnyChannel, record: HealthRecord) -> str:
    """The sentence on the connection that is kept for an instance, empty where none is kept."""
    if channel.connector is None or not _is_connected(instance, channel, record):
        return ""
    return channel.connector.note(channel.config.load(instance.config), record.registration)


def _is_connected(instance: Instance, channel: AnyChannel, record: HealthRecord) -> bool:
    if channel.connector is None or instance.status == UNREADABLE:
        return False
    return channel.connector.wants(channel.config.load(instance.config), record.registration)


def identity_note(instance: Instance, channel: AnyChannel, record: HealthRecord) -> str:
    """The sentence on whom senders are recognised as, empty where that needs no word."""
    if not channel.definition.identifies(instance.config):
        return ""
    if instance.trusted:
        return TRUSTED
    is_connected = _is_connected(instance, channel, record)
    proof = channel.connection_proof if is_connected else channel.call_proof
    return "" if proof is Proof.PLATFORM else UNTRUSTED
