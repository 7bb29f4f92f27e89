"""The linked-device-messaging channel: WhatsApp as a linked device."""

import logging
import os
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from adapters.outbound.channels.common.addresses import PHONE, PHONE_EXAMPLE, NoDefaultAddress, read_address
from adapters.outbound.channels.common.bodies import at
from adapters.outbound.rendering import Markup, render
from domain.channels.answers import Answer, Artifact, OutboundMessage
from domain.channels.limits import Limits
from domain.channels.messages import Attachment, Outcome, Sent
from domain.channels.model import Proof
from domain.channels.refused import NUMBER
from ports.capabilities import Opened, OpenRequest, PlatformError, Registration
from ports.channels import Channel, ChannelDependencies
from ports.connections import Emit, LinkRecorder, Pairing

from .config import CONFIG, DEFINITION, TARGET, TEXT_LIMIT, DeviceConfig, DeviceTarget
from .device import ChildDevice, ChildDevices, DeviceError, OutgoingFile
from .session import DeviceSession, LinkStatus

_SERVER = "s.whatsapp.net"
"""Of the chats with one person."""


log = logging.getLogger(__name__)

PIECE = 64 * 1024
MAX_CONCURRENCY = 4
"""Our choice: all messages of an account go over one connection, and WhatsApp publishes no limits."""
NO_DEVICE = "the account is not connected in this process"
PAIRING_STEPS = (
    "Open WhatsApp on the phone, go to Settings > Linked devices > Link a device >"
    " Link with phone number instead, and enter the code."
)


class LinkedDeviceMessaging(NoDefaultAddress):
    typing_seconds = 8.0
    """WhatsApp shows it for about ten seconds."""
    address = PHONE_EXAMPLE

    def __init__(self, dependencies: ChannelDependencies, devices: ChildDevices) -> None:
        self._devices = devices
        self._artifacts = dependencies.artifacts
        self._clock = dependencies.clock

    async def open(self, config: DeviceConfig, request: OpenRequest) -> Opened[DeviceTarget]:
        """The session is the phone number in digits, as that of the messages that come from there."""
        phone = read_address(PHONE, request.to, self.address)[0].removeprefix("+")
        return Opened(phone, DeviceTarget(instance=request.instance_id, chat=f"{phone}@{_SERVER}"))

    def lacks(self) -> str | None:
        return self._devices.missing()

    def wants(self, config: DeviceConfig, registration: Registration) -> bool:
        return True

    def note(self, config: DeviceConfig, registration: Registration) -> str:
        return ""

    async def probe(self, config: DeviceConfig) -> None:
        if missing := self._devices.missing():
            raise PlatformError(missing)

    async def listen(
        self, instance_id: int, config: DeviceConfig, emit: Emit, recorder: LinkRecorder
    ) -> None:
        try:
            device = await self._devices.open(instance_id)
        except DeviceError as error:
            await recorder.record_pairing_failure(str(error))
            raise PlatformError(str(error)) from error
        try:
            await DeviceSession(device, instance_id, config, emit, recorder, self._clock).run()
        finally:
            await device.close()

    async def stored(self) -> Sequence[int]:
        return await self._devices.stored()

    async def unlink(self, instance_id: int) -> None:
        if self._devices.missing():
            return
        try:
            device = await self._devices.open(instance_id)
            try:
                await device.logout()
            finally:
                await device.close()
        except DeviceError as error:
            log.warning("the account may still list this device: %s", error, extra={"instance": instance_id})
        await self._devices.forget(instance_id)

    def render(self, config: DeviceConfig, target: DeviceTarget, answer: Answer) -> Sequence[OutboundMessage]:
        texts = render(Markup.WHATSAPP, answer.text, TEXT_LIMIT)
        files = [OutboundMessage({"file": asdict(artifact)}) for artifact in answer.artifacts]
        return [*(OutboundMessage({"text": piece.text}) for piece in texts), *files]

    def limits(self, config: DeviceConfig, target: DeviceTarget) -> Limits:
        return Limits(config.phone_number, target.chat, max_concurrency=MAX_CONCURRENCY)

    async def send(
        self, config: DeviceConfig, target: DeviceTarget, message: OutboundMessage, key: str
    ) -> Sent:
        try:
            device = self._device(target.instance)
            if not (payload := at(message.payload, "file")):
                return Sent(Outcome.SENT, ref=await device.send(target.chat, str(message.payload["text"])))
            artifact = Artifact(**payload)
            with _temporary_file() as path:
                with path.open("wb") as file:
                    async for piece in self._artifacts.read(artifact):
                        file.write(piece)
                outgoing = OutgoingFile(path, artifact.name, artifact.mime_type)
                return Sent(Outcome.SENT, ref=await device.send(target.chat, "", outgoing))
        except DeviceError as error:
            return Sent(Outcome.TRANSIENT if error.before_sending else Outcome.UNKNOWN, str(error))

    def _device(self, instance_id: int) -> ChildDevice:
        device = self._devices.running(instance_id)
        if device is None:
            raise DeviceError(NO_DEVICE, before_sending=True)
        return device

    async def typing(self, config: DeviceConfig, target: DeviceTarget) -> Sent:
        try:
            await self._device(target.instance).typing(target.chat)
        except DeviceError as error:
            return Sent(Outcome.TRANSIENT, str(error))
        return Sent(Outcome.SENT)

    async def fetch(self, config: DeviceConfig, attachment: Attachment) -> AsyncIterator[bytes]:
        source = attachment.source
        with _temporary_file() as path:
            try:
                await self._device(int(at(source, "instance"))).download(at(source, "message"), path)
            except DeviceError as error:
                raise PlatformError(str(error)) from error
            with path.open("rb") as file:
                while piece := file.read(PIECE):
                    yield piece


@contextmanager
def _temporary_file() -> Iterator[Path]:
    """A file for bytes between this process and the device's; removed in the end."""
    handle, name = tempfile.mkstemp(prefix="switchboard-")
    os.close(handle)
    try:
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


def build(
    dependencies: ChannelDependencies, devices: ChildDevices | None = None
) -> Channel[DeviceConfig, DeviceTarget]:
    devices = devices or ChildDevices(dependencies.data_folder / "linked-devices")
    channel = LinkedDeviceMessaging(dependencies, devices)
    return Channel(
        definition=DEFINITION,
        config=CONFIG,
        target=TARGET,
        sender=channel,
        opener=channel,
        limits=channel,
        typing=channel,
        fetcher=channel,
        probe=channel,
        connector=channel,
        connection_proof=Proof.PLATFORM,
        refusals=(NUMBER,),
        pairing=Pairing(PAIRING_STEPS, "waStatus", LinkStatus.PAIRING.value),
    )
