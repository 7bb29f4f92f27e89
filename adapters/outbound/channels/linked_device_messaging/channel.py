"""WhatsApp as a linked device."""

from __future__ import annotations

import hashlib
import logging
import os
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

from adapters.outbound.channels.linked_device_messaging.definition import DEFINITION
from adapters.outbound.channels.linked_device_messaging.life import DeviceSession
from adapters.outbound.channels.linked_device_messaging.limits import limits
from adapters.outbound.rendering.model import Markup
from adapters.outbound.rendering.rendering import render
from domain.channels.limits import Limits
from domain.channels.messages import (
    Answer,
    Artifact,
    Attachment,
    Config,
    OutboundMessage,
    Outcome,
    Sent,
    Target,
)
from domain.channels.typed import RAW
from ports.capabilities import Emit, Pairing, PlatformError
from ports.channels import Channel, ChannelDependencies
from ports.linked_device import DeviceError, LinkedDevice, OutgoingFile
from ports.links import LinkRecorder

log = logging.getLogger(__name__)

PIECE = 64 * 1024
NO_DEVICE = "the account is not connected in this process"


class LinkedDeviceMessaging:
    """Connected, Pairs, Replies, Types, Fetches and Probed of `ports.channels`."""

    typing_seconds = 8.0
    """WhatsApp shows it for about ten seconds."""

    pairing_steps = (
        "Open WhatsApp on the phone, go to Settings > Linked devices > Link a device >"
        " Link with phone number instead, and enter the code."
    )

    def __init__(self, dependencies: ChannelDependencies) -> None:
        self._devices = dependencies.devices
        self._artifacts = dependencies.artifacts
        self._clock = dependencies.clock

    def lacks(self) -> str | None:
        return self._devices.missing()

    async def probe(self, config: Config) -> None:
        missing = self._devices.missing()
        if missing:
            raise PlatformError(missing)

    async def listen(self, instance_id: int, config: Config, emit: Emit, recorder: LinkRecorder) -> None:
        try:
            device = await self._devices.open(instance_id)
        except DeviceError as failure:
            await recorder.record_pairing_failure(str(failure))
            raise PlatformError(str(failure)) from failure
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
        except DeviceError as failure:
            log.warning(
                "the account may still list this device: %s", failure, extra={"instance": instance_id}
            )
        await self._devices.forget(instance_id)

    def render(self, config: Config, target: Target, answer: Answer) -> Sequence[OutboundMessage]:
        texts = render(Markup.WHATSAPP, answer.text, DEFINITION.text_limit) if answer.text.strip() else []
        parts = [OutboundMessage({"text": each.text}) for each in texts]
        return [*parts, *(OutboundMessage({"file": _as_payload(each)}) for each in answer.artifacts)]

    def limits(self, config: Config, target: Target) -> Limits:
        return limits(config, target)

    async def send(self, config: Config, target: Target, part: OutboundMessage, key: str) -> Sent:
        device = self._devices.running(int(target["instance"]))
        if device is None:
            return Sent(Outcome.TRANSIENT, NO_DEVICE)
        message_id = hashlib.sha256(key.encode()).hexdigest()[:32].upper()
        try:
            if "file" not in part.payload:
                ref = await device.send(str(target["chat"]), str(part.payload["text"]), None, message_id)
            else:
                ref = await self._send_file(device, str(target["chat"]), part.payload["file"], message_id)
        except DeviceError as failure:
            outcome = Outcome.TRANSIENT if failure.before_sending else Outcome.UNKNOWN
            return Sent(outcome, str(failure))
        return Sent(Outcome.SENT, ref=ref)

    async def typing(self, config: Config, target: Target) -> Sent | None:
        device = self._devices.running(int(target["instance"]))
        if device is None:
            return Sent(Outcome.TRANSIENT, NO_DEVICE)
        try:
            await device.typing(str(target["chat"]))
        except DeviceError as failure:
            return Sent(Outcome.TRANSIENT, str(failure))
        return Sent(Outcome.SENT)

    async def _send_file(
        self, device: LinkedDevice, chat: str, payload: Mapping[str, object], message_id: str
    ) -> str:
        artifact = Artifact(**payload)  # type: ignore[arg-type]
        with _Scratch() as path:
            with path.open("wb") as file:
                async for piece in self._artifacts.read(artifact):
                    file.write(piece)
            outgoing = OutgoingFile(path, artifact.name, artifact.mime_type)
            return await device.send(chat, "", outgoing, message_id)

    async def fetch(self, config: Config, attachment: Attachment) -> AsyncIterator[bytes]:
        device = self._devices.running(int(attachment.source["instance"]))
        if device is None:
            raise PlatformError(NO_DEVICE)
        with _Scratch() as path:
            try:
                await device.download(attachment.source["message"], path)
            except DeviceError as failure:
                raise PlatformError(str(failure)) from failure
            with path.open("rb") as file:
                while piece := file.read(PIECE):
                    yield piece


class _Scratch:
    """A file for the bytes that go between this process and the device's; removed in the end."""

    def __enter__(self) -> Path:
        handle, name = tempfile.mkstemp(prefix="switchboard-")
        os.close(handle)
        self._path = Path(name)
        return self._path

    def __exit__(self, *_: object) -> None:
        self._path.unlink(missing_ok=True)


def _as_payload(artifact: Artifact) -> dict[str, object]:
    return {
        "name": artifact.name,
        "mime_type": artifact.mime_type,
        "url": artifact.url,
        "blob": artifact.blob,
        "size": artifact.size,
    }


def build(dependencies: ChannelDependencies) -> Channel[Config, Target]:
    channel = LinkedDeviceMessaging(dependencies)
    return Channel(
        definition=DEFINITION,
        config=RAW,
        target=RAW,
        sender=channel,
        limits=channel,
        probe=channel,
        fetcher=channel,
        typing=channel,
        connector=channel,
        pairing=Pairing(channel.pairing_steps),
    )
