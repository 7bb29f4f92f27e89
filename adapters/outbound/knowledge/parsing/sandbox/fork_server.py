"""The service's end of the sandbox: starts and stops the fork server, and follows each file's job in a child."""

import contextlib
import logging
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from adapters.outbound.knowledge.parsing.reading import Limits
from adapters.outbound.knowledge.parsing.sandbox import frames
from adapters.outbound.knowledge.parsing.sandbox.frames import SHARED
from domain.refusals import Refusal, TooLarge, Unavailable, Unreadable, Unsupported, full_disk_refused

_log = logging.getLogger(__name__)

_KEPT_ENVIRONMENT = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "SYSTEMROOT", "TZ")
LIBRARY_SETTINGS = {
    "DO_NOT_TRACK": "1",
    "SCARF_NO_ANALYTICS": "true",
    "UNSTRUCTURED_DISABLE_NOTICE": "1",
    "ORT_DISABLE_TELEMETRY": "1",
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "PYTHONUTF8": "1",
}
_FEW_PAGE_FAULTS = {
    # A child lives for one file: memory that glibc would hand back to the kernel is asked for again at once.
    "MALLOC_TRIM_THRESHOLD_": str(128 * 2**20),
    "MALLOC_MMAP_THRESHOLD_": str(128 * 2**20),
    "MALLOC_TOP_PAD_": str(16 * 2**20),
}


_SHARED_NETWORK = (
    "files are read without a network namespace of their own, as user namespaces are refused here (by the container's"
    " seccomp profile, RestrictNamespaces of systemd, AppArmor or user.max_user_namespaces); what reads them is still"
    " refused sockets in Python: docs/deployment.md tells how to allow it"
)


class ForkServerLost(Exception):
    """The fork server ended while a job was under way, or could not begin it: nothing is known of the file."""


class ForkServer:
    """The process that children are forked from. Safe to use from several threads."""

    module = "adapters.outbound.knowledge.parsing.sandbox.server"

    def __init__(self, stop_seconds: float = 1.5) -> None:
        self._stop_seconds = stop_seconds
        self._lock = threading.Lock()
        self._jobs = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._base: Path | None = None
        self._network_known = False

    @property
    def pid(self) -> int | None:
        """The running process, or None."""
        process = self._process
        return process.pid if process and process.poll() is None else None

    @property
    def scratch(self) -> Path:
        """The folder under which each job has its own, for as long as it runs."""
        assert self._base is not None, "no fork server has been started"
        return self._base

    def submit(self, status: socket.socket, out: socket.socket) -> int:
        """Hands a job's far ends over; starts the process if none runs. Returns the id of the process that has it.

        `finished` is called with that id once for each job that was handed over.
        """
        with self._lock:
            if self.pid is None:
                self._stop()
                self._start()
            assert self._control is not None
            assert self._process is not None
            try:
                socket.send_fds(self._control, [b"j"], [status.fileno(), out.fileno()])
            except OSError as error:
                self._replace()
                raise ForkServerLost from error
            self._jobs += 1
            return self._process.pid

    def finished(self, pid: int, *, lost: bool) -> None:
        """A job has ended. A process that `lost` its job gets no other.

        What a process held is closed a moment before it counts as ended: until then it looks alive.
        """
        with self._lock:
            self._jobs -= 1
            if self._control is not None and not self._network_known:
                # The process says it before it takes its first job.
                with contextlib.suppress(OSError):
                    said = self._control.recv(1, socket.MSG_DONTWAIT)
                    self._network_known = bool(said)
                    if said == SHARED:
                        _log.warning(_SHARED_NETWORK)
            if lost and self._process is not None and self._process.pid == pid:
                self._replace()

    def stop_if_idle(self) -> None:
        """Ends the process unless a job is under way, be it another parser's."""
        with self._lock:
            if not self._jobs:
                self._stop()

    def stop(self) -> None:
        """Ends the process and all its children; it starts again with the next job."""
        with self._lock:
            self._stop()

    def _replace(self) -> None:
        process = self._process
        self._stop()
        _log.warning("the reading process ended with %s and is started again", process and process.returncode)

    def _start(self) -> None:
        with full_disk_refused():
            self._base = Path(tempfile.mkdtemp(prefix="switchboard-parsing-"))
        # No setting and no secret of the service is handed to what reads strangers' files.
        kept = {key: os.environ[key] for key in _KEPT_ENVIRONMENT if key in os.environ}
        path = os.pathsep.join(os.path.abspath(entry) for entry in sys.path)  # noqa: PTH100 - "" is the current folder
        here = {"PYTHONPATH": path, "HOME": str(self._base), "TMPDIR": str(self._base)}
        self._control, far = socket.socketpair()
        with far:
            command = [sys.executable, "-P", "-m", self.module, str(far.fileno()), str(self._base)]
            self._process = subprocess.Popen(  # noqa: S603 - our own module, under our own interpreter
                command,
                pass_fds=[far.fileno()],
                env={**kept, **LIBRARY_SETTINGS, **_FEW_PAGE_FAULTS, **here},
                cwd=self._base,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )

    def _stop(self) -> None:
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            try:
                self._process.wait(self._stop_seconds)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        if self._base is not None:
            shutil.rmtree(self._base, ignore_errors=True)
        self._process = self._control = self._base = None


