"""Runs one linked device from its first connection to the end of the lease.

Its messages become events.
"""

import asyncio
import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from adapters.outbound.channels.common.contents import unreadable
from domain.channels.answers import Author
from domain.channels.messages import Attachment, Event, Identity, Merge, Quoted, Sender
from domain.channels.refused import NUMBER
from ports.connections import Emit, LinkRecorder
from ports.system import Clock

from .config import TARGET, DeviceConfig, DeviceTarget
from .device import ChildDevice, DeviceError, DeviceEvent, Dropped, Incoming, Linked, LoggedOut, Unlinked

log = logging.getLogger(__name__)

PAIRING_WAIT = 20.0
"""Seconds that a pairing request waits for its code."""
RECONNECT_AFTER = 3.0
"""Seconds before a dropped connection is made again."""


class LinkStatus(StrEnum):
    """config.waStatus."""

    PAIRING = "pairing"
    CONNECTED = "connected"
    LOGGED_OUT = "logged_out"


@dataclass(slots=True)
class DeviceSession:
    device: ChildDevice
    instance_id: int
    config: DeviceConfig
    emit: Emit
    recorder: LinkRecorder
    clock: Clock
    reconnect_after: float = RECONNECT_AFTER
    pairing_wait: float = PAIRING_WAIT
    _status: LinkStatus = LinkStatus.PAIRING
    _wants_code: bool = False
    _has_code: bool = False
    """True if a code was made over the present connection; the next one needs another."""
    _connected_at: float = 0.0
    _transition: asyncio.Lock = field(default_factory=asyncio.Lock)
    _connect_failed: asyncio.Event = field(default_factory=asyncio.Event)
    """The connection could not even be started: no event will tell of its end."""

    async def run(self) -> None:
        """Runs until it is cancelled, or the device ends."""
        stored = await self.recorder.status()
        self._status = LinkStatus(stored) if stored else LinkStatus.PAIRING
        self._wants_code = self._status is not LinkStatus.CONNECTED
        if stored is None:
            await self._set_status(LinkStatus.PAIRING)
        self._connected_at = self.clock.now().timestamp()

        async def handle_code_requests() -> None:
            """A code that is requested for a linked account replaces its session."""
            while True:
                await self.recorder.wait_for_code_request()
                async with self._transition:
                    if self._status is LinkStatus.CONNECTED:
                        await self._link_anew()
                    else:
                        await self._set_status(self._status)
                        await self._request_code()

        async def retry_connecting() -> None:
            while True:
                await self._connect_failed.wait()
                await asyncio.sleep(self.reconnect_after)
                self._connect_failed.clear()
                async with self._transition:
                    await self._connect()

        async with asyncio.TaskGroup() as group:
            background = [group.create_task(handle_code_requests()), group.create_task(retry_connecting())]
            await self._connect()
            async for event in self.device.events():
                async with self._transition:
                    await self._on(event)
            for task in background:
                task.cancel()

    async def _on(self, event: DeviceEvent) -> None:
        match event:
            case Incoming():
                reason = ignored_for(self.config, event, self._connected_at)
                if reason is None or (reason == NUMBER and not event.is_group):
                    received = event_of(self.instance_id, event, self.config.phone_number)
                    await self.emit(replace(received, refused=reason or ""))
                if reason == NUMBER:
                    sender = masked(event.sender_ids[0]) if event.sender_ids else "?"
                    log.info("a sender is not allowed: %s", sender, extra={"instance": self.instance_id})
            case Linked():
                now = self.clock.now()
                self._connected_at = now.timestamp()
                await self.recorder.set_connected_since(now)
                await self._set_status(LinkStatus.CONNECTED)
                self._wants_code = False
                await self.recorder.record_code(None)
            case Unlinked():
                if self._wants_code and not self._has_code:
                    await self._request_code()
            case LoggedOut():
                await self._link_anew()
            case Dropped(reason):
                log.info("the connection dropped: %s", reason, extra={"instance": self.instance_id})
                await self.recorder.set_connected_since(None)
                await self._set_status(self._status)
                await asyncio.sleep(self.reconnect_after)
                await self._connect()

    async def _set_status(self, status: LinkStatus) -> None:
        self._status = status
        await self.recorder.set_status(status)

    async def _link_anew(self) -> None:
        """Clears the stored state, and requests a code for a new link."""
        await self._set_status(LinkStatus.LOGGED_OUT)
        self._has_code = False
        await self.recorder.set_connected_since(None)
        try:
            await self.device.logout()
        except DeviceError as error:
            log.warning("clearing failed: %s", error, extra={"instance": self.instance_id})
        await self._request_code()

    async def _connect(self) -> None:
        self._has_code = False
        try:
            await self.device.connect()
        except DeviceError as error:
            log.warning("connecting failed: %s", error, extra={"instance": self.instance_id})
            self._connect_failed.set()
            if self._wants_code:
                await self.recorder.record_pairing_failure(str(error))

    async def _request_code(self) -> None:
        self._wants_code = True
        try:
            async with asyncio.timeout(self.pairing_wait):
                code = await self.device.pair(self.config.phone_number)
        except TimeoutError:
            reason = f"no pairing code came within {self.pairing_wait:g} seconds"
            await self.recorder.record_pairing_failure(reason)
        except DeviceError as error:
            await self.recorder.record_pairing_failure(str(error))
        else:
            self._has_code = True
            await self.recorder.record_code(code)


