"""Calls from Mattermost (outgoing webhooks, slash commands and pressed buttons, as JSON or as a form), and posts as
its WebSocket and its API give them. Pure.

Sources: https://developers.mattermost.com/integrate/webhooks/outgoing/,
https://developers.mattermost.com/integrate/slash-commands/custom/,
https://developers.mattermost.com/integrate/plugins/interactive-messages/ and
https://developers.mattermost.com/api-documentation/ (posts)
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from adapters.outbound.channels.common import calls, client, contents
from adapters.outbound.channels.common.bodies import at, fields_of, integer, items, same, text
from adapters.outbound.channels.common.messages import labelled, pressed_text
from domain.channels import messages
from domain.channels.refused import BOT, CHANNEL
from domain.refusals import Invalid, Unauthenticated

from .config import SOCKET, TARGET, MattermostConfig, MattermostTarget, session_of

ACKNOWLEDGED = calls.json_answer({})
"""Takes the call and posts nothing: the answer comes later."""
LONGEST_LABEL = 100
"""Our choice: a longer button does not fit into a line."""
_PURPOSE = "button of a post"
_SIGNED = ("choice", "label", "channel", "root")
DIRECT = "D"
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


def receive(
    config: MattermostConfig, call: messages.RawCall, metadata: messages.ChannelMetadata, now: datetime
) -> messages.Received:
    calls.require_webhook(call)
    payload = fields_of(call)
    if isinstance(payload.get("context"), Mapping):
        return _press(config, payload)
    matches = [same(text(payload, "token"), expected) for expected in (config.token, config.webhook_token)]
    if not any(matches):
        raise Unauthenticated(
            "The token of the call is neither token nor webhookToken of this instance: copy the token that "
            "Mattermost shows for the outgoing webhook into webhookToken."
        )
    message = read_message(config, payload, metadata)
    if config.connection != SOCKET:
        return message
    # The thread and the files of a post come over the WebSocket; a command comes here alone.
    events = (
        replace(event, merge=messages.Merge(event.message_id)) if event.message_id else event
        for event in message.events
    )
    return replace(message, events=tuple(events))


def read_message(
    config: MattermostConfig, payload: Mapping[str, Any], metadata: messages.ChannelMetadata
) -> messages.Received:
    """Reads what was written, in the form of an outgoing webhook however it came. Raises `Invalid`."""
    user, username = text(payload, "user_id"), text(metadata, "username")
    if not user:
        raise Invalid("user_id is missing.")
    if user == text(metadata, "userId"):
        return calls.received("own", answer=ACKNOWLEDGED)
    content = text(payload, "text")
    for mention in {f"@{username}" if username else "", text(payload, "trigger_word")}:
        if mention.startswith("@"):
            content = mention_of(mention[1:]).sub("", content)
    event = _event(config, payload, content.strip())
    if not event.text and not event.attachments:
        return calls.received("empty", answer=ACKNOWLEDGED)
    if not event.is_direct and not config.allows(text(payload, "channel_id")):
        event = replace(event, refused=CHANNEL)
    return calls.received(event, answer=ACKNOWLEDGED)


def _event(config: MattermostConfig, payload: Mapping[str, Any], content: str) -> messages.Event:
    user, post_id, parent = (text(payload, name) for name in ("user_id", "post_id", "root_id"))
    target, direct = _target(config, payload), _is_direct(payload)
    word, name = text(payload, "trigger_word"), text(payload, "channel_name")
    return messages.Event(
        key=post_id or text(payload, "trigger_id") or None,
        session_id=session_of(target.channel, user, "" if direct else target.root),
        sender=_sender(payload),
        text=content,
        target=TARGET.dump(target),
        attachments=files_of(payload),
        ids=tuple(filter(None, (post_id,))),
        quoted=messages.Quoted(ref=parent, key=parent) if parent else None,
        thread_post=post_id if parent and not direct else "",
        is_direct=direct,
        message_id=post_id,
        automated=bool(post_id),  # bots post too: who wrote is asked for later, see api.Bots
        raw={name: value for name, value in payload.items() if name != "token"},
        context={
            "group": {} if direct else {"id": text(payload, "channel_id"), "name": name},
            "command": text(payload, "command").removeprefix("/"),
            "platform": {
                "team": text(payload, "team_domain"),
                "triggerWord": "" if word.startswith("@") else word,
            },
        },
    )


def _target(config: MattermostConfig, payload: Mapping[str, Any]) -> MattermostTarget:
    response_url = text(payload, "response_url")
    starts_thread = config.reply_in_thread and not _is_direct(payload)
    return MattermostTarget(
        channel=text(payload, "channel_id") or config.channel_id,
        root=text(payload, "root_id") or (text(payload, "post_id") if starts_thread else ""),
        response_url=response_url if client.is_address_of(response_url, config.server_url) else "",
    )


def _sender(payload: Mapping[str, Any]) -> messages.Sender:
    user = text(payload, "user_id")
    return messages.Sender(user, text(payload, "user_name"), (messages.Identity("community-chat", user),))


def _is_direct(payload: Mapping[str, Any]) -> bool:
    """Names of direct channels are the ids of both sides."""
    return "__" in text(payload, "channel_name")


def mention_of(name: str) -> re.Pattern[str]:
    """A mention of a user of this name, with what separates it from the text."""
    return re.compile(rf"(?<![\w@])@{re.escape(name)}(?![\w-]|\.\w)[:,]?\s*", re.IGNORECASE)


def files_of(payload: Mapping[str, Any]) -> tuple[messages.Attachment, ...]:
    """The files by their ids; a webhook gives neither name nor type."""
    ids = payload.get("file_ids")
    ids = ids if isinstance(ids, list) else text(payload, "file_ids").split(",")
    file_ids = filter(None, (str(file_id).strip() for file_id in ids))
    return tuple(
        messages.Attachment(file_id, "application/octet-stream", {"fileId": file_id}) for file_id in file_ids
    )


def shown_in(post: object) -> str:
    """The text of a post, and of the attachments that programs write."""
    return "\n".join(
        filter(None, (text(post, "message"), contents.card_text(at(post, "props", "attachments"))))
    )


def read_post(config: MattermostConfig, post: Post, bot: messages.ChannelMetadata) -> messages.Event | None:
    """The event of a direct message to the bot, of a post that mentions it, or of one in a thread; the same one as of
    the post's outgoing webhook. None for any other post."""
    body, username = post.body, text(bot, "username")
    if not text(body, "id") or not text(body, "user_id") or text(body, "type") or at(body, "delete_at"):
        return None
    mentioned = bool(username) and mention_of(username).search(text(body, "message")) is not None
    addressed = mentioned or text(post.channel, "type") == DIRECT
    only_followed = not addressed and config.require_mention
    if only_followed and not (config.follow_threads and text(body, "root_id")):
        return None
    return _event_of_post(config, post, bot, addressed=addressed, only_followed=only_followed)


