"""Calls from Mattermost: outgoing webhooks, slash commands and pressed buttons, as JSON or as a form. Pure.

Source: https://developers.mattermost.com/integrate/webhooks/outgoing/ and
https://developers.mattermost.com/integrate/slash-commands/custom/

Posts of a Mattermost server, as its WebSocket and its API give them. Pure.

Source: https://developers.mattermost.com/api-documentation/ (posts)

Buttons of posts on Mattermost, and the calls of the server that tell of a press. Pure.

Source: https://developers.mattermost.com/integrate/plugins/interactive-messages/
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from adapters.outbound.channels.common.bodies import at, form, integer, items, json_object, query, same, text
from adapters.outbound.channels.common.calls import json_answer, require_webhook, signature
from adapters.outbound.channels.common.client import is_address_of
from adapters.outbound.channels.common.contents import card_text
from adapters.outbound.channels.common.messages import cut_labels, pressed_text
from adapters.outbound.channels.community_chat.config import (
    SOCKET,
    TARGET,
    MattermostConfig,
    MattermostTarget,
    session_of,
)
from domain.channels.messages import (
    Attachment,
    Change,
    ChannelMetadata,
    Event,
    Identity,
    Merge,
    Quoted,
    RawCall,
    Received,
    Sender,
)
from domain.channels.refused import BOT, CHANNEL
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


_DIRECT = "D"
_BY_PROGRAMS = ("from_bot", "from_webhook", "from_plugin")


@dataclass(frozen=True, slots=True)
class Post:
    """A post and the channel where it stands; `sender_name` is @ and the name of its user, where it is known."""

    body: Mapping[str, Any]
    channel: Mapping[str, Any]
    sender_name: str = ""

    @property
    def created_at(self) -> int:
        """In milliseconds since 1970."""
        return integer(self.body, "create_at") or 0


def read_post(config: MattermostConfig, post: Post, bot: ChannelMetadata) -> Event | None:
    """The event of a direct message to the bot, of a post that mentions it, or of one in a thread; the same one as of
    the post's outgoing webhook. None for every other."""
    body = post.body
    if not text(body, "id") or text(body, "type") or at(body, "delete_at"):
        return None
    by_program = any(text(body, "props", name) == "true" for name in _BY_PROGRAMS)
    addressed = text(post.channel, "type") == _DIRECT or _mentions(
        text(body, "message"), text(bot, "username")
    )
    if not addressed and config.require_mention and not (config.follow_threads and text(body, "root_id")):
        return None
    payload = {
        "channel_id": text(body, "channel_id"),
        "channel_name": text(post.channel, "name"),
        "user_id": text(body, "user_id"),
        "user_name": post.sender_name.removeprefix("@"),
        "post_id": text(body, "id"),
        "root_id": text(body, "root_id"),
        "text": text(body, "message"),
        "file_ids": items(body, "file_ids"),
    }
    events = read_message(config, payload, bot).events if payload["user_id"] else ()
    event = next(iter(events), None)
    refused = event.refused or (BOT if by_program else "") if event else ""
    if event is None or (refused and not addressed):
        return None
    only_followed = not addressed and config.require_mention
    quoted = _forwarded(body) or event.quoted
    return replace(event, only_followed=only_followed, quoted=quoted, refused=refused)


def _forwarded(post: Mapping[str, Any]) -> Quoted | None:
    """The post to which the message links, as forwarding makes it: the server adds a preview of it."""
    for embed in items(post, "metadata", "embeds"):
        original = at(embed, "data", "post")
        if text(embed, "type") == "permalink" and isinstance(original, dict):
            quoted = Quoted(shown_in(original), text(original, "user_id"), files_of(original))
            return quoted if quoted.is_given else None
    return None


def read_edit(config: MattermostConfig, post: Post, bot: ChannelMetadata) -> Event | None:
    """The event of an edited post. Updates without the time of an edit are previews of links and the like."""
    edited_at = integer(post.body, "edit_at")
    event = read_post(config, post, bot) if edited_at else None
    if event is None or event.refused:
        return None
    return replace(event, key=f"{event.message_id}:{edited_at}", change=Change.EDITED)


def read_deletion(config: MattermostConfig, post: Post, bot: ChannelMetadata) -> Event | None:
    """The event of a deleted post of somebody else."""
    post_id = text(post.body, "id")
    if not post_id or text(post.body, "user_id") == text(bot, "userId"):
        return None
    key = f"{post_id}:{Change.DELETED}"
    return Event(key, "", Sender(""), "", {}, message_id=post_id, change=Change.DELETED)


def _mentions(message: str, username: str) -> bool:
    return bool(username) and mention_of(username).search(message) is not None


LONGEST_LABEL = 100
"""Our choice: a longer button does not fit into a line."""
_PURPOSE = "button of a post"
_SIGNED = ("choice", "label", "channel", "root")


def attached(
    config: MattermostConfig, target: MattermostTarget, callback_url: str, choices: Sequence[tuple[str, str]]
) -> dict[str, Any]:
    """The properties of a post with these buttons. The server sends the signed context of a button with its press; it
    shows it to nobody."""
    labels = cut_labels([label for label, _ in choices], LONGEST_LABEL)
    actions = []
    for number, (label, (_, value)) in enumerate(zip(labels, choices, strict=True), start=1):
        context = {"choice": value, "label": label, "channel": target.channel, "root": target.root}
        integration = {"url": callback_url, "context": {**context, "signature": _signature(config, context)}}
        action = {"id": f"choice{number}", "type": "button", "name": label, "integration": integration}
        actions.append(action)
    return {"attachments": [{"fallback": ", ".join(labels), "actions": actions}]}


def is_press(payload: Mapping[str, Any]) -> bool:
    return isinstance(payload.get("context"), Mapping)


def read_press(config: MattermostConfig, payload: Mapping[str, Any]) -> Received:
    """The press of a button. Raises `Unauthenticated` for a context that we did not sign, `Invalid`."""
    context = at(payload, "context")
    if not same(text(context, "signature"), _signature(config, context)):
        raise Unauthenticated(
            "The signature of the button's context is wrong: the service did not make this button."
        )
    user, value = text(payload, "user_id"), text(context, "choice")
    if not user or not value:
        raise Invalid("user_id and context.choice: a press needs both.")
    channel, trigger = text(context, "channel"), text(payload, "trigger_id")
    target = MattermostTarget(
        channel=channel,
        root=text(context, "root"),
        prompt=text(payload, "post_id"),
        user_name=text(payload, "user_name"),
    )
    direct = "__" in text(payload, "channel_name")
    if not direct and not config.allows(channel):
        return Received(ACKNOWLEDGED, kind="ignored:channel")
    event = Event(
        key=f"press:{trigger}" if trigger else None,
        session_id=session_of(channel, user, "" if direct else target.root),
        sender=Sender(user, target.user_name, (Identity("community-chat", user),)),
        text=pressed_text(text(context, "label"), value),
        target=TARGET.dump(target),
        choice=value,
        is_direct=direct,
    )
    return Received(ACKNOWLEDGED, events=(event,), kind="action")


def _signature(config: MattermostConfig, context: object) -> str:
    signed = [_PURPOSE, *(text(context, name) for name in _SIGNED)]
    return signature(config.token, json.dumps(signed).encode())
