"""Messages as Discord's gateway sends them (https://docs.discord.com/developers/resources/message), and the threads
where they stand, each a channel of its own (https://docs.discord.com/developers/topics/threads)."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from adapters.outbound.channels.common.bodies import at, first_text, items, size, text
from adapters.outbound.channels.common.contents import card_text, forwarded, moment, unreadable
from adapters.outbound.net.urls import segment
from domain.channels.answers import Author
from domain.channels.messages import Attachment, Change, Event, Identity, Quoted, Sender, ThreadMessage
from domain.channels.refused import BOT, CHANNEL
from ports.capabilities import PlatformError

from .api import DiscordApi
from .config import TARGET, DiscordConfig, DiscordTarget

GREETING = "Hello! Write your question behind my name, or send me a direct message."
_UNREADABLE = {"poll": "polls", "sticker_items": "stickers", "activity": "invitations"}
"""Parts of messages that people send without text, and how a notice calls them."""
_BY_PEOPLE = (None, 0, 19)
"""Types of messages that a person wrote: ordinary ones and replies."""
_MENTION = re.compile(r"<@!?(\d+)>(?P<after>[,:]?[ \t]*)")
_ROLE = re.compile(r"<@&\d+>[,:]?[ \t]*")
_EMOJI = re.compile(r"<a?(:\w+:)\d+>")
_THREADS = (10, 11, 12)
"""Types of channels that are threads: of announcements, public and private ones."""
_WITH_THREADS = (0, 5)
"""Types of channels in which a message may begin a thread."""
_STARTER = 21
"""The type of the first message of a thread that began with a message of the channel, which it refers to."""
MOST_PLACES = 10_000
READ_TIMEOUT = 5.0

log = logging.getLogger(__name__)


def read_message(config: DiscordConfig, message: Any, bot_ids: Collection[str]) -> Event | str:
    """The event of a mention, of a direct message or of one of a thread, or the reason why it is ignored. `bot_ids`:
    the ids of the bot and of the roles that are its own."""
    sender = sender_of(at(message, "author"), at(message, "member"))
    if sender is None or not text(message, "channel_id") or not isinstance(message, dict):
        return "incomplete"
    mentioned = mentions(message, bot_ids)
    if reason := _ignored(message, sender, bot_ids, mentioned):
        return reason
    addressed = mentioned or not text(message, "guild_id")
    only_followed = not addressed and config.require_mention
    if only_followed and not config.follow_threads:
        return "not-addressed"
    event = _event(message, sender, bot_ids, only_followed)
    if not (addressed or event.has_content or event.quoted):  # without the intent, Discord hides the content
        return "empty"
    return event


def _ignored(message: Mapping[str, Any], sender: Sender, bot_ids: Collection[str], mentioned: bool) -> str:
    """Why nobody answers the message, empty for one of a person and for one of another bot that mentions this one."""
    if _is_by_bot(message, sender, bot_ids):
        return "" if mentioned and sender.external_id not in bot_ids else BOT
    return "" if at(message, "type") in _BY_PEOPLE else "system"


def _is_by_bot(message: Mapping[str, Any], sender: Sender, bot_ids: Collection[str]) -> bool:
    is_bot = at(message, "author", "bot") is True
    return is_bot or bool(text(message, "webhook_id")) or sender.external_id in bot_ids


def _event(
    message: Mapping[str, Any], sender: Sender, bot_ids: Collection[str], only_followed: bool
) -> Event:
    channel, message_id = text(message, "channel_id"), text(message, "id")
    content, quoted = content_of(message, bot_ids), _quoted(message, bot_ids)
    direct = not text(message, "guild_id")
    # Of a forwarded message Discord names the time alone.
    written_at = [text(snapshot, "message", "timestamp") for snapshot in items(message, "message_snapshots")]
    return Event(
        key=message_id or None,
        session_id=session_of(channel, sender.external_id),
        sender=sender,
        text=content.text,
        target=TARGET.dump(DiscordTarget(channel_id=channel, reply_to="" if direct else message_id)),
        attachments=content.attachments,
        canned_reply=None if content.is_given or quoted else _notice(message),
        ids=(message_id,) if message_id else (),
        is_direct=direct,
        message_id=message_id,
        quoted=quoted,
        only_followed=only_followed,
        refused=BOT if _is_by_bot(message, sender, bot_ids) else "",
        context={
            **(forwarded("", written_at[0]) if written_at else {}),
            "platform": {"serverId": text(message, "guild_id")},
        },
    )


def _notice(message: Mapping[str, Any]) -> str:
    snapshots = [at(snapshot, "message") for snapshot in items(message, "message_snapshots")]
    parts = (part for part in _UNREADABLE if any(at(source, part) for source in (message, *snapshots)))
    if kind := next((_UNREADABLE[part] for part in parts), ""):
        return unreadable(kind)
    return unreadable() if snapshots else GREETING


def _quoted(message: Mapping[str, Any], bot_ids: Collection[str]) -> Quoted | None:
    """The message that was replied to; else one that was forwarded, of which Discord does not tell the author."""
    original = at(message, "referenced_message")
    forwarded = next((at(snapshot, "message") for snapshot in items(message, "message_snapshots")), None)
    content = content_of(original or forwarded, bot_ids)
    return content if content.is_given else None


def content_of(message: Any, bot_ids: Collection[str]) -> Quoted:
    """A message as a person reads it. What a person wrote has no cards but previews of its links."""
    author = at(message, "author")
    author_id = text(author, "id")
    is_of_program = not author_id or (at(author, "bot") is True and author_id not in bot_ids)
    cards = card_text([at(message, "embeds"), at(message, "components")]) if is_of_program else ""
    name = first_text(author, "global_name", "username", "id")
    names = {text(user, "id"): text(user, "username") for user in items(message, "mentions")}
    files = tuple(filter(None, (attachment_of(file) for file in items(message, "attachments"))))
    written = plain("\n".join(filter(None, (text(message, "content"), cards))), names, bot_ids)
    return Quoted(written, Author.RESOURCE if author_id in bot_ids else name, files)


def read_edit(config: DiscordConfig, message: Any, bot_ids: Collection[str]) -> Event | str:
    """The event of an edited message. Updates without the time of an edit are previews of links and the like."""
    edited_at = text(message, "edited_timestamp")
    event = read_message(config, message, bot_ids) if edited_at else "preview"
    if isinstance(event, str):
        return event
    if event.refused:
        return event.refused
    return replace(event, key=f"{event.message_id}:{edited_at}", change=Change.EDITED)


def sender_of(user: Any, member: Any) -> Sender | None:
    """The person; in a server by the nickname there."""
    user_id = text(user, "id")
    if not user_id:
        return None
    name = text(member, "nick") or first_text(user, "global_name", "username")
    return Sender(user_id, name, (Identity("gaming-chat", user_id),))


def session_of(channel: str, person: str) -> str:
    """What a person says to the bot in a channel; without a person, what the bot says there first."""
    return f"{channel}:{person}" if person else channel


def mentions(message: Any, bot_ids: Collection[str]) -> bool:
    mentioned = {text(user, "id") for user in items(message, "mentions")}
    mentioned |= {role for role in items(message, "mention_roles") if isinstance(role, str)}
    mentioned |= {mention[1] for mention in _MENTION.finditer(text(message, "content"))}
    return any(bot_id in mentioned for bot_id in bot_ids if bot_id)


def plain(content: str, names: Mapping[str, str], bot_ids: Collection[str]) -> str:
    """The text without mentions of the bot, with the names of other people.

    Other spaces stay, as they may be the indentation of code.
    """

    def named(mention: re.Match[str]) -> str:
        name = "" if mention[1] in bot_ids else names.get(mention[1], "")
        return f"@{name}{mention['after']}" if name else ""

    return _EMOJI.sub(r"\1", _ROLE.sub("", _MENTION.sub(named, content))).strip()


def attachment_of(file: Any) -> Attachment | None:
    """A file; its address on Discord's CDN is signed and needs no token."""
    address = text(file, "url")
    if not address:
        return None
    return Attachment(
        name=text(file, "filename") or "file",
        mime_type=text(file, "content_type").partition(";")[0] or "application/octet-stream",
        source={"url": address},
        size=size(file, "size"),
        is_voice=isinstance(file, dict) and "waveform" in file,
    )


