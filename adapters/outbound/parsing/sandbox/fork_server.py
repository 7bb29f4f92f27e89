"""The service's end of the fork server: starts it when it is needed, ends it when it is idle."""

import contextlib
import logging
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from adapters.outbound.parsing.sandbox.frames import SHARED
from domain.refusals import full_disk_refused

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

    module = "adapters.outbound.parsing.sandbox.server"

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
        """Hands a job's far ends over; starts the process where none runs. Gives back the id of the process that
        has it, for `finished`, which each job that was handed over is told to once."""
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
            self._look_at_network()
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

    def _look_at_network(self) -> None:
        """The process says so before it takes its first job. Logged once."""
        if self._control is None or self._network_known:
            return
        with contextlib.suppress(OSError):
            said = self._control.recv(1, socket.MSG_DONTWAIT)
            self._network_known = bool(said)
            if said == SHARED:
                _log.warning(_SHARED_NETWORK)

    def _replace(self) -> None:
        process = self._process
        self._stop()
        _log.warning("the reading process ended with %s and is started again", process and process.returncode)

    def _start(self) -> None:
        with full_disk_refused():
            self._base = Path(tempfile.mkdtemp(prefix="switchboard-parsing-"))
        self._control, far = socket.socketpair()
        with far:
            command = [sys.executable, "-P", "-m", self.module, str(far.fileno()), str(self._base)]
            self._process = subprocess.Popen(  # noqa: S603 - our own module, under our own interpreter
                command,
                pass_fds=[far.fileno()],
                env=_environment(self._base),
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


def _environment(base: Path) -> dict[str, str]:
    """No setting and no secret of the service is handed to what reads strangers' files."""
    kept = {key: os.environ[key] for key in _KEPT_ENVIRONMENT if key in os.environ}
    path = os.pathsep.join(os.path.abspath(entry) for entry in sys.path)  # noqa: PTH100 - "" is the current folder
    here = {"PYTHONPATH": path, "HOME": str(base), "TMPDIR": str(base)}
    return {**kept, **LIBRARY_SETTINGS, **_FEW_PAGE_FAULTS, **here}
