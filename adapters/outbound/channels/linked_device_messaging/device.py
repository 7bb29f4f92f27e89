"""Linked devices in child processes that run neonize (the optional extra `linked-device`), and their events."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes.util
import importlib.util
import itertools
import json
import logging
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from domain.channels.messages import Attachment, Quoted


@dataclass(eq=False)
class DeviceError(Exception):
    """The device or the messaging service refused or failed, in its own words. `before_sending`: the message surely
    did not go out."""

    message: str
    before_sending: bool = False


@dataclass(frozen=True, slots=True)
class Linked:
    """The connection is up and the account is linked."""


@dataclass(frozen=True, slots=True)
class Unlinked:
    """The connection is up, and no account is linked: a pairing code can be requested."""


@dataclass(frozen=True, slots=True)
class Dropped:
    reason: str = ""


@dataclass(frozen=True, slots=True)
class LoggedOut:
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Incoming:
    """A message. `sender_ids` are all known ids of the sender (phone number first), digits where they are
    numbers; `at` in epoch seconds. The source of `media` is what `download` needs, the author of `original`, to which
    it replies, a number. `context` as in `Event`; `unreadable` is how a notice calls the kind of a message that
    cannot be read."""

    id: str
    chat: str
    sender_ids: Sequence[str]
    name: str
    text: str
    at: float
    from_me: bool = False
    is_group: bool = False
    media: Sequence[Attachment] = ()
    album: str = ""
    original: Quoted | None = None
    context: Mapping[str, Any] = field(default_factory=dict)
    unreadable: str = ""


DeviceEvent = Linked | Unlinked | Dropped | LoggedOut | Incoming


@dataclass(frozen=True, slots=True)
class OutgoingFile:
    """A file to be sent; the device's process reads it from `path`."""

    path: Path
    name: str
    mime_type: str


log = logging.getLogger(__name__)

CHILD = ("-m", f"{__package__}.child")
ANSWER_TIMEOUT = 60.0
CLOSE_SECONDS = 1.0
"""Time limit for a child to end by itself, which it does as soon as its input is closed."""
LINE_LIMIT = 4 * 1024 * 1024
CODE_ROOT = Path(__file__).parents[4]
_EVENTS: Mapping[str, Callable[..., DeviceEvent]] = {
    "linked": Linked,
    "unlinked": Unlinked,
    "logged_out": LoggedOut,
    "dropped": Dropped,
}


class ChildDevices:
    """One child process per instance; state in one SQLite file per instance below `folder`."""

    def __init__(self, folder: Path, command: Sequence[str] = (sys.executable, *CHILD)) -> None:
        self._folder = folder
        self._command = tuple(command)
        self._running: dict[int, ChildDevice] = {}

    def missing(self) -> str | None:
        """What this installation lacks for linked devices, None if it lacks nothing."""
        if self._command[1:] != CHILD:
            return None
        if importlib.util.find_spec("neonize") is None:
            return (
                "this server lacks the extra 'linked-device'; install it with:"
                " pip install 'switchboard[linked-device]'"
            )
        if ctypes.util.find_library("magic") is None:
            return "this server lacks the system library libmagic, which linked devices need"
        return None

    async def open(self, instance_id: int) -> ChildDevice:
        """Starts the device of an instance, with its stored state. Raises `DeviceError`."""
        if missing := self.missing():
            raise DeviceError(missing, before_sending=True)
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (str(CODE_ROOT), *sys.path)))}
        command = (*self._command, str(self._folder / f"{instance_id}.db"))
        pipe = asyncio.subprocess.PIPE
        try:
            process = await asyncio.create_subprocess_exec(
                *command, stdin=pipe, stdout=pipe, stderr=pipe, limit=LINE_LIMIT, env=environment
            )
        except OSError as error:
            message = f"the device's process did not start: {error.strerror}"
            raise DeviceError(message, before_sending=True) from error
        device = ChildDevice(instance_id, process, self._running)
        self._running[instance_id] = device
        return device

    def running(self, instance_id: int) -> ChildDevice | None:
        return self._running.get(instance_id)

    async def stored(self) -> Sequence[int]:
        return sorted(int(path.stem) for path in self._folder.glob("*.db") if path.stem.isdigit())

    async def forget(self, instance_id: int) -> None:
        for path in self._folder.glob(f"{instance_id}.db*"):
            path.unlink(missing_ok=True)


