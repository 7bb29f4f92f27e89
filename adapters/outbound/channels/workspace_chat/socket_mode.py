"""A connection to Slack that needs no public address (https://docs.slack.dev/apis/events-api/using-socket-mode)."""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from adapters.outbound.channels.common import reconnecting
from adapters.outbound.channels.common.bodies import frame_object, text
from domain.channels.messages import ChannelMetadata, Received
from domain.refusals import Invalid
from ports.capabilities import PlatformError, Registration
from ports.channels import ChannelDependencies
from ports.connections import Emit, LinkRecorder
from ports.http import ConnectionClosed, Handshake, HttpFailed, WebSocket

from .api import WebApi, Workspace
from .config import SlackConfig
from .webhook import read_envelope

log = logging.getLogger(__name__)

DRAIN_SECONDS = 30.0
"""How long a connection is read after Slack asked for the next one."""
_TURNED_OFF = "link_disabled"


class SocketMode(reconnecting.StatelessConnector):
    """The next connection is open before Slack closes the last one, and Slack sends each event over one of them."""

    def __init__(self, dependencies: ChannelDependencies, api: WebApi, workspace: Workspace) -> None:
        self._dependencies = dependencies
        self._api = api
        self._workspace = workspace

    def wants(self, config: SlackConfig, registration: Registration) -> bool:
        return bool(config.app_token)

    def note(self, config: SlackConfig, registration: Registration) -> str:
        return "Events come over Socket Mode, a connection that the service keeps, as appToken is set"

    async def listen(self, instance_id: int, config: SlackConfig, emit: Emit, recorder: LinkRecorder) -> None:
        async def connect(attempt: reconnecting.Attempt) -> None:
            """One connection after the other. Raises `PlatformError` when the current one breaks."""
            metadata = await self._api.fetch_metadata(config)
            tasks: set[asyncio.Task[None]] = set()
            try:
                while True:
                    connection = _Connection(
                        self._dependencies, self._workspace, config, emit, recorder, attempt, metadata
                    )
                    address = await self._api.open_connection(config)
                    current = asyncio.create_task(connection.run(address))
                    tasks.add(current)
                    while not connection.replaced.is_set():
                        tasks = await _watched(tasks, current, connection.replaced)
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

        await reconnecting.keep_connected(connect, instance_id, recorder)


async def _watched(
    tasks: set[asyncio.Task[None]], current: asyncio.Task[None], replaced: asyncio.Event
) -> set[asyncio.Task[None]]:
    """Waits until a connection ends, or the current one is to be replaced, and returns those that go on. Raises what
    broke the current one, and what concerns this service in any of them."""
    waiting = asyncio.create_task(replaced.wait())
    try:
        done, going_on = await asyncio.wait({*tasks, waiting}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
    for task in done - {waiting}:
        failure = task.exception()
        is_expected = failure is None or isinstance(failure, PlatformError)
        if not is_expected or (task is current and not replaced.is_set()):
            raise failure or PlatformError("Slack: the Socket Mode connection ended.")
    return {task for task in tasks if task in going_on}


@dataclass(eq=False)
class _Connection:
    """`replaced`: Slack closes it soon, and the next one is to be opened."""

    dependencies: ChannelDependencies
    workspace: Workspace
    config: SlackConfig
    emit: Emit
    recorder: LinkRecorder
    attempt: reconnecting.Attempt
    metadata: ChannelMetadata
    replaced: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self, address: str) -> None:
        """Reads until the connection is closed. Raises `PlatformError`."""
        try:
            async with (
                asyncio.timeout(None) as limit,
                self.dependencies.websockets.open(Handshake(address)) as socket,
            ):
                while True:
                    await self._handle(socket, frame_object(await socket.receive()))
                    if self.replaced.is_set() and limit.when() is None:
                        limit.reschedule(asyncio.get_running_loop().time() + DRAIN_SECONDS)
        except HttpFailed as failed:
            raise PlatformError(f"Slack: Socket Mode cannot be reached: {failed}") from None
        except ConnectionClosed as closed:
            raise PlatformError(f"Slack: the Socket Mode connection broke: {closed}") from None
        except TimeoutError:
            raise PlatformError("Slack: the Socket Mode connection was replaced.") from None

    async def _handle(self, socket: WebSocket, frame: Mapping[str, Any]) -> None:
        match text(frame, "type"):
            case "hello":
                self.attempt.greeted = True
                await self.recorder.set_connected_since(self.dependencies.clock.now())
            case "disconnect" if text(frame, "reason") == _TURNED_OFF:
                raise reconnecting.Refused(
                    "Slack: Socket Mode is turned off for the app: turn it on, or remove appToken."
                )
            case "disconnect":
                self.replaced.set()
            case _ if envelope_id := text(frame, "envelope_id"):
                try:
                    now = self.dependencies.clock.now()
                    received = read_envelope(self.config, frame, self.metadata, now)
                except Invalid as reason:  # it is acknowledged: else it would come again and again
                    log.warning("Slack: an event of Socket Mode cannot be read: %s", reason)
                    received = Received(kind="ignored:invalid")
                for alias in received.session_aliases:
                    await self.emit.join(alias)
                for event in received.events:
                    await self.emit(await self.workspace.placed(self.config, event))
                acknowledged: dict[str, object] = {"envelope_id": envelope_id}
                if frame.get("accepts_response_payload") is True and received.answer.body:
                    acknowledged["payload"] = frame_object(received.answer.body)
                await socket.send(orjson.dumps(acknowledged).decode())
