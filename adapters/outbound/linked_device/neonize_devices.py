"""`ports.linked_device` over child processes that run neonize (the optional extra `linked-device`)."""

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
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ports.linked_device import (
    DeviceError,
    DeviceEvent,
    Dropped,
    Incoming,
    Linked,
    LoggedOut,
    Media,
    OutgoingFile,
    Unlinked,
)

log = logging.getLogger(__name__)

CHILD = ("-m", "adapters.outbound.linked_device.child")
ANSWER_TIMEOUT = 60.0
CLOSE_SECONDS = 1.0
"""What a child gets to end by itself, which it does as soon as its input is closed."""
LINE_LIMIT = 4 * 1024 * 1024
CODE_ROOT = Path(__file__).parents[3]


class NeonizeDevices:
    """One child process per instance; state in one SQLite file per instance below `folder`."""

    def __init__(self, folder: Path, command: Sequence[str] = (sys.executable, *CHILD)) -> None:
        self._folder = folder
        self._command = tuple(command)
        self._running: dict[int, ChildDevice] = {}

    def missing(self) -> str | None:
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
        missing = self.missing()
        if missing:
            raise DeviceError(missing, before_sending=True)
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        device = ChildDevice(instance_id, self._running)
        await device.start([*self._command, str(self._file(instance_id))])
        self._running[instance_id] = device
        return device

    def running(self, instance_id: int) -> ChildDevice | None:
        return self._running.get(instance_id)

    async def stored(self) -> Sequence[int]:
        return sorted(int(path.stem) for path in self._folder.glob("*.db") if path.stem.isdigit())

    async def forget(self, instance_id: int) -> None:
        for path in self._folder.glob(f"{instance_id}.db*"):
            path.unlink(missing_ok=True)

    def _file(self, instance_id: int) -> Path:
        return self._folder / f"{instance_id}.db"


class ChildDevice:
    """`ports.linked_device.LinkedDevice` in a process of its own."""

    def __init__(self, instance_id: int, register: dict[int, ChildDevice]) -> None:
        self._instance_id = instance_id
        self._register = register
        self._process: asyncio.subprocess.Process | None = None
        self._reader: asyncio.Task[None] | None = None
        self._listener: asyncio.Task[None] | None = None
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._events: asyncio.Queue[DeviceEvent | None] = asyncio.Queue()

    async def start(self, command: Sequence[str]) -> None:
        """Raises `DeviceError`."""
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (str(CODE_ROOT), *sys.path)))}
        try:
            self._process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                limit=LINE_LIMIT,
                env=environment,
            )
        except OSError as failure:
            raise DeviceError(
                f"the device's process did not start: {failure}", before_sending=True
            ) from failure
        self._reader = asyncio.create_task(self._read())
        self._listener = asyncio.create_task(self._log_errors())

    async def connect(self) -> None:
        await self._ask("connect")

    async def pair(self, phone: str) -> str:
        return str(await self._ask("pair", phone=phone))

    async def logout(self) -> None:
        await self._ask("logout")

    async def send(self, chat: str, text: str, file: OutgoingFile | None, message_id: str) -> str:
        request: dict[str, Any] = {"chat": chat, "text": text, "messageId": message_id}
        if file is not None:
            request |= {"path": str(file.path), "name": file.name, "mime": file.mime_type}
        return str(await self._ask("send", **request))

    async def typing(self, chat: str) -> None:
        await self._ask("typing", chat=chat)

    async def download(self, ref: Mapping[str, Any], to: Path) -> None:
        await self._ask("download", message=ref["message"], path=str(to))

    async def events(self) -> AsyncIterator[DeviceEvent]:
        while (event := await self._events.get()) is not None:
            yield event

    async def close(self) -> None:
        if self._register.get(self._instance_id) is self:
            del self._register[self._instance_id]
        if self._process is None:
            return
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await self._process.wait()
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()
        if self._reader is not None:
            await self._reader
        if self._listener is not None:
            await self._listener

    async def _ask(self, do: str, **fields: Any) -> Any:
        process = self._process
        if process is None or process.stdin is None or self._reader is None or self._reader.done():
            # Its output ends before its exit status is known: what is asked from then on nobody would answer.
            raise DeviceError("the device's process has ended", before_sending=True)
        number = next(self._numbers)
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        try:
            process.stdin.write(json.dumps({"id": number, "do": do, **fields}).encode() + b"\n")
            async with asyncio.timeout(ANSWER_TIMEOUT):
                return await future
        except TimeoutError as failure:
            raise DeviceError(f"the device does not answer: {type(failure).__name__}") from failure
        finally:
            self._waiting.pop(number, None)

    async def _read(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        try:
            async for line in self._process.stdout:
                self._take(json.loads(line))
        except ValueError as failure:
            log.warning("the device's process spoke wrongly: %s", failure)
        finally:
            for future in self._waiting.values():
                if not future.done():
                    future.set_exception(DeviceError("the device's process has ended"))
            self._events.put_nowait(None)

    async def _log_errors(self) -> None:
        """What the process writes to standard error goes through the log: the library writes names of strangers
        there, which may hold control characters."""
        assert self._process is not None
        assert self._process.stderr is not None
        while True:
            try:
                line = await self._process.stderr.readline()
            except ValueError:  # a line over LINE_LIMIT, whose beginning is dropped
                continue
            if not line:
                return
            if words := line.decode("utf-8", "replace").strip():
                log.info("linked device: %s", words, extra={"instance": self._instance_id})

    def _take(self, said: dict[str, Any]) -> None:
        if "event" in said:
            event = event_from(said)
            if event is not None:
                self._events.put_nowait(event)
            return
        future = self._waiting.get(said["id"])
        if future is None or future.done():
            return
        if "error" in said:
            future.set_exception(DeviceError(str(said["error"])))
        else:
            future.set_result(said.get("ok"))


def event_from(said: Mapping[str, Any]) -> DeviceEvent | None:
    """What the child told, as an event; None for what concerns nobody."""
    kind = said["event"]
    if kind == "linked":
        return Linked()
    if kind == "unlinked":
        return Unlinked()
    if kind == "logged_out":
        return LoggedOut(str(said.get("reason", "")))
    if kind == "dropped":
        return Dropped(str(said.get("reason", "")))
    if kind != "message":
        return None
    return Incoming(
        id=said["id"],
        chat=said["chat"],
        sender_ids=tuple(said["senders"]),
        name=said["name"],
        text=said["text"],
        at=float(said["at"]),
        from_me=bool(said["fromMe"]),
        is_group=bool(said["group"]),
        media=tuple(
            Media(each["name"], each["mime"], {"message": each["message"]}, each["size"])
            for each in said["media"]
        ),
        album=str(said.get("album") or ""),
    )
