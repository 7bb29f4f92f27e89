"""Whole processes of the service: started as a person would, watched by what they print, ended or killed."""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
import os
import pty
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tty
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx

from adapters.outbound.storage.embedded import EmbeddedPostgres
from adapters.outbound.storage.migrate import migrate
from tests.support.failpoints import Stage
from tests.support.folders import an_open_folder
from tests.support.launcher import Forked, launcher
from tests.support.plain_http import plain_client, plain_request
from tests.support.ports import free_port
from tests.support.waiting import until

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "apps.cli"]
READY_S = 120.0
"""Seconds after which a process that is not ready never will be."""
STOPPED_S = 30.0
"""Seconds within which a process stops that lets nothing hold it up, on a machine that is busy otherwise."""


def environment(data_dir: Path, settings: Mapping[str, str], root: Path | None = ROOT) -> dict[str, str]:
    """What a process sees: no setting of whoever runs the tests. `root`: the tree whose code it runs; None: the code
    that its interpreter has installed. The model is prepared by the first file that needs it, not by each process."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    code = {"PYTHONPATH": f"{root}:{root / 'proto/gen'}"} if root else {}
    unprepared = {"EMBEDDING_PREPARE_AT_START": "false"}
    return {**kept, **code, **unprepared, "DATA_DIR": str(data_dir), **settings}


def run_once(
    data_dir: Path,
    *arguments: str,
    settings: Mapping[str, str] | None = None,
    seconds: float = READY_S,
    root: Path | None = ROOT,
    program: Sequence[str] = COMMAND,
) -> subprocess.CompletedProcess[str]:
    """Run a command of `switchboard` to its end."""
    own = environment(data_dir, settings or {}, root)
    if is_forked(program, root, own):
        with tempfile.TemporaryDirectory() as folder:
            output, errors = Path(folder, "output"), Path(folder, "errors")
            status = launcher().start(arguments, own, output, errors).wait(seconds)
            return subprocess.CompletedProcess(arguments, status, output.read_text(), errors.read_text())
    return subprocess.run(
        [*program, *arguments],
        env=own,
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
        timeout=seconds,
        stdin=subprocess.DEVNULL,
    )


def is_forked(program: Sequence[str], root: Path | None, settings: Mapping[str, str]) -> bool:
    """Return True if a process can be a fork of the launcher: it runs the same code in the same interpreter."""
    own_start = any(name.startswith(("LD_", "PYTHON")) and name != "PYTHONPATH" for name in settings)
    return program is COMMAND and root == ROOT and not own_start


def admin_key(base: str, service_key: str) -> str:
    """Make a key for the user `admin`, as the first start on a terminal does."""
    answer = plain_request(
        "POST",
        f"{base}/api/agent/keys",
        json={"userId": "admin", "role": "admin"},
        headers={"Authorization": f"Bearer {service_key}"},
    )
    assert answer.status_code == 201, answer.text
    return str(answer.json()["token"])


def one_line(done: subprocess.CompletedProcess[str]) -> str:
    """The one line on standard error of a command that failed: text, or a line of the service's log."""
    assert done.returncode not in (0, None)
    assert done.stderr.count("\n") == 1, done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    if done.stderr.startswith("{"):
        return f"switchboard: {json.loads(done.stderr)['event']}"
    assert done.stderr.startswith("switchboard: ")
    return done.stderr.strip()


@functools.cache
def prepared_database() -> Path:
    """The folder of an embedded database that is migrated and empty. Making one takes 1.5 s of the processor."""
    stack = contextlib.ExitStack()
    folder = stack.enter_context(an_open_folder())
    atexit.register(stack.close)
    with EmbeddedPostgres(folder) as dsn:
        migrate(dsn)
    return folder / "postgres"


