"""What the rows of the bench share: pinned processes, CPU accounting, wrk, medians."""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parent.parent
TICKS = os.sysconf("SC_CLK_TCK")
SERVER_CORE, LOAD_CORE = 0, 1


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def pinned(core: int) -> list[str]:
    """A command prefix that keeps a process on one core, where the machine has several."""
    return ["taskset", "-c", str(core)] if (os.cpu_count() or 1) > 1 and shutil.which("taskset") else []


@contextmanager
def server(command: list[str], port: int, core: int = SERVER_CORE) -> Iterator[int]:
    """A server process on `core` that listens on `port`; its process id."""
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'proto/gen'}"}
    process = subprocess.Popen([*pinned(core), *command], cwd=ROOT, env=environment)
    try:
        wait_for(port, process)
        yield process.pid
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_for(port: int, process: subprocess.Popen[bytes], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise SystemExit(f"a server of the bench ended with status {process.returncode}")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise SystemExit("a server of the bench did not start")


def cpu_seconds(*pids: int) -> float:
    """User and system time that processes have used."""
    total = 0
    for pid in pids:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        total += int(fields[11]) + int(fields[12]) + int(fields[13]) + int(fields[14])
    return total / TICKS


def family(pid: int) -> list[int]:
    """A process and its children, whichever of its threads started them; without those that end meanwhile."""
    try:
        threads = list(Path(f"/proc/{pid}/task").iterdir())
        children = [child for thread in threads for child in (thread / "children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return [pid]
    return [pid, *(child for each in children for child in family(int(each)))]


@dataclass(frozen=True)
class Load:
    """One run of the load generator."""

    rps: float
    p50_ms: float
    p99_ms: float
    errors: int
    requests: int


def wrk(url: str, script: Path, connections: int, seconds: float) -> Load:
    """Runs wrk on the load core."""
    command = [
        *pinned(LOAD_CORE),
        "wrk",
        "-t1",
        f"-c{connections}",
        f"-d{seconds:g}s",
        "--timeout",
        "10s",
        "--latency",
        "-s",
        str(script),
    ]
    output = subprocess.run([*command, url], capture_output=True, text=True, check=True).stdout
    failed = re.search(r"Non-2xx or 3xx responses: (\d+)", output)
    sockets = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", output)
    errors = (int(failed[1]) if failed else 0) + (sum(map(int, sockets.groups())) if sockets else 0)
    rps, requests = re.search(r"Requests/sec:\s+([\d.]+)", output), re.search(r"(\d+) requests in", output)
    assert rps is not None
    assert requests is not None
    return Load(float(rps[1]), _latency(output, "50%"), _latency(output, "99%"), errors, int(requests[1]))


def _latency(output: str, share: str) -> float:
    found = re.search(rf"{share}\s+([\d.]+)(us|ms|s)", output)
    assert found is not None
    return float(found[1]) * {"us": 0.001, "ms": 1.0, "s": 1000.0}[found[2]]


def middle(values: list[float]) -> float:
    return median(values) if values else float("nan")


def python() -> str:
    return sys.executable
