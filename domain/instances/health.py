"""What is told of an instance's health, from what is on record. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from domain.channels.proof import missing_proof
from domain.instances.model import Health, Instance
from domain.instances.validation import advice
from ports.channels import Channel, Registers
from ports.storage import HealthRecord


def health_of(instance: Instance, channel: Channel, record: HealthRecord, queue: Mapping[str, int]) -> Health:
    """Healthy is an instance with nothing to mend whose latest try of anything worked."""
    failing = record.last_error_at is not None and (
        record.last_success is None or record.last_error_at > record.last_success
    )
    warnings = _warnings(instance, channel, record, failing=failing)
    return Health(
        instance_id=instance.id,
        healthy=not warnings and not failing,
        warnings=tuple(warnings),
        last_success=record.last_success,
        last_error=record.last_error,
        last_error_at=record.last_error_at,
        next_run=record.next_run,
        queue=queue,
        pairing_code=record.pairing_code,
        breaker=record.breaker,
        breaker_until=record.breaker_until,
    )


def _warnings(instance: Instance, channel: Channel, record: HealthRecord, *, failing: bool) -> list[str]:
    warnings = advice(channel.definition, instance.config)
    if record.unproved_for:
        warnings.append(f"{missing_proof(record.unproved_for)}: calls are accepted without proof of origin")
    if instance.resource_id is None:
        warnings.append("downStreamResourceId is not set: messages are answered with a note only")
    if record.webhook_error and isinstance(channel, Registers):
        warnings.append(f"the webhook is not registered: {record.webhook_error}")
    elif record.webhook_error and (failing or record.last_success is None):
        warnings.append(f"the configuration did not work when it was tried: {record.webhook_error}")
    if record.breaker != "closed":
        warnings.append(f"replies wait, since the platform does not answer: {record.breaker_reason}")
    return warnings
