"""Posts of a Mattermost server, as its WebSocket and its API give them. Pure.

Source: https://developers.mattermost.com/api-documentation/ (posts)
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from adapters.outbound.channels.common.bodies import at, integer, items, text
from adapters.outbound.channels.community_chat.config import MattermostConfig
from adapters.outbound.channels.community_chat.webhook import files_of, mention_of, read_message, shown_in
from domain.channels.messages import Change, ChannelMetadata, Event, Quoted, Sender
from domain.channels.refused import BOT

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