def read_reaction(data: Any, bot_ids: Collection[str]) -> Event | str:
    """The event of a person's reaction to a message of the bot."""
    channel, message_id = text(data, "channel_id"), text(data, "message_id")
    emoji = text(data, "emoji", "name")
    member = at(data, "member")
    user = at(member, "user") or {"id": text(data, "user_id")}
    sender = sender_of(user, member)
    if not (channel and message_id and emoji) or sender is None:
        return "incomplete"
    if sender.external_id in bot_ids or text(data, "message_author_id") not in bot_ids:
        return "reaction"
    return Event(
        key=f"{message_id}:{sender.external_id}:{emoji}",
        session_id=session_of(channel, sender.external_id),
        sender=sender,
        text="",
        target=TARGET.dump(DiscordTarget(channel_id=channel)),
        reaction=f":{emoji}:" if text(data, "emoji", "id") else emoji,
        reacted_ref=message_id,
        is_direct=not text(data, "guild_id"),
    )


@dataclass(frozen=True, slots=True)
class Place:
    """A channel of a server; `type` is -1 if it is unknown. `parent` is that of a thread."""

    type: int = -1
    parent: str = ""
    name: str = ""

    @property
    def is_thread(self) -> bool:
        return self.type in _THREADS

    @classmethod
    def of(cls, channel: object) -> Place:
        kind = at(channel, "type")
        return cls(kind if isinstance(kind, int) else -1, text(channel, "parent_id"), text(channel, "name"))


