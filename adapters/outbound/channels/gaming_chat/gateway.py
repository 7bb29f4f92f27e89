"""A connection to Discord's gateway, where mentions and direct messages arrive.

https://docs.discord.com/developers/events/gateway
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import orjson

from adapters.outbound.channels.common import contents, reconnecting
from adapters.outbound.channels.common.bodies import at, frame_object, integer, text
from domain.channels.messages import Event
from ports.capabilities import PlatformError, Registration
from ports.channels import ChannelDependencies
from ports.connections import Emit, LinkRecorder
from ports.http import ConnectionClosed, Handshake, HttpFailed, WebSocket

from .api import DiscordApi
from .config import DiscordConfig
from .messages import READ_TIMEOUT, Threads, mentions, read_edit, read_message, read_reaction
from .webhook import ANSWERED_LATER, read_interaction

INTENTS = 1 << 9 | 1 << 12
"""Messages in servers and direct messages. The content of mentions and direct messages comes without the
privileged intent MESSAGE_CONTENT."""
MESSAGE_CONTENT = 1 << 15
"""The privileged intent for the content of other messages, and the flags of applications that may have it."""
_MAY_READ_CONTENT = 1 << 18 | 1 << 19
REACTION_INTENTS = 1 << 10 | 1 << 13
"""Reactions in servers and in direct messages."""
_FATAL = {
    4004: "the bot token is not valid",
    4010: "the shard is not valid",
    4011: "the bot is in so many servers that it needs shards",
    4012: "the API version is not valid",
    4013: "the intents are not valid",
    4014: "the intents are not allowed",
}
_NEW_SESSION = frozenset({1000, 1001, 4003, 4004, 4007, 4009, 4014})
_RESUMABLE = 4000
_HELLO_SECONDS = 30.0


class _Op(IntEnum):
    DISPATCH = 0
    HEARTBEAT = 1
    IDENTIFY = 2
    RESUME = 6
    RECONNECT = 7
    INVALID_SESSION = 9
    HELLO = 10
    ACKNOWLEDGED = 11


@dataclass(slots=True)
class _Session:
    """An instance at the gateway, and what is needed to resume where a connection broke off."""

    config: DiscordConfig
    emit: Emit
    recorder: LinkRecorder
    id: str = ""
    address: str = ""
    bot_id: str = ""
    sequence: int | None = None
    attempt: reconnecting.Attempt = field(default_factory=reconnecting.Attempt)

    def forget(self) -> None:
        """The next connection begins anew."""
        self.id = self.address = ""
        self.sequence = None


class Gateway(reconnecting.StatelessConnector):
    """One connection for each instance; where one broke off, the next resumes. Nothing outlasts `listen`."""

    def __init__(self, dependencies: ChannelDependencies, api: DiscordApi, threads: Threads) -> None:
        self._dependencies = dependencies
        self._api = api
        self._threads = threads

    def wants(self, config: DiscordConfig, registration: Registration) -> bool:
        return True

    def note(self, config: DiscordConfig, registration: Registration) -> str:
        return ""

    async def listen(
        self, instance_id: int, config: DiscordConfig, emit: Emit, recorder: LinkRecorder
    ) -> None:
        session = _Session(config, emit, recorder)

        async def connect(attempt: reconnecting.Attempt) -> None:
            """One connection. Raises `PlatformError` when it breaks; ends when Discord asks for a new one."""
            session.attempt = attempt
            address = session.address or text(await self._api.read(config, "/gateway/bot"), "url")
            handshake = Handshake(f"{address}/?v=10&encoding=json", heartbeat=None)
            try:
                async with self._dependencies.websockets.open(handshake) as socket:
                    await _Connection(self._dependencies, self._api, self._threads, socket, session).run()
            except HttpFailed as failed:
                session.address = ""
                raise PlatformError(f"Discord: the gateway cannot be reached: {failed}") from None
            except ConnectionClosed as closed:
                if closed.code in _NEW_SESSION:
                    session.forget()
                if closed.code in _FATAL:
                    raise reconnecting.Refused(
                        f"Discord: the gateway refuses the bot: {_FATAL[closed.code]}"
                    ) from None
                raise PlatformError(f"Discord: the gateway connection broke: {closed}") from None

        await reconnecting.keep_connected(connect, instance_id, recorder)


@dataclass(slots=True)
class _Connection:
    dependencies: ChannelDependencies
    api: DiscordApi
    threads: Threads
    socket: WebSocket
    session: _Session
    acknowledged: bool = True

    async def run(self) -> None:
        try:
            async with asyncio.timeout(_HELLO_SECONDS):
                hello = await self._receive()
        except TimeoutError:
            hello = {}
        interval = at(hello, "d", "heartbeat_interval")  # in milliseconds
        if at(hello, "op") != _Op.HELLO or not isinstance(interval, int | float) or interval <= 0:
            await self.socket.close()
            raise PlatformError("Discord: the gateway did not greet.")
        heartbeat = asyncio.create_task(self._heartbeat(interval / 1000))
        try:
            token = self.session.config.bot_token
            if self.session.id:
                data = {"token": token, "session_id": self.session.id, "seq": self.session.sequence}
                await self._send(_Op.RESUME, data)
            else:
                properties = {"os": "linux", "browser": "switchboard", "device": "switchboard"}
                identity = {"token": token, "intents": await self._intents(), "properties": properties}
                await self._send(_Op.IDENTIFY, identity)
            while await self._handle(await self._receive()):
                pass
        finally:
            heartbeat.cancel()
            (failure,) = await asyncio.gather(heartbeat, return_exceptions=True)
            await self.socket.close(code=_RESUMABLE)
        if isinstance(failure, Exception):
            raise failure

    async def _receive(self) -> Mapping[str, Any]:
        """The next frame. Raises `ConnectionClosed`."""
        return frame_object(await self.socket.receive())

    async def _intents(self) -> int:
        """Discord refuses a connection with the intent for the content of messages without a mention, unless the
        application may read it."""
        config = self.session.config
        intents = INTENTS | (REACTION_INTENTS if config.reactions else 0)
        if config.require_mention and not config.follow_threads:
            return intents
        try:
            application = await self.api.read(config, "/applications/@me", READ_TIMEOUT)
        except PlatformError:
            return intents
        may_read = (integer(application, "flags") or 0) & _MAY_READ_CONTENT
        return intents | (MESSAGE_CONTENT if may_read else 0)

    async def _heartbeat(self, seconds: float) -> None:
        """Runs until cancelled; a heartbeat without an answer closes a connection that is dead."""
        try:
            await asyncio.sleep(seconds * self.dependencies.ids.chance())
            while self.acknowledged:
                self.acknowledged = False
                await self._send(_Op.HEARTBEAT, self.session.sequence)
                await asyncio.sleep(seconds)
        finally:
            await self.socket.close(code=_RESUMABLE)

    async def _send(self, op: _Op, data: Any) -> None:
        await self.socket.send(orjson.dumps({"op": op, "d": data}).decode())

    async def _handle(self, frame: Mapping[str, Any]) -> bool:
        """Return False if the connection ends after this frame."""
        match at(frame, "op"):
            case _Op.DISPATCH:
                await self._dispatch(text(frame, "t"), at(frame, "d"))
                sequence = at(frame, "s")
                if isinstance(sequence, int):
                    self.session.sequence = sequence
            case _Op.HEARTBEAT:
                await self._send(_Op.HEARTBEAT, self.session.sequence)
            case _Op.ACKNOWLEDGED:
                self.acknowledged = True
            case _Op.RECONNECT:
                return False
            case _Op.INVALID_SESSION:
                if at(frame, "d") is not True:
                    self.session.forget()
                raise PlatformError("Discord: the gateway session is not valid any more.")
        return True

    async def _dispatch(self, name: str, data: Any) -> None:
        """Stores a message before its sequence counts as seen: one that is lost on the way comes again."""
        session, now = self.session, self.dependencies.clock.now()
        match name:
            case "READY" | "RESUMED":
                if name == "READY":
                    session.id = text(data, "session_id")
                    session.address = text(data, "resume_gateway_url")
                    session.bot_id = text(data, "user", "id")
                session.attempt.greeted = True
                await session.recorder.set_connected_since(now)
            case "INTERACTION_CREATE" if isinstance(data, dict):
                # They come here while the application has no Interactions Endpoint URL.
                interaction = read_interaction(session.config, data, now)
                for event in interaction.events:
                    await session.emit(event)
                if interaction.answer is ANSWERED_LATER:
                    return
                answer = frame_object(interaction.answer.body)
                await self.api.acknowledge(text(data, "id"), text(data, "token"), answer)
            case _:
                await self._take_message(name, data)

    async def _take_message(self, name: str, data: Any) -> None:
        """Stores a message, an edit, a deletion or a reaction that is for the bot."""
        config, bot_id = self.session.config, self.session.bot_id
        bot_ids = {config.application_id, bot_id}
        if name in ("MESSAGE_CREATE", "MESSAGE_UPDATE"):
            bot_ids |= await self.threads.own_roles(config, data, bot_id)
        event: Event | str = "other"
        match name:
            case "MESSAGE_CREATE":
                event = read_message(config, data, bot_ids)
            case "MESSAGE_UPDATE":
                event = read_edit(config, data, bot_ids)
            case "MESSAGE_REACTION_ADD" if config.reactions:
                event = read_reaction(data, bot_ids)
            case "MESSAGE_DELETE" if text(data, "id"):
                event = contents.deletion(text(data, "id"))
        if isinstance(event, Event):
            placed = await self.threads.placed(config, event)
            is_to_bot = name == "MESSAGE_CREATE" and mentions(data, bot_ids)
            if placed and (not placed.refused or is_to_bot):
                await self.session.emit(placed)