class ChildDevice:
    """A device in a process of its own. Each method raises `DeviceError`."""

    def __init__(
        self, instance_id: int, process: asyncio.subprocess.Process, running: dict[int, ChildDevice]
    ) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._instance_id = instance_id
        self._running = running
        self.process = process
        self._input = process.stdin
        self._numbers = itertools.count(1)
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._events: asyncio.Queue[DeviceEvent | None] = asyncio.Queue()
        self._reader = asyncio.create_task(self._read(process.stdout))
        self._error_log = asyncio.create_task(_log_errors(process.stderr, instance_id))

    async def connect(self) -> None:
        """Starts to connect; the result comes as an event."""
        await self._request("connect")

    async def pair(self, phone: str) -> str:
        """A code to be entered in the account's app."""
        return str(await self._request("pair", phone=phone))

    async def logout(self) -> None:
        """Unlinks the account if it is linked, and clears the stored state."""
        await self._request("logout")

    async def send(self, chat: str, text: str, file: OutgoingFile | None = None) -> str:
        """The id of the message sent; the library accepts no id of ours."""
        fields = {"path": str(file.path), "name": file.name, "mime": file.mime_type} if file else {}
        return str(await self._request("send", chat=chat, text=text, **fields))

    async def typing(self, chat: str) -> None:
        await self._request("typing", chat=chat)

    async def download(self, ref: Mapping[str, Any], to: Path) -> None:
        await self._request("download", message=ref["message"], path=str(to))

    async def events(self) -> AsyncIterator[DeviceEvent]:
        while (event := await self._events.get()) is not None:
            yield event

    async def close(self) -> None:
        if self._running.get(self._instance_id) is self:
            del self._running[self._instance_id]
        self._input.close()
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await self.process.wait()
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                self.process.kill()
            await self.process.wait()
        await self._reader
        await self._error_log

    async def _request(self, command: str, **fields: Any) -> Any:
        if self._reader.done():
            # The process's output ends before its exit status is known: nobody answers from then on.
            raise DeviceError("the device's process has ended", before_sending=True)
        number = next(self._numbers)
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._answers[number] = future
        try:
            self._input.write(json.dumps({"id": number, "command": command, **fields}).encode() + b"\n")
            async with asyncio.timeout(ANSWER_TIMEOUT):
                return await future
        except TimeoutError as error:
            raise DeviceError("the device does not answer: TimeoutError") from error
        finally:
            self._answers.pop(number, None)

    async def _read(self, output: asyncio.StreamReader) -> None:
        try:
            async for line in output:
                message = json.loads(line)
                if "event" in message:
                    if event := event_from(message):
                        self._events.put_nowait(event)
                    continue
                answer = self._answers.get(message["id"])
                if answer is None or answer.done():
                    continue
                if "error" in message:
                    answer.set_exception(DeviceError(str(message["error"])))
                else:
                    answer.set_result(message.get("ok"))
        except ValueError as error:
            log.warning("the output of the device's process could not be read: %s", error)
        finally:
            for future in self._answers.values():
                if not future.done():
                    future.set_exception(DeviceError("the device's process has ended"))
            self._events.put_nowait(None)


async def _log_errors(errors: asyncio.StreamReader, instance_id: int) -> None:
    """Logs what the process writes to standard error: the library writes names of strangers there, which may
    contain control characters."""
    while True:
        try:
            line = await errors.readline()
        except ValueError:  # a line over LINE_LIMIT, whose beginning is dropped
            continue
        if not line:
            return
        if text := line.decode("utf-8", "replace").strip():
            log.info("linked device: %s", text, extra={"instance": instance_id})


def event_from(message: Mapping[str, Any]) -> DeviceEvent | None:
    """The event of a child's message, whose keys are the event's fields; None for events of no interest."""
    fields = {name: value for name, value in message.items() if name != "event"}
    if message["event"] == "message":
        fields["sender_ids"] = tuple(fields["sender_ids"])
        fields["media"] = _attachments(fields["media"])
        if original := fields.get("original"):
            attachments = _attachments(original["attachments"])
            fields["original"] = Quoted(original["text"], original["author"], attachments)
        return Incoming(**fields)
    kind = _EVENTS.get(message["event"])
    return kind(**fields) if kind else None


def _attachments(files: Sequence[Mapping[str, Any]]) -> tuple[Attachment, ...]:
    return tuple(Attachment(**file) for file in files)
