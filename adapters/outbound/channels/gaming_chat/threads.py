"""Threads of Discord, each of which is a channel of its own (https://docs.discord.com/developers/topics/threads)."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from adapters.outbound.channels.common.bodies import at, items, text
from adapters.outbound.http.paths import segment
from domain.channels.messages import Event, ThreadMessage
from domain.channels.refused import CHANNEL
from ports.capabilities import PlatformError

from .api import DiscordApi
from .config import TARGET, DiscordConfig, DiscordTarget
from .messages import content_of

log = logging.getLogger(__name__)

_THREADS = (10, 11, 12)
"""Types of channels that are threads: of announcements, public and private ones."""
_WITH_THREADS = (0, 5)
"""Types of channels in which a message may begin a thread."""
_STARTER = 21
"""The type of the first message of a thread that began with a message of the channel, which it refers to."""
MOST_PLACES = 10_000
READ_TIMEOUT = 5.0


@dataclass(frozen=True, slots=True)
class Place:
    """A channel of a server, of an unknown type where Discord does not tell it. `parent` is that of a thread."""

    type: int = -1
    parent: str = ""
    name: str = ""

    @property
    def is_thread(self) -> bool:
        return self.type in _THREADS


class Threads:
    """Remembers of each channel what it is and of each role whether it is the bot's own, as messages do not tell."""

    def __init__(self, api: DiscordApi) -> None:
        self._api = api
        self._places: dict[str, Place] = {}
        self._roles: dict[str, bool] = {}

    async def placed(self, config: DiscordConfig, event: Event) -> Event | None:
        """A message of a server with the session of its place, refused where the bot may not answer. None for one
        outside of threads that is not for the bot."""
        if event.is_direct or not event.session_id:
            return event
        place = await self._place(config, text(event.target, "channel_id"))
        return _in_place(config, event, place)

    async def read_thread(
        self, config: DiscordConfig, target: DiscordTarget, before: str, most: int
    ) -> Sequence[ThreadMessage]:
        path = f"/channels/{segment(target.channel_id)}/messages?before={segment(before)}&limit={most}"
        messages = await self._api.read_list(config, path, READ_TIMEOUT)
        earlier = (_earlier(config, message) for message in reversed(messages))
        return [message for message in earlier if message]

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

    async def _place(self, config: DiscordConfig, channel: str) -> Place:
        if place := self._places.get(channel):
            return place
        try:
            found = await self._api.read(config, f"/channels/{segment(channel)}", READ_TIMEOUT)
        except PlatformError as error:
            log.info("a channel is taken for no thread: %s", error)
            return Place()
        if len(self._places) >= MOST_PLACES:
            self._places.clear()
        kind = at(found, "type")
        place = Place(kind if isinstance(kind, int) else -1, text(found, "parent_id"), text(found, "name"))
        self._places[channel] = place
        return place


def of_forwarder(config: DiscordConfig, event: Event) -> Event | str:
    """A message of which nobody asks Discord where it was posted."""
    if not event.is_direct and not config.allows(text(event.target, "channel_id")):
        return replace(event, refused=event.refused or CHANNEL)
    return "not-addressed" if event.only_followed else event


def of_interaction(config: DiscordConfig, body: Any, event: Event) -> Event:
    """The event of a command or of a press with the session of its place, which Discord tells."""
    kind = at(body, "channel", "type")
    channel = at(body, "channel")
    place = Place(kind if isinstance(kind, int) else -1, text(channel, "parent_id"), text(channel, "name"))
    if event.is_direct:
        return event
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


def _earlier(config: DiscordConfig, message: Any) -> ThreadMessage | None:
    if at(message, "type") == _STARTER:
        message = at(message, "referenced_message")
    content = content_of(message, {config.application_id})
    try:
        written_at = datetime.fromisoformat(text(message, "timestamp"))
    except ValueError:
        return None
    is_message = content.text and written_at.tzinfo is not None
    return ThreadMessage(content.text, content.author, written_at) if is_message else None
