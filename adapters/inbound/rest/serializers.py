"""Domain values to the JSON of the REST interface."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from domain.channels.model import ChannelDefinition
from domain.instances.model import (
    ActivityHealth,
    Deliveries,
    Health,
    InstanceView,
    LiveSocket,
    Page,
    SaveResult,
)


def timestamp(moment: datetime) -> str:
    """UTC, ISO 8601, milliseconds and Z."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def optional_timestamp(moment: datetime | None) -> str | None:
    return timestamp(moment) if moment else None


def definition(value: ChannelDefinition) -> dict[str, Any]:
    fields = [
        {"name": each.name, "type": each.type, "description": each.description, "required": each.required}
        for each in value.fields
    ]
    return {
        "id": value.id,
        "name": value.name,
        "description": value.description,
        "configDefinition": json.dumps(fields, ensure_ascii=False),
        "type": value.type,
        "setupInstructions": {
            "webhookRequired": value.setup.webhook_required,
            "webhookPath": value.setup.webhook_path,
            "title": value.setup.title,
            "steps": list(value.setup.steps),
            "docsUrl": value.setup.docs_url,
        },
    }


def instance(view: InstanceView) -> dict[str, Any]:
    value = view.instance
    return {
        "id": value.id,
        "channelId": value.channel_id,
        "channelName": value.channel_name,
        "downStreamResourceId": value.resource_id,
        "config": value.config,
        "userId": value.user_id,
        "status": value.status,
        "channelType": view.channel_type,
        "channelTypeName": value.channel_id,
    }


def saved(result: SaveResult) -> dict[str, Any]:
    body: dict[str, Any] = {
        "success": True,
        "message": result.message,
        "instanceId": result.instance_id,
        "microserviceConnected": result.worker_alive,
    }
    if result.webhook_registered is not None:
        body["webhookRegistered"] = result.webhook_registered
    body["webhookError"] = result.webhook_error
    return body


def sockets(live: Sequence[LiveSocket], now: datetime) -> dict[str, Any]:
    return {
        "success": True,
        "connectedChannels": {
            str(each.instance_id): {
                "channelId": each.channel_id,
                "channelName": each.channel_name,
                "status": each.status,
                "connectedSince": timestamp(each.connected_since),
            }
            for each in live
        },
        "timestamp": timestamp(now),
    }


def health(value: Health) -> dict[str, Any]:
    return {
        "instanceId": value.instance_id,
        "healthy": value.healthy,
        "warnings": list(value.warnings),
        "lastSuccess": optional_timestamp(value.last_success),
        "lastError": value.last_error,
        "lastErrorAt": optional_timestamp(value.last_error_at),
        "nextRun": optional_timestamp(value.next_run),
        "queue": dict(value.queue),
        "pairingCode": value.pairing_code,
        "breaker": value.breaker,
        "breakerUntil": optional_timestamp(value.breaker_until),
        **{name.value: _activity(each) for name, each in value.activities.items()},
    }


def _activity(value: ActivityHealth) -> dict[str, Any]:
    return {
        "healthy": value.healthy,
        "lastSuccess": optional_timestamp(value.last_success),
        "lastError": value.last_error,
        "lastErrorAt": optional_timestamp(value.last_error_at),
    }


def pagination(page: Page) -> dict[str, int]:
    return {
        "currentPage": page.current,
        "totalPages": page.pages,
        "totalCount": page.total,
        "limit": page.limit,
        "offset": page.offset,
    }


def deliveries(value: Deliveries) -> dict[str, Any]:
    return {
        "deliveries": [
            {
                "id": each.id,
                "status": each.status,
                "attempts": each.attempts,
                "lastError": each.last_error,
                "createdAt": timestamp(each.created_at),
                "nextAttemptAt": optional_timestamp(each.next_attempt_at),
            }
            for each in value.items
        ],
        "pagination": pagination(value.page),
    }
