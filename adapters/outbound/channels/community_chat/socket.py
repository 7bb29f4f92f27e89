"""A connection to a Mattermost server, which needs no public address.

Source: https://developers.mattermost.com/api-documentation/ (WebSocket) and the server's `websocket_message.go`.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from adapters.outbound.channels.common.bodies import at, frame_object, integer, text
from adapters.outbound.channels.common.reconnecting import Attempt, StatelessConnector, keep_connected
from adapters.outbound.net.urls import base_address, segment
from domain.channels.messages import ChannelMetadata, Event
from ports.capabilities import PlatformError, Registration
from ports.channels import ChannelDependencies
from ports.connections import Emit, LinkRecorder
from ports.http import ConnectionClosed, Handshake, HttpFailed
from ports.system import Clock

from .api import MattermostApi
from .config import SOCKET, MattermostConfig
from .webhook import Post, read_deletion, read_edit, read_post

log = logging.getLogger(__name__)

CURSOR_MS = 60_000
"""How far the stored cursor may lag behind posts that are not for the bot."""
OVERLAP_MS = 10_000
"""Posts that were made so shortly before the last one seen are read again: they may have come out of order."""
MISSED_MS = 24 * 3_600_000
"""Older posts that were missed are not answered any more."""
MOST_CHANNELS = 100
"""In so many channels posts that were missed are looked for, those with the latest posts first."""


_Read = Callable[[MattermostConfig, Post, ChannelMetadata], Event | None]
_READERS: Mapping[str, _Read] = {"posted": read_post, "post_edited": read_edit, "post_deleted": read_deletion}


class Socket(StatelessConnector):
    """Mattermost sends nothing again: what was posted while there was no connection is read by the next one."""

    def __init__(self, dependencies: ChannelDependencies, api: MattermostApi) -> None:
        self._dependencies = dependencies
        self._api = api

    def wants(self, config: MattermostConfig, registration: Registration) -> bool:
        return config.connection == SOCKET

    def note(self, config: MattermostConfig, registration: Registration) -> str:
        return "Posts come over a WebSocket of the Mattermost server, as connection is 'socket'"

    async def listen(
        self, instance_id: int, config: MattermostConfig, emit: Emit, recorder: LinkRecorder
    ) -> None:
        async def connect(attempt: Attempt) -> None:
            """One connection. Raises `PlatformError` when it breaks."""
            metadata = await self._api.fetch_metadata(config)
            address = base_address(config.server_url).replace("http", "ws", 1) + "/api/v4/websocket"
            challenge = {"seq": 1, "action": "authentication_challenge", "data": {"token": config.token}}
            try:
                async with self._dependencies.websockets.open(
                    Handshake(address, user_address=True)
                ) as socket:
                    reader = _Reader(config, emit, metadata, self._api, self._dependencies.clock)
                    await socket.send(orjson.dumps(challenge).decode())
                    while True:
                        frame = frame_object(await socket.receive())
                        if text(frame, "status") == "FAIL":
                            reason = text(frame, "error", "message") or "the token is not valid"
                            raise PlatformError(f"Mattermost: the WebSocket was refused: {reason}")
                        if text(frame, "event") == "hello":
                            attempt.greeted = True
                            await reader.catch_up()
                            await recorder.set_connected_since(self._dependencies.clock.now())
                        await reader.read(frame)
            except HttpFailed as failed:
                raise PlatformError(f"Mattermost: the WebSocket cannot be reached: {failed}") from None
            except ConnectionClosed as closed:
                raise PlatformError(f"Mattermost: the WebSocket broke: {closed}") from None

        await keep_connected(connect, instance_id, recorder)


@dataclass(slots=True)
class _Reader:
    """Reads the posts of one connection. `seen`: when the latest post was made by the server's clock, in milliseconds
    since 1970; `stored` is the cursor, `first` where the very first connection began; `sequence` is the number of the
    next event. `channels` are those of the bot by their ids: events of edits do not name it."""

    config: MattermostConfig
    emit: Emit
    metadata: ChannelMetadata
    api: MattermostApi
    clock: Clock
    seen: int = 0
    stored: int = 0
    first: int = 0
    sequence: int | None = None
    channels: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    async def read(self, frame: Mapping[str, Any]) -> None:
        """Raises `PlatformError` if events before this one are missing."""
        sequence = at(frame, "seq")
        if "event" in frame and isinstance(sequence, int):
            if self.sequence not in (None, sequence):
                raise PlatformError("Mattermost: the WebSocket lost events; what was missed is read anew.")
            self.sequence = sequence + 1
        if read := _READERS.get(text(frame, "event")):
            post = frame_object(text(frame, "data", "post"))
            channel_id = text(post, "channel_id")
            if name := text(frame, "data", "channel_name"):
                self.channels[channel_id] = {"name": name, "type": text(frame, "data", "channel_type")}
            channel = self.channels.get(channel_id, {})
            await self._take(Post(post, channel, text(frame, "data", "sender_name")), read)

    async def catch_up(self) -> None:
        """Reads what was posted since the last connection; nothing at the first one."""
        channels = await self.api.read_list(self.config, "/users/me/channels", "the bot's channels")
        self.channels = {text(channel, "id"): channel for channel in channels}
        cursor = await self.emit.cursor()
        since = integer(cursor or {}, "since")
        if since is None:
            self.first = max(map(_last_post_at, channels), default=0) + 1
            await self._store(self.first)
            return
        self.seen = self.stored = since
        self.first = integer(cursor, "first") or 0
        day_before = int(self.clock.now().timestamp() * 1000) - MISSED_MS
        missed = await self._missed(channels, max(since - OVERLAP_MS, self.first, day_before))
        for post in sorted(missed, key=lambda post: post.created_at):
            await self._take(post)

    async def _missed(self, channels: Sequence[Mapping[str, Any]], since: int) -> list[Post]:
        active = [channel for channel in channels if _last_post_at(channel) >= since]
        active.sort(key=_last_post_at, reverse=True)
        if len(active) > MOST_CHANNELS:
            log.warning("Mattermost: missed posts of %d channels are not read", len(active) - MOST_CHANNELS)
        missed = []
        for channel in active[:MOST_CHANNELS]:
            path = f"/channels/{segment(text(channel, 'id'))}/posts?since={since}"
            posts = at(await self.api.read(self.config, path, "a channel's posts"), "posts")
            posts = posts.values() if isinstance(posts, dict) else ()
            missed += [Post(post, channel) for post in posts if isinstance(post, dict)]
        return [post for post in missed if post.created_at >= since]

    async def _take(self, post: Post, read: _Read = read_post) -> None:
        event = read(self.config, post, self.metadata)
        self.seen = max(self.seen, post.created_at)
        if event is not None:
            await self._store(self.seen, event)
        elif self.seen - self.stored > CURSOR_MS:
            await self._store(self.seen)

    async def _store(self, since: int, *events: Event) -> None:
        self.seen = self.stored = since
        await self.emit.batch(events, {"since": since, "first": self.first})


def _last_post_at(channel: Mapping[str, Any]) -> int:
    return integer(channel, "last_post_at") or 0
