"""What is told of an instance's health, from what is on record. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from domain.channels.proof import missing_proof
from domain.instances.model import UNREADABLE, Activity, ActivityHealth, Health, Instance
from domain.instances.validation import advice
from domain.routing.rounds import STOPPED
from ports.channels import AnyChannel
from ports.instances import HealthRecord

UNDECRYPTED = (
    "its configuration cannot be decrypted; put the key that it was encrypted with into CONFIG_ENCRYPTION_KEY,"
    " or save the instance anew"
)


IDLE_SECONDS = 60.0
"""After so long without a worker something is wrong: one that runs takes a conversation up within a second or two."""
WAITING_SECONDS = 300.0
"""Longer than a resource takes for one message."""


def health_of(
    instance: Instance, channel: AnyChannel, record: HealthRecord, queue: Mapping[str, int]
) -> Health:
    """Healthy is an instance with nothing to mend, whose latest try of each activity worked."""
    activities = {each: _activity(instance, each, record, queue) for each in Activity}
    warnings = _warnings(instance, channel, record, activities)
    told = _told(activities)
    return Health(
        instance_id=instance.id,
        healthy=not warnings and all(each.healthy for each in activities.values()),
        warnings=tuple(warnings),
        last_success=told.last_success,
        last_error=told.last_error,
        last_error_at=told.last_error_at,
        next_run=record.next_run,
        queue=queue,
        pairing_code=record.pairing_code,
        breaker=record.breaker,
        breaker_until=record.breaker_until,
        activities=activities,
    )


def _activity(
    instance: Instance, activity: Activity, record: HealthRecord, queue: Mapping[str, int]
) -> ActivityHealth:
    """What failed before the instance was saved says nothing of it as it is now. Nor does the failure of replies
    say anything once none of them is left, as all were dropped."""
    noted = record.activities.get(activity, ActivityHealth())
    since = max(noted.last_success or instance.updated_at, instance.updated_at)
    failing = noted.last_error_at is not None and noted.last_error_at > since
    if activity is Activity.SENDING and not queue["pending"] and not queue["dead"]:
        failing = False
    return replace(noted, healthy=not failing)


def _told(activities: Mapping[Activity, ActivityHealth]) -> ActivityHealth:
    """The failing activity whose error is the latest; the latest success and error of all where none fails."""
    failing = [each for each in activities.values() if not each.healthy]
    candidates = failing or list(activities.values())
    latest = max(candidates, key=_error_time)
    if failing:
        return latest
    return replace(latest, last_success=max(candidates, key=_success_time).last_success)


def _error_time(activity: ActivityHealth) -> float:
    return _seconds(activity.last_error_at)


def _success_time(activity: ActivityHealth) -> float:
    return _seconds(activity.last_success)


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
    warnings = advice(channel.definition, instance.config)
    if record.missing_proof_field:
        warnings.append(
            f"{missing_proof(record.missing_proof_field)}: calls are accepted without proof of origin"
        )
    if instance.resource_id is None:
        warnings.append("downStreamResourceId is not set: messages are answered with a note only")
    if record.webhook_error and channel.registrar and not record.webhook_registered:
        warnings.append(f"the webhook is not registered: {record.webhook_error}")
    elif record.webhook_error and not _has_sent(instance, activities[Activity.SENDING]):
        warnings.append(f"the configuration did not work when it was tried: {record.webhook_error}")
    if record.looping:
        warnings.append(STOPPED)
    if record.idle_seconds > IDLE_SECONDS:
        idle = f"{record.idle_seconds:.0f} seconds"
        warnings.append(f"messages wait, and no worker has taken them up for {idle}; is a worker running?")
    elif record.waiting_seconds > WAITING_SECONDS:
        warnings.append(f"the oldest message that waits came {record.waiting_seconds / 60:.0f} minutes ago")
    if record.breaker != "closed":
        warnings.append(f"replies wait, since the platform does not answer: {record.breaker_reason}")
    return warnings


def _has_sent(instance: Instance, sending: ActivityHealth) -> bool:
    """Whether replies go out with the configuration as it is now."""
    return sending.last_success is not None and sending.last_success > instance.updated_at