def _event_of_post(
    config: MattermostConfig,
    post: Post,
    bot: messages.ChannelMetadata,
    *,
    addressed: bool,
    only_followed: bool,
) -> messages.Event | None:
    body = post.body
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
    event = next(iter(read_message(config, payload, bot).events), None)
    if event is None:
        return None
    by_program = any(text(body, "props", name) == "true" for name in _BY_PROGRAMS)
    refused = event.refused or (BOT if by_program else "")
    if refused and not addressed:
        return None
    quoted = _forwarded(body) or event.quoted
    return replace(event, only_followed=only_followed, quoted=quoted, refused=refused)


def _forwarded(post: Mapping[str, Any]) -> messages.Quoted | None:
    """The post to which the message links, as forwarding makes it: the server adds a preview of it."""
    for embed in items(post, "metadata", "embeds"):
        original = at(embed, "data", "post")
        if text(embed, "type") == "permalink" and isinstance(original, dict):
            quoted = messages.Quoted(shown_in(original), text(original, "user_id"), files_of(original))
            return quoted if quoted.is_given else None
    return None


def read_edit(config: MattermostConfig, post: Post, bot: messages.ChannelMetadata) -> messages.Event | None:
    """The event of an edited post. Updates without the time of an edit are previews of links and the like."""
    edited_at = integer(post.body, "edit_at")
    event = read_post(config, post, bot) if edited_at else None
    if event is None or event.refused:
        return None
    return replace(event, key=f"{event.message_id}:{edited_at}", change=messages.Change.EDITED)


def read_deletion(
    config: MattermostConfig, post: Post, bot: messages.ChannelMetadata
) -> messages.Event | None:
    """The event of a deleted post of somebody else."""
    post_id = text(post.body, "id")
    if not post_id or text(post.body, "user_id") == text(bot, "userId"):
        return None
    return contents.deletion(post_id)


def attached(
    config: MattermostConfig, target: MattermostTarget, callback_url: str, choices: Sequence[tuple[str, str]]
) -> dict[str, Any]:
    """The properties of a post with these buttons. The server sends the signed context of a button with its press; it
    shows it to nobody."""
    actions = []
    for number, (label, value) in enumerate(labelled(choices, LONGEST_LABEL), start=1):
        context = {"choice": value, "label": label, "channel": target.channel, "root": target.root}
        integration = {"url": callback_url, "context": {**context, "signature": _signature(config, context)}}
        action = {"id": f"choice{number}", "type": "button", "name": label, "integration": integration}
        actions.append(action)
    fallback = ", ".join(str(action["name"]) for action in actions)
    return {"attachments": [{"fallback": fallback, "actions": actions}]}


def _press(config: MattermostConfig, payload: Mapping[str, Any]) -> messages.Received:
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
    direct = _is_direct(payload)
    if not direct and not config.allows(channel):
        return calls.received("channel", answer=ACKNOWLEDGED)
    event = messages.Event(
        key=f"press:{trigger}" if trigger else None,
        session_id=session_of(channel, user, "" if direct else target.root),
        sender=_sender(payload),
        text=pressed_text(text(context, "label"), value),
        target=TARGET.dump(target),
        choice=value,
        is_direct=direct,
    )
    return calls.received(event, "action", ACKNOWLEDGED)


def _signature(config: MattermostConfig, context: object) -> str:
    signed = [_PURPOSE, *(text(context, name) for name in _SIGNED)]
    return calls.signature(config.token, json.dumps(signed).encode())
