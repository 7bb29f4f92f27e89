"""Calls from Mattermost: outgoing webhooks, slash commands and pressed buttons, as JSON or as a form. Pure.

Source: https://developers.mattermost.com/integrate/webhooks/outgoing/ and
https://developers.mattermost.com/integrate/slash-commands/custom/
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from adapters.outbound.channels.common.bodies import at, form, json_object, query, same, text
from adapters.outbound.channels.common.calls import json_answer, require_webhook
from adapters.outbound.channels.common.cards import card_text
from adapters.outbound.channels.common.client import is_address_of
from adapters.outbound.channels.community_chat.buttons import is_press, read_press
from adapters.outbound.channels.community_chat.config import (
    SOCKET,
    TARGET,
    MattermostConfig,
    MattermostTarget,
    session_of,
)
from domain.channels.messages import (
    Attachment,
    ChannelMetadata,
    Event,
    Identity,
    Merge,
    Quoted,
    RawCall,
    Received,
    Sender,
)
from domain.channels.refused import CHANNEL
from domain.refusals import Invalid, Unauthenticated

ACKNOWLEDGED = json_answer({})
"""Takes the call and posts nothing: the answer comes later."""


def receive(config: MattermostConfig, call: RawCall, metadata: ChannelMetadata, now: datetime) -> Received:
    """Verifies the origin of a call and reads it. Raises `Unauthenticated`, `Invalid`, `NotFound`."""
    require_webhook(call)
    payload = _payload(call)
    if is_press(payload):
        return read_press(config, payload)
    _verify(config, payload)
    received = read_message(config, payload, metadata)
    if config.connection != SOCKET:
        return received
    return replace(received, events=tuple(_partial(event) for event in received.events))


def _partial(event: Event) -> Event:
    """The event of a post, whose thread and files come over the WebSocket; a command comes here alone."""
    return replace(event, merge=Merge(event.message_id)) if event.message_id else event


def read_message(config: MattermostConfig, payload: Mapping[str, Any], metadata: ChannelMetadata) -> Received:
    """Reads what was written, in the form of an outgoing webhook however it came. Raises `Invalid`."""
    user = text(payload, "user_id")
    if not user:
        raise Invalid("user_id is missing.")
    if user == text(metadata, "userId"):
        return Received(ACKNOWLEDGED, kind="ignored:own")
    is_elsewhere = not _is_direct(payload) and not config.allows(text(payload, "channel_id"))
    content = _without_mention(payload, text(metadata, "username"))
    files = files_of(payload)
    if not content and not files:
        return Received(ACKNOWLEDGED, kind="ignored:empty")
    event = replace(_event(config, payload, content, files), context=_told(payload))
    if is_elsewhere:
        return Received(ACKNOWLEDGED, (replace(event, refused=CHANNEL),), kind=f"ignored:{CHANNEL}")
    return Received(ACKNOWLEDGED, events=(event,))


def _told(payload: Mapping[str, Any]) -> dict[str, object]:
    """What an agent needs beside the text: the channel, the team, the command or word that called the bot."""
    word, name = text(payload, "trigger_word"), text(payload, "channel_name")
    in_group = not _is_direct(payload)
    return {
        "group": {"id": text(payload, "channel_id"), "name": name} if in_group else {},
        "command": text(payload, "command").removeprefix("/"),
        "platform": {
            "team": text(payload, "team_domain"),
            "triggerWord": "" if word.startswith("@") else word,
        },
    }


def _payload(call: RawCall) -> Mapping[str, Any]:
    if call.method == "GET":
        return query(call)
    content_type = call.headers.get("content-type", "").lower()
    is_json = "json" in content_type or ("form" not in content_type and call.body.lstrip()[:1] == b"{")
    return json_object(call.body) if is_json else form(call.body)


def _verify(config: MattermostConfig, payload: Mapping[str, Any]) -> None:
    """Raises `Unauthenticated` unless the token of the payload is one of those in the config."""
    given = text(payload, "token")
    matches = [same(given, expected) for expected in (config.token, config.webhook_token)]
    if not any(matches):
        raise Unauthenticated(
            "The token of the call is neither token nor webhookToken of this instance: copy the token that "
            "Mattermost shows for the outgoing webhook into webhookToken."
        )


def _without_mention(payload: Mapping[str, Any], username: str) -> str:
    """The text without the mention of the bot: its own name, or a trigger word that is a mention."""
    content = text(payload, "text")
    for mention in {f"@{username}" if username else "", text(payload, "trigger_word")}:
        if mention.startswith("@"):
            content = mention_of(mention[1:]).sub("", content)
    return content.strip()


def mention_of(name: str) -> re.Pattern[str]:
    """A mention of a user of this name, with what separates it from the text."""
    return re.compile(rf"(?<![\w@])@{re.escape(name)}(?![\w-]|\.\w)[:,]?\s*", re.IGNORECASE)


def files_of(payload: Mapping[str, Any]) -> tuple[Attachment, ...]:
    """The files by their ids; a webhook tells neither name nor type."""
    given = payload.get("file_ids")
    ids = given if isinstance(given, list) else text(payload, "file_ids").split(",")
    file_ids = filter(None, (str(file_id).strip() for file_id in ids))
    return tuple(Attachment(file_id, "application/octet-stream", {"fileId": file_id}) for file_id in file_ids)


def shown_in(post: object) -> str:
    """The text of a post, and of the attachments that programs write."""
    return "\n".join(filter(None, (text(post, "message"), card_text(at(post, "props", "attachments")))))


def _event(
    config: MattermostConfig, payload: Mapping[str, Any], content: str, files: tuple[Attachment, ...]
) -> Event:
    user = text(payload, "user_id")
    channel = text(payload, "channel_id") or config.channel_id
    response_url, post_id, parent = (text(payload, name) for name in ("response_url", "post_id", "root_id"))
    direct = _is_direct(payload)
    root = parent or (post_id if config.reply_in_thread and not direct else "")
    target = MattermostTarget(
        channel=channel,
        root=root,
        response_url=response_url if is_address_of(response_url, config.server_url) else "",
    )
    return Event(
        key=post_id or text(payload, "trigger_id") or None,
        session_id=session_of(channel, user, "" if direct else root),
        sender=Sender(user, text(payload, "user_name"), (Identity("community-chat", user),)),
        text=content,
        target=TARGET.dump(target),
        attachments=files,
        ids=(post_id,) if post_id else (),
        quoted=Quoted(ref=parent, key=parent) if parent else None,
        thread_post=post_id if parent and not direct else "",
        is_direct=direct,
        message_id=post_id,
        raw={name: value for name, value in payload.items() if name != "token"},
    )


def _is_direct(payload: Mapping[str, Any]) -> bool:
    """Names of direct channels are the ids of both sides."""
    return "__" in text(payload, "channel_name")