class Service:
    """One process of the service. `settings` are environment variables; its ports are free ones. `root`: the tree
    whose code it runs, None for what is installed; `program`: what starts it, instead of a fork of a process that has
    imported everything; `terminal`: it prints to a terminal;
    `prepared`: a new embedded database is a copy instead of being made."""

    def __init__(
        self,
        data_dir: Path,
        command: str = "up",
        settings: Mapping[str, str] | None = None,
        root: Path | None = ROOT,
        program: Sequence[str] = COMMAND,
        *,
        terminal: bool = False,
        prepared: bool = True,
    ) -> None:
        self.data_dir = data_dir
        self.terminal = terminal
        self.root = root
        self.program = program
        self.http_port = free_port()
        self.grpc_port = free_port()
        self.command = command
        self.settings = {
            "HTTP_PORT": str(self.http_port),
            "GRPC_PORT": str(self.grpc_port),
            "LOG_FORMAT": "json",
            **(settings or {}),
        }
        self.http_port = int(self.settings["HTTP_PORT"])
        embedded = command == "up" and "DATABASE_URL" not in self.settings
        self.copies_database = embedded and prepared and not terminal and root == ROOT
        self.key: str | None = None
        self._process: subprocess.Popen[bytes] | Forked | None = None

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.http_port}"

    @property
    def process(self) -> subprocess.Popen[bytes] | Forked:
        assert self._process is not None
        return self._process

    @property
    def output(self) -> str:
        """Standard output and error of the latest start."""
        return self._log.read_text(errors="replace")

    @property
    def _log(self) -> Path:
        return self.data_dir.with_name(f"{self.data_dir.name}.{self.command}.log")

    def start(self) -> None:
        """Start it; returns once it says that it is ready."""
        self.launch()
        self.await_ready()
        if found := re.search(r"\bsb_[\w-]{40,}", self.output):
            self.key = found[0]
        elif self.key is None and self.command == "up":
            kept = self.data_dir / "secrets/internal_service_key"
            self.key = admin_key(
                self.base, self.settings.get("INTERNAL_SERVICE_KEY") or kept.read_text().strip()
            )

    def await_ready(self) -> None:
        """Returns once it says that it is ready."""
        until(self._is_ready, f"`switchboard {self.command}` is ready", seconds=READY_S)

    def launch(self, stage: Stage | None = None) -> None:
        """Start it and return at once. `stage`: where it shall kill itself."""
        if self.copies_database and not self.data_dir.exists():
            self.data_dir.mkdir()
            subprocess.run(["cp", "-a", prepared_database(), self.data_dir / "postgres"], check=True)
        own = environment(self.data_dir, self.settings, self.root)
        if is_forked(self.program, self.root, own) and not self.terminal:
            self._log.write_bytes(b"")
            self._process = launcher().start([self.command], own, self._log, stage=stage)
            return
        with self._log.open("wb") as log, _terminal(self._log) if self.terminal else log as output:
            self._process = subprocess.Popen(
                [*self.program, self.command],
                env=own,
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def stop(self, sign: signal.Signals = signal.SIGTERM) -> float:
        """Tell it to stop; the seconds it took. The exit status is in `process.returncode`."""
        began = time.monotonic()
        self.process.send_signal(sign)
        self.process.wait(60)
        return time.monotonic() - began

    def kill_everything(self, *, database_first: bool = False) -> None:
        """SIGKILL the process, what it started, and every process of its database."""
        own = [self.process.pid, *descendants(self.process.pid)] if self.process.poll() is None else []
        database = database_processes(self.data_dir)
        for pid in [*database, *own] if database_first else [*own, *database]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait(60)

    def client(self) -> httpx.Client:
        """A client of the REST gateway with the first key."""
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        return plain_client(self.base, headers=headers)

    def create_instance(self, **fields: Any) -> Any:
        """Create a channel instance; the instance."""
        with self.client() as client:
            answer = client.post("/api/agent/channel-instances", json=fields)
        assert answer.status_code == 201, answer.text
        return answer.json()

    def _is_ready(self) -> bool:
        assert self.process.poll() is None, f"it ended with {self.process.returncode}: {self.output}"
        return "is ready" in self.output

    def __enter__(self) -> Service:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self.kill_everything()


@contextlib.contextmanager
def _terminal(log: Path) -> Iterator[int]:
    """A terminal that a process may take; what is written to it is copied into a file until nobody has it open."""
    shown, terminal = pty.openpty()
    tty.setraw(terminal)

    def copy() -> None:
        with (
            contextlib.suppress(OSError),  # the last writer has closed it
            os.fdopen(shown, "rb", buffering=0) as source,
            log.open("ab", buffering=0) as target,
        ):
            while piece := source.read(65536):
                target.write(piece)

    threading.Thread(target=copy, daemon=True).start()
    try:
        yield terminal
    finally:
        os.close(terminal)


def descendants(pid: int) -> list[int]:
    """The processes below `pid`, children first."""
    found = []
    for child in _children(pid):
        found += [child, *descendants(child)]
    return found


def postmaster(data_dir: Path) -> int:
    """The first process of the embedded server of `data_dir`, which starts the others."""
    file = data_dir / "postgres/cluster/postmaster.pid"
    found: list[int] = []

    def written() -> bool:
        with contextlib.suppress(FileNotFoundError):
            pid, line_end, _ = file.read_text().partition("\n")
            found.extend([int(pid)] if line_end else [])
        return bool(found)

    until(written, f"{file} is written")
    return found[0]


def suspend(find: Callable[[], Iterable[int]]) -> set[int]:
    """Suspend the processes that `find` names, and those that they started meanwhile; an ended one is left
    out. Returns once they stand still: those that were suspended.
    """
    seen: set[int] = set()
    suspended: set[int] = set()
    while new := set(find()) - seen:
        seen.update(new)
        for pid in new:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
                suspended.add(pid)
        until(lambda: all(_stands_still(pid) for pid in seen), "the processes stand still")
    return suspended


def resume(pids: Iterable[int]) -> None:
    """Let suspended processes go on; one that was killed meanwhile is left out."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


def database_processes(data_dir: Path) -> list[int]:
    """Every process of the embedded server of `data_dir`: each works in the data folder."""
    cluster = str((data_dir / "postgres/cluster").resolve())
    return [pid for pid in _numbers(Path("/proc")) if _folder_of(pid) == cluster]


def database_ended(data_dir: Path) -> None:
    """Wait until no process of the embedded server of `data_dir` is left; one that was killed takes a moment."""
    until(lambda: not database_processes(data_dir), f"the database in {data_dir} ends")


def _stands_still(pid: int) -> bool:
    """Whether a process is suspended, or has ended."""
    return state(pid) in ("T", "Z", None)


def state(pid: int) -> str | None:
    """The letter of proc(5) for what a process does; None where there is none of that number."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]
    except OSError:
        return None


def _folder_of(pid: int) -> str | None:
    try:
        return str(Path(f"/proc/{pid}/cwd").readlink())
    except OSError:
        return None


def _children(pid: int) -> list[int]:
    """Those of each thread. A process or thread that ends meanwhile has none."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):
                found += map(int, (task / "children").read_text().split())
    return found


def _numbers(folder: Path) -> list[int]:
    return [int(entry.name) for entry in folder.iterdir() if entry.name.isdigit()]
