"""Reads what Mattermost calls with: outgoing webhooks and slash commands, as JSON or as a form.

Source: https://developers.mattermost.com/integrate/webhooks/outgoing/ and
https://developers.mattermost.com/integrate/slash-commands/custom/
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from adapters.outbound.channels.common.bodies import form, json_object, query, same, text
from domain.channels.messages import (
    Attachment,
    ChannelMetadata,
    Config,
    Event,
    Identity,
    RawAnswer,
    RawCall,
    Received,
    Sender,
)
from domain.refusals import Invalid, NotFound, Unauthenticated

ACKNOWLEDGED = RawAnswer(200, b"{}", {"content-type": "application/json"})
"""Takes the call and posts nothing: the answer comes later."""

_DEFAULT_PORTS = {"http": 80, "https": 443}


def receive(config: Config, call: RawCall, known: ChannelMetadata) -> Received:
    """Proves the origin of a call and reads it. Raises `Unauthenticated`, `Invalid`, `NotFound`."""
    if call.callback != "webhook":
        raise NotFound(f"This channel has no callback '{call.callback}'; its callback is 'webhook'.")
    payload = _payload(call)
    _prove(config, payload)
    user = text(payload, "user_id")
    if not user:
        raise Invalid("user_id is missing.")
    if user == text(known, "userId"):
        return Received(ACKNOWLEDGED, kind="ignored:own")
    words = _words(payload, text(known, "username"))
    files = _files(payload)
    if not words and not files:
        return Received(ACKNOWLEDGED, kind="ignored:empty")
    return Received(ACKNOWLEDGED, events=(_event(config, payload, words, files),))


def _payload(call: RawCall) -> Mapping[str, Any]:
    if call.method == "GET":
        return query(call)
    content_type = call.headers.get("content-type", "").lower()
    is_json = "json" in content_type or ("form" not in content_type and call.body.lstrip()[:1] == b"{")
    return json_object(call.body) if is_json else form(call.body)


def _prove(config: Config, payload: Mapping[str, Any]) -> None:
    """The token of the payload is one of those that the user gave."""
    given = text(payload, "token")
    matches = [same(given, str(config.get(name) or "")) for name in ("token", "webhookToken")]
    if not any(matches):
        raise Unauthenticated(
            "The token of the call is neither token nor webhookToken of this instance: copy the token that "
            "Mattermost shows for the outgoing webhook into webhookToken."
        )


def _words(payload: Mapping[str, Any], username: str) -> str:
    """The text without the mention of the bot: its own name, or a trigger word that is a mention."""
    words = text(payload, "text")
    trigger = text(payload, "trigger_word")
    mentions = {name for name in (f"@{username}" if username else "", trigger) if name.startswith("@")}
    for mention in mentions:
        words = re.sub(
            rf"(?<![\w@]){re.escape(mention)}(?![\w-]|\.\w)[:,]?\s*", "", words, flags=re.IGNORECASE
        )
    return words.strip()


def _files(payload: Mapping[str, Any]) -> tuple[Attachment, ...]:
    """The files by their ids; a webhook tells neither name nor type."""
    given = payload.get("file_ids")
    ids = given if isinstance(given, list) else text(payload, "file_ids").split(",")
    return tuple(
        Attachment(each, "application/octet-stream", {"fileId": each})
        for each in (str(item).strip() for item in ids)
        if each
    )


def _event(config: Config, payload: Mapping[str, Any], words: str, files: tuple[Attachment, ...]) -> Event:
    user = text(payload, "user_id")
    channel = text(payload, "channel_id") or str(config.get("channelId", ""))
    target = {"channel": channel, "root": text(payload, "root_id")}
    response_url = text(payload, "response_url")
    if response_url and origin(response_url) == origin(str(config.get("SERVER_URL", ""))):
        target["responseUrl"] = response_url
    return Event(
        key=text(payload, "post_id") or text(payload, "trigger_id") or None,
        session_id=f"{channel}:{user}",
        sender=Sender(user, text(payload, "user_name"), (Identity("community-chat", user),)),
        text=words,
        target=target,
        attachments=files,
        ids=tuple(filter(None, (text(payload, "post_id"),))),
        is_direct="__" in text(payload, "channel_name"),
        raw={name: value for name, value in payload.items() if name != "token"},
    )


def origin(url: str) -> tuple[str, str, int | None] | None:
    """Scheme, host and port of an address; None when it is none."""
    try:
        parts = urlsplit(url)
        port = parts.port or _DEFAULT_PORTS.get(parts.scheme)
    except ValueError:
        return None
    if parts.username is not None or not parts.hostname or parts.scheme not in _DEFAULT_PORTS:
        return None
    return parts.scheme, parts.hostname, port