class Threads:
    """Remembers of each channel what it is and of each role whether it is the bot's own: messages do not say so."""

    def __init__(self, api: DiscordApi) -> None:
        self._api = api
        self._places: dict[str, Place] = {}
        self._roles: dict[str, bool] = {}

    async def placed(self, config: DiscordConfig, event: Event) -> Event | None:
        """A message of a server with the session of its place, refused if the bot may not answer there. None for one
        outside of threads that is not for the bot."""
        if event.is_direct or not event.session_id:
            return event
        channel = text(event.target, "channel_id")
        place = self._places.get(channel)
        if place is None:
            try:
                place = Place.of(await self._api.read(config, f"/channels/{segment(channel)}", READ_TIMEOUT))
            except PlatformError as error:
                log.info("a channel is taken for no thread: %s", error)
                return _in_place(config, event, Place())
            if len(self._places) >= MOST_PLACES:
                self._places.clear()
            self._places[channel] = place
        return _in_place(config, event, place)

    async def read_thread(
        self, config: DiscordConfig, target: DiscordTarget, before: str, most: int
    ) -> Sequence[ThreadMessage]:
        path = f"/channels/{segment(target.channel_id)}/messages?before={segment(before)}&limit={most}"
        earlier = []
        for message in reversed(await self._api.read_list(config, path, READ_TIMEOUT)):
            is_starter = at(message, "type") == _STARTER
            written = at(message, "referenced_message") if is_starter else message
            content = content_of(written, {config.application_id})
            written_at = moment(text(written, "timestamp"))
            if written_at and content.text:
                earlier.append(ThreadMessage(content.text, content.author, written_at))
        return earlier

    async def own_roles(self, config: DiscordConfig, message: Any, bot_id: str) -> set[str]:
        """Of the roles that a message mentions those that Discord made for the bot when it was added to the server:
        people mention them as they mention the bot (https://docs.discord.com/developers/topics/permissions#role-object).
        """
        guild, mentioned = text(message, "guild_id"), items(message, "mention_roles")
        roles = [role for role in mentioned if isinstance(role, str)]
        unknown = [role for role in roles if role not in self._roles]
        if guild and unknown:
            try:
                listed = await self._api.read_list(config, f"/guilds/{segment(guild)}/roles", READ_TIMEOUT)
            except PlatformError as error:
                log.info("a mentioned role is taken for no role of the bot: %s", error)
                return set()
            if len(self._roles) >= MOST_PLACES:
                self._roles.clear()
            bots = {config.application_id, bot_id} - {""}
            own = {text(role, "id") for role in listed if text(role, "tags", "bot_id") in bots}
            self._roles.update((role, role in own) for role in (*unknown, *own))
        return {role for role in roles if self._roles.get(role)}


def of_forwarder(config: DiscordConfig, event: Event) -> Event | str:
    """A message of which nobody asks Discord where it was posted."""
    if not event.is_direct and not config.allows(text(event.target, "channel_id")):
        return replace(event, refused=event.refused or CHANNEL)
    return "not-addressed" if event.only_followed else event


def of_interaction(config: DiscordConfig, body: Any, event: Event) -> Event:
    """The event of a command or of a press with the session of its place, which Discord tells."""
    if event.is_direct:
        return event
    place = Place.of(at(body, "channel"))
    platform = cast(Mapping[str, object], event.context.get("platform", {}))
    platform = {"serverId": text(body, "guild_id"), **platform}
    event = replace(event, context={**event.context, "platform": platform})
    placed = _in_place(replace(config, reply_in_thread=False), event, place) or event
    return replace(placed, thread_post="")


def _in_place(config: DiscordConfig, event: Event, place: Place) -> Event | None:
    channel = text(event.target, "channel_id")
    if not config.allows(channel, place.parent):
        return replace(event, refused=event.refused or CHANNEL)
    event = replace(event, context={**event.context, "group": {"id": channel, "name": place.name}})
    if place.is_thread:
        session_id = channel if config.follow_threads else event.session_id
        return replace(event, session_id=session_id, thread_post=event.message_id)
    if event.only_followed:
        return None
    if config.reply_in_thread and place.type in _WITH_THREADS and event.message_id:
        name = f"Answer to {event.sender.display_name}"[:100]
        target = TARGET.dump(DiscordTarget(thread_of=event.message_id, thread_name=name))
        return replace(event, session_id=event.message_id, target={**event.target, **target})
    return event
