"""A linked device that follows a script, and a recorder that remembers."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from adapters.outbound.channels.linked_device_messaging.device import DeviceError, DeviceEvent, OutgoingFile


class ScriptedDevice:
    """Does what a test says; `did` is what was asked of it, in order."""

    def __init__(self) -> None:
        self.did: list[str] = []
        self.sent: list[tuple[str, str, str | None, bytes | None]] = []
        self.happenings: asyncio.Queue[DeviceEvent | None] = asyncio.Queue()
        self.codes = ["AAAA-1111", "BBBB-2222", "CCCC-3333"]
        self.failure: DeviceError | None = None
        self.hangs = False
        self.media: dict[str, bytes] = {}

    def happen(self, *events: DeviceEvent | None) -> None:
        for event in events:
            self.happenings.put_nowait(event)

    def _do(self, action: str) -> None:
        self.did.append(action)
        if self.failure is not None:
            raise self.failure

    async def connect(self) -> None:
        self._do("connect")

    async def pair(self, phone: str) -> str:
        self._do(f"pair {phone}")
        if self.hangs:
            await asyncio.Event().wait()
        return self.codes.pop(0)

    async def logout(self) -> None:
        self._do("logout")

    async def send(self, chat: str, text: str, file: OutgoingFile | None = None) -> str:
        self._do("send")
        content = file.path.read_bytes() if file else None
        self.sent.append((chat, text, file.mime_type if file else None, content))
        return f"MSG{len(self.sent)}"

    async def typing(self, chat: str) -> None:
        self._do(f"typing {chat}")

    async def download(self, ref: Mapping[str, Any], to: Path) -> None:
        self._do("download")
        to.write_bytes(self.media[ref["message"]])

    async def events(self) -> AsyncIterator[DeviceEvent]:
        while (event := await self.happenings.get()) is not None:
            yield event

    async def close(self) -> None:
        self.did.append("close")


class ScriptedDevices:
    """Gives out one device."""

    def __init__(self, device: ScriptedDevice, lack: str | None = None) -> None:
        self.device = device
        self.lack = lack
        self.opened: list[int] = []
        self.forgotten: list[int] = []
        self.states: list[int] = []

    def missing(self) -> str | None:
        return self.lack

    async def open(self, instance_id: int) -> ScriptedDevice:
        if self.lack:
            raise DeviceError(self.lack, before_sending=True)
        self.opened.append(instance_id)
        return self.device

    def running(self, instance_id: int) -> ScriptedDevice | None:
        return self.device if instance_id in self.opened else None

    async def stored(self) -> list[int]:
        return self.states

    async def forget(self, instance_id: int) -> None:
        self.forgotten.append(instance_id)


class Recorder:
    """Remembers what a link did."""

    def __init__(self, status: str | None = None) -> None:
        self.statuses: list[str] = []
        self.codes: list[str | None] = []
        self.reasons: list[str] = []
        self.ups: list[bool] = []
        self.wanted: asyncio.Queue[None] = asyncio.Queue()
        self._stored = status

    async def status(self) -> str | None:
        return self._stored

    async def set_status(self, status: str) -> None:
        self.statuses.append(status)

    async def record_code(self, code: str | None) -> None:
        self.codes.append(code)

    async def record_pairing_failure(self, reason: str) -> None:
        self.reasons.append(reason)

    async def set_connected_since(self, since: datetime | None) -> None:
        self.ups.append(since is not None)

    async def wait_for_code_request(self) -> None:
        await self.wanted.get()
