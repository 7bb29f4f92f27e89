"""Push notifications: Google Drive calls when something changed, and a poll finds out what.

A notification channel has an id that follows from the instance, its address and the hour in which it was made, so
asking twice for the same one makes one. It ends with the next hour, so nothing needs to be kept to renew it, and one
that was never stopped is soon gone. Its token proves that a call belongs to a channel of ours.

Source: https://developers.google.com/workspace/drive/api/guides/push
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from adapters.outbound.channels.common.bodies import items, same, text
from domain.channels.messages import Config, RawAnswer, RawCall, Received
from domain.refusals import NotFound, Unauthenticated

PERIOD = 3600
"""Seconds after which a new channel takes over; each lives for two periods."""

_ALIVE = 2
"""How many notification channels of an instance live at a time."""
_CHANNELS = "channels"

ACKNOWLEDGED = RawAnswer(200)
POLL = "poll"
_SYNC = "sync"


def receive(config: Config, call: RawCall) -> Received:
    """Proves a notification and reads it. Raises `Unauthenticated`, `NotFound`."""
    if call.callback != "webhook":
        raise NotFound(f"This channel has no callback '{call.callback}'; its callback is 'webhook'.")
    channel_id = call.headers.get("x-goog-channel-id", "")
    if not channel_id or not same(call.headers.get("x-goog-channel-token", ""), _token(config, channel_id)):
        raise Unauthenticated("X-Goog-Channel-Token is not that of a notification channel of this instance.")
    if call.headers.get("x-goog-resource-state", "") == _SYNC:
        return Received(ACKNOWLEDGED, kind=_SYNC)
    return Received(ACKNOWLEDGED, kind=POLL)


def can_be_called(address: str) -> bool:
    """Whether Google calls the address: https, and a full host name."""
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
    except ValueError:
        return False
    return parts.scheme == "https" and "." in host and not host.rpartition(".")[2].isdigit()


def channel(config: Config, address: str, now: datetime) -> Mapping[str, Any]:
    """The notification channel of the present period, as Google is asked for it."""
    period = int(now.timestamp()) // PERIOD
    channel_id = _digest(config, f"channel {config['folderId']} {address} {period}")[:40]
    return {
        "id": channel_id,
        "type": "web_hook",
        "address": address,
        "token": _token(config, channel_id),
        "expiration": str((period + 2) * PERIOD * 1000),
    }


def is_there_already(body: object) -> bool:
    """Whether Google refused a channel because it has one of that id."""
    return any(text(each, "reason") == "channelIdNotUnique" for each in items(body, "error", "errors"))


def known(kept: Mapping[str, Any]) -> Mapping[str, str]:
    """The channels that were made, by id, with the resource that each watches; the newest last."""
    return {text(each, "id"): text(each, "resourceId") for each in items(kept, _CHANNELS)}


def remembered(kept: Mapping[str, Any], channel_id: str, resource_id: str) -> Mapping[str, Any]:
    """What is kept with a new channel, without those that have ended by themselves."""
    channels = {**known(kept), channel_id: resource_id}
    alive = list(channels.items())[-_ALIVE:]
    return {_CHANNELS: [{"id": name, "resourceId": resource} for name, resource in alive]}


def _token(config: Config, channel_id: str) -> str:
    return _digest(config, f"token {channel_id}")


def _digest(config: Config, words: str) -> str:
    """Follows from the instance's secrets, so nobody else can tell it."""
    key = f"{config['clientSecret']}\n{config['refreshToken']}".encode()
    return hmac.new(key, words.encode(), hashlib.sha256).hexdigest()
