"""The nursery: a small process without threads that forks a child for each file, and ends with the service.

The service itself runs threads, an event loop and gRPC, so it must not fork. This process is started afresh
(`python -m`), imports readers before it forks, and talks to the service over one socket: each message is one
byte with two descriptors, the one to read the request from and tell the end, the other for the child to
send what it found.
"""

from __future__ import annotations

import contextlib
import gc
import os
import selectors
import shutil
import signal
import socket
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adapters.outbound.parsing.fence import walls, wire
from adapters.outbound.parsing.registry import preload
from domain.knowledge.documents import Format

_REQUEST_SECONDS = 10.0
_SAID_BYTES = 400


@dataclass(slots=True)
class _Child:
    pid: int
    status: socket.socket
    scratch: Path


class ForkServer:
    """Forks, kills and buries children until the service is gone."""

    def __init__(self, control: socket.socket, base: Path) -> None:
        self._control = control
        self._base = base
        self._children: dict[int, _Child] = {}
        self._selector = selectors.DefaultSelector()
        self._waking, waker = socket.socketpair()
        self._waking.setblocking(False)
        waker.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)
        self._waker = waker

    def serve(self) -> None:
        """Runs until the service closes its end; then kills what is left."""
        self._selector.register(self._control, selectors.EVENT_READ)
        self._selector.register(self._waking, selectors.EVENT_READ)
        try:
            while self._turn():
                pass
        finally:
            for child in list(self._children.values()):
                self._kill(child)
                os.waitpid(child.pid, 0)
            shutil.rmtree(self._base, ignore_errors=True)

    def _turn(self) -> bool:
        for key, _ in self._selector.select():
            if key.fileobj is self._control:
                if not self._admit():
                    return False
            elif key.fileobj is self._waking:
                with contextlib.suppress(BlockingIOError):
                    self._waking.recv(1024)
            else:
                self._abandon(key.data)
        self._bury()
        return True

    def _admit(self) -> bool:
        message, descriptors, _, _ = socket.recv_fds(self._control, 1, 2)
        if not message:
            return False
        status, out = (socket.socket(fileno=descriptor) for descriptor in descriptors)
        status.settimeout(_REQUEST_SECONDS)
        with out, contextlib.suppress(OSError):
            frame = wire.receive(status)
            if frame is None:
                status.close()
                return True
            try:
                self._fork(status, out, frame[1])
            except OSError as error:
                with status:
                    wire.send(status, wire.EXIT, {"code": None, "said": str(error)})
        return True

    def _fork(self, status: socket.socket, out: socket.socket, request: dict[str, Any]) -> None:
        preload(Format(request["format"]) if request["format"] else None)
        scratch = Path(tempfile.mkdtemp(dir=self._base))
        gc.freeze()
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            try:
                self._forget()
                status.close()
                from adapters.outbound.parsing.fence import child

                child.run(out, request, scratch, parent)
            finally:
                os._exit(1)  # whatever fails: a child must never serve as a second nursery
        gc.unfreeze()
        self._children[pid] = _Child(pid, status, scratch)
        self._selector.register(status, selectors.EVENT_READ, self._children[pid])

    def _forget(self) -> None:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._selector.close()
        for held in (self._control, self._waking, self._waker):
            held.close()
        for sibling in self._children.values():
            sibling.status.close()

    def _abandon(self, child: _Child) -> None:
        """The service hung up on this child: nobody wants what it reads any more."""
        self._selector.unregister(child.status)
        self._kill(child)

    def _kill(self, child: _Child) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child.pid, signal.SIGKILL)

    def _bury(self) -> None:
        for pid in list(self._children):
            ended, status, usage = os.wait4(pid, os.WNOHANG)
            if ended:
                child = self._children.pop(pid)
                with contextlib.suppress(KeyError):
                    self._selector.unregister(child.status)
                said = _last_words(child.scratch / "errors")
                shutil.rmtree(child.scratch, ignore_errors=True)
                end = {
                    "code": os.waitstatus_to_exitcode(status),
                    "said": said,
                    "cpu_seconds": usage.ru_utime + usage.ru_stime,
                    "peak_kilobytes": usage.ru_maxrss,
                }
                with child.status, contextlib.suppress(OSError):
                    wire.send(child.status, wire.EXIT, end)


def _last_words(path: Path) -> str:
    with contextlib.suppress(OSError):
        return path.read_bytes()[-_SAID_BYTES:].decode(errors="replace")
    return ""


def main() -> None:
    """Started by the service with the descriptor of the control socket and the folder for scratch files."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the service ends us
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # so does the end of a service unit
    walls.leave_the_network()
    control = socket.socket(fileno=int(sys.argv[1]))
    ForkServer(control, Path(sys.argv[2])).serve()


if __name__ == "__main__":
    main()
