"""Push notifications: Google Drive calls when something changed, and a poll finds out what.

The id of a notification channel is derived from the instance, its address and the hour, so that asking twice for it
makes one channel. It ends with the next hour: renewing it needs no stored state, and one that was never stopped is
soon gone. Its token proves the origin of a call.

Source: https://developers.google.com/workspace/drive/api/guides/push
"""

import hashlib
import hmac
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from adapters.outbound.channels.common.bodies import items, same, text
from adapters.outbound.channels.common.calls import require_webhook
from adapters.outbound.net.google import GoogleError
from domain.channels.messages import ChannelMetadata, RawAnswer, RawCall, Received
from domain.refusals import Unauthenticated

from .config import DriveConfig

PERIOD = 3600
"""Seconds after which a new channel replaces the last; each lives for two periods."""

_ALIVE = 2
"""How many notification channels of an instance live at a time."""
_CHANNELS = "channels"

POLL = "poll"
_SYNC = "sync"


def receive(config: DriveConfig, call: RawCall, metadata: ChannelMetadata, now: datetime) -> Received:
    require_webhook(call)
    channel_id = call.headers.get("x-goog-channel-id", "")
    if not channel_id or not same(call.headers.get("x-goog-channel-token", ""), _token(config, channel_id)):
        raise Unauthenticated("X-Goog-Channel-Token is not that of a notification channel of this instance.")
    is_sync = call.headers.get("x-goog-resource-state", "") == _SYNC
    return Received(RawAnswer(200), kind=_SYNC if is_sync else POLL)


def channel(config: DriveConfig, address: str, now: datetime) -> Mapping[str, Any]:
    """The notification channel of the present period, as Google is asked for it."""
    period = int(now.timestamp()) // PERIOD
    channel_id = _digest(config, f"channel {config.folder_id} {address} {period}")[:40]
    return {
        "id": channel_id,
        "type": "web_hook",
        "address": address,
        "token": _token(config, channel_id),
        "expiration": str((period + 2) * PERIOD * 1000),
    }


def exists_already(error: GoogleError) -> bool:
    """Return True if Google refused a channel because it has one of that id."""
    errors = items(error.answer.json(), "error", "errors") if error.answer else []
    return any(text(entry, "reason") == "channelIdNotUnique" for entry in errors)


def channels_of(registration: Mapping[str, Any]) -> dict[str, str]:
    """The notification channels that were made, by id, with the resource that each watches; the newest last."""
    return {text(entry, "id"): text(entry, "resourceId") for entry in items(registration, _CHANNELS)}


def with_channel(registration: Mapping[str, Any], channel_id: str, resource_id: str) -> Mapping[str, Any]:
    """The registration with a new channel, without those that have ended by themselves."""
    channels = {**channels_of(registration), channel_id: resource_id}
    alive = list(channels.items())[-_ALIVE:]
    return {_CHANNELS: [{"id": name, "resourceId": resource} for name, resource in alive]}


def _token(config: DriveConfig, channel_id: str) -> str:
    return _digest(config, f"token {channel_id}")


def _digest(config: DriveConfig, message: str) -> str:
    """An HMAC with the instance's secrets as its key."""
    key = f"{config.client_secret}\n{config.refresh_token}".encode()
    return hmac.new(key, message.encode(), hashlib.sha256).hexdigest()