OLD_AFTER = 60.0
"""Seconds before the connection was established beyond which a message counts as history."""


def ignored_for(config: DeviceConfig, message: Incoming, connected_at: float) -> str | None:
    """Why a message is ignored, None if it is handed on."""
    reasons = {
        "own": message.from_me,
        "status": message.chat.endswith("@broadcast"),
        "newsletter": message.chat.endswith("@newsletter"),
        "old": message.at < connected_at - OLD_AFTER,
        "empty": not message.text and not message.media and (message.is_group or not message.unreadable),
        NUMBER: not is_allowed(config.allowed_numbers, message.sender_ids),
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


def is_allowed(numbers: str, sender_ids: Collection[str]) -> bool:
    """Return True if one of a sender's ids (digits) is among the comma-separated `numbers`; empty allows all."""
    allowed = {_digits(number) for number in numbers.split(",")} - {""}
    return not allowed or bool(allowed & {_digits(sender_id) for sender_id in sender_ids})


def _digits(number: str) -> str:
    digits = "".join(character for character in number if character in "0123456789")
    return digits.removeprefix("00")


def event_of(instance_id: int, message: Incoming, own_number: str = "") -> Event:
    """The session is the sender's phone number, in a group together with the group. `own_number` is that of the
    device."""
    sender = message.sender_ids[0] if message.sender_ids else message.chat
    is_number = sender.isascii() and sender.isdigit()
    identities = (Identity("business-messaging", sender), Identity("phone", f"+{sender}"))
    is_empty = not message.text and not message.media
    return Event(
        key=f"{message.chat}:{message.id}",
        session_id=f"{message.chat}:{sender}" if message.is_group else sender,
        sender=Sender(sender, message.name, identities if is_number else ()),
        text=message.text,
        target=TARGET.dump(DeviceTarget(instance=instance_id, chat=message.chat)),
        attachments=_attachments(instance_id, message.media),
        canned_reply=unreadable(message.unreadable) if is_empty else None,
        ids=(message.id,),
        is_direct=not message.is_group,
        merge=Merge(f"{message.chat}:{message.album}") if message.album else None,
        quoted=_quoted(instance_id, message.original, own_number),
        context={**message.context, **({"group": {"id": message.chat}} if message.is_group else {})},
        raw={"id": message.id},
    )


def _quoted(instance_id: int, original: Quoted | None, own_number: str) -> Quoted | None:
    if original is None or not original.is_given:
        return None
    is_own = _digits(original.author) == _digits(own_number)
    author = Author.RESOURCE if is_own else original.author
    return replace(original, author=author, attachments=_attachments(instance_id, original.attachments))


def _attachments(instance_id: int, media: Sequence[Attachment]) -> tuple[Attachment, ...]:
    """The files with the instance whose device downloads them."""
    return tuple(
        replace(file, source={"instance": instance_id, "message": dict(file.source)}) for file in media
    )


def masked(number: str) -> str:
    """A number as it may be logged."""
    return f"…{number[-3:]}" if len(number) > 5 else "…"
