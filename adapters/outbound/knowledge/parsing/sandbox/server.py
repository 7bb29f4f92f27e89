"""The fork server: a small process without threads that forks a child for each file, and ends with the service.

The service itself runs threads, an event loop and gRPC, so it must not fork. This process is started afresh
(`python -m`), imports readers before it forks, and talks to the service over one socket: each message is one
byte with two descriptors, the one to read the request from and to report the exit, the other for the child to
send what it found.
"""

import contextlib
import gc
import os
import shutil
import signal
import socket
import sys
import tempfile
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import wait
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import Any

from adapters.outbound.knowledge.parsing.formats import preload
from adapters.outbound.knowledge.parsing.sandbox import frames, restrictions
from domain.knowledge.documents import Format

_REQUEST_SECONDS = 10.0
_STDERR_BYTES = 400


@dataclass(slots=True, eq=False)
class _Child:
    process: ForkProcess
    status: socket.socket
    scratch: Path
    killed: bool = False


class _Server:
    """Forks, kills and reaps children until the service is gone."""

    def __init__(self, control: socket.socket, base: Path) -> None:
        self._control = control
        self._base = base
        self._children: list[_Child] = []

    def serve(self) -> None:
        """Runs until the service closes its end; then kills what is left."""
        try:
            is_served = True
            while is_served:
                exits = {child.process.sentinel: child for child in self._children}
                hang_ups = {child.status: child for child in self._children if not child.killed}
                ready = wait([self._control, *exits, *hang_ups])
                for child in [hang_ups[handle] for handle in ready if handle in hang_ups]:
                    child.killed = True  # nobody wants what it reads any more
                    child.process.kill()
                for child in [exits[handle] for handle in ready if handle in exits]:
                    child.process.kill()  # it has closed all it had, and ends
                    child.process.join()
                    self._children.remove(child)
                    stderr = b""
                    with contextlib.suppress(OSError):
                        stderr = (child.scratch / "stderr").read_bytes()[-_STDERR_BYTES:]
                    end = {"code": child.process.exitcode, "stderr": stderr.decode(errors="replace")}
                    shutil.rmtree(child.scratch, ignore_errors=True)
                    with child.status, contextlib.suppress(OSError):
                        frames.send(child.status, frames.EXIT, end)
                is_served = self._control not in ready or self._accept()
        finally:
            for child in self._children:
                child.process.kill()
                child.process.join()
            shutil.rmtree(self._base, ignore_errors=True)

    def _accept(self) -> bool:
        message, descriptors, _, _ = socket.recv_fds(self._control, 1, 2)
        if not message:
            return False
        status, out = (socket.socket(fileno=descriptor) for descriptor in descriptors)
        status.settimeout(_REQUEST_SECONDS)
        with out, contextlib.suppress(OSError):
            frame = frames.receive(status)
            if frame is None:
                status.close()
                return True
            request: dict[str, Any] = frame[1]
            try:
                format_ = Format(request["format"]) if request["format"] else None
                preload(format_, web=bool(request["web"]), model_dir=request["model_dir"])
                scratch = Path(tempfile.mkdtemp(dir=self._base))
                process = get_context("fork").Process(
                    target=self._run_child, args=(status, out, request, scratch, os.getpid())
                )
                gc.freeze()
                process.start()
                gc.unfreeze()
                self._children.append(_Child(process, status, scratch))
            except OSError as error:
                with status:
                    frames.send(status, frames.EXIT, {"code": None, "stderr": str(error)})
        return True

    def _run_child(
        self, status: socket.socket, out: socket.socket, request: dict[str, Any], scratch: Path, parent: int
    ) -> None:
        from adapters.outbound.knowledge.parsing.sandbox import child

        for held in (self._control, status, *(sibling.status for sibling in self._children)):
            held.close()
        child.run(out, request, scratch, parent)


def main() -> None:
    """Started by the service with the descriptor of the control socket and the folder for scratch files."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the service ends us
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # so does the end of a service unit
    control = socket.socket(fileno=int(sys.argv[1]))
    control.send(frames.ALONE if restrictions.leave_the_network() else frames.SHARED)
    _Server(control, Path(sys.argv[2])).serve()


if __name__ == "__main__":
    main()