_EXIT_SECONDS = 60.0
"""How long the fork server may take to report an exit: it may be importing what another file needs."""
_REFUSALS: dict[str, type[Refusal]] = {
    kind.reason: kind for kind in (Unsupported, Unreadable, TooLarge, Unavailable)
}
_OUT_OF_MEMORY = ("memory allocation", "bad_alloc", "out of memory", "cannot allocate", "MemoryError")


class SandboxJob:
    """`run` blocks until the child's end; `cancel` may come from any thread."""

    def __init__(self, server: ForkServer, request: dict[str, Any], limits: Limits) -> None:
        self._server = server
        self._request = {**request, "limits": asdict(limits)}
        self._limits = limits
        self._name: str = request["name"]
        self._done = False
        self._cancelled = False
        self._status, self._far_status = socket.socketpair()
        self._out, self._far_out = socket.socketpair()

    def run(self, take: Callable[[str, Any], None]) -> None:
        """Gives every frame to `take` until the child has ended well.

        Raises the child's refusal, or what its exit means; `ForkServerLost` when nothing is known of it.
        """
        with self._status, self._out:
            with self._far_status, self._far_out:
                frames.send(self._status, "request", self._request)
                pid = self._server.submit(self._far_status, self._far_out)
            lost = False
            try:
                refused = self._receive_all(take)
                end = self._exit()
                lost = end is None and not self._cancelled
            finally:
                self._server.finished(pid, lost=lost)
            if refused is not None:
                raise refused
            if not self._done:
                raise ForkServerLost if end is None else self._meaning(int(end["code"]), str(end["stderr"]))

    def cancel(self) -> None:
        """Hangs up: the fork server kills the child, and `run` ends."""
        self._cancelled = True
        for end in (self._status, self._out):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Closes the sockets of a job that was never run."""
        for end in (self._status, self._far_status, self._out, self._far_out):
            end.close()

    def _receive_all(self, take: Callable[[str, Any], None]) -> Refusal | None:
        """Takes frames until the child closes its end; returns its refusal, or ours of its slowness."""
        deadline = time.monotonic() + self._limits.total_seconds
        try:
            while True:
                left = min(self._limits.quiet_seconds, deadline - time.monotonic())
                if left <= 0:
                    raise TimeoutError
                self._out.settimeout(left)
                frame = frames.receive(self._out)
                if frame is None:
                    return None
                kind, payload = frame
                if kind == frames.REFUSED:
                    reason, message, logged = payload
                    if logged:
                        _log.warning("%s could not be read: %s", self._name, logged)
                    return _REFUSALS[reason](message)
                self._done = kind in (frames.DONE, frames.FILE_TYPE, frames.WEB_PAGE)
                take(kind, payload)
        except (ValueError, TypeError, KeyError):
            self._status.shutdown(socket.SHUT_WR)
            return Unreadable(f"{self._name} cannot be read: its content made the reader send invalid data")
        except TimeoutError:
            self._status.shutdown(socket.SHUT_WR)  # the fork server kills the child and reports its exit
            return TooLarge(f"{self._name} is too large: reading it takes longer than a file may take")

    def _exit(self) -> dict[str, Any] | None:
        """How the child ended, once its scratch folder is gone; None when it is not reported, or never began."""
        self._status.settimeout(_EXIT_SECONDS)
        try:
            frame = frames.receive(self._status)
        except TimeoutError:
            return None
        end: dict[str, Any] | None = frame and frame[1]
        if end is not None and end["code"] is None:
            _log.warning("no reader of %s could be started: %s", self._name, end["stderr"])
            return None
        return end

    def _meaning(self, code: int, stderr: str) -> Refusal:
        _log.warning("the reader of %s ended with %s: %s", self._name, code, stderr)
        if -code in (signal.SIGXCPU, signal.SIGKILL, signal.SIGXFSZ):
            return TooLarge(
                f"{self._name} is too large: reading it takes more time or memory than a file may take"
            )
        if any(sign in stderr for sign in _OUT_OF_MEMORY):
            return TooLarge(f"{self._name} is too large: reading it needs more memory than a file may take")
        end = signal.Signals(-code).name if code < 0 else f"exit {code}"
        return Unreadable(f"{self._name} cannot be read: its content made the reader crash ({end})")
