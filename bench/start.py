"""The second start of `switchboard up`, and the memory of idle processes."""

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from compileall import compile_dir
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.measuring import ROOT, SERVER_CORE, cpu_seconds, free_port, pinned, python
from bench.ours import KEY, SERVICE_KEY
from bench.part import Bench
from bench.report import Row
from bench.rounds import Figure

IDLE_SECONDS = 3.0


@dataclass(frozen=True)
class Running:
    """A program that is ready, `seconds` and `cpu` seconds after its start."""

    pid: int
    seconds: float
    cpu: float

    def megabytes(self) -> float:
        """Resident memory of the process alone."""
        lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        [resident] = [line for line in lines if line.startswith("VmRSS:")]
        return int(resident.split()[1]) / 1024


@contextmanager
def running(command: str, *, program: Sequence[str] = ("apps.cli",), **settings: str) -> Iterator[Running]:
    """`switchboard COMMAND`, or what another module runs in its place, until its first line that says it is ready."""
    environment = {
        **os.environ,
        "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'proto/gen'}",
        "HTTP_PORT": str(free_port()),
        "GRPC_PORT": str(free_port()),
        "INTERNAL_SERVICE_KEY": SERVICE_KEY,
        "CONFIG_ENCRYPTION_KEY": KEY,
        "LOG_FORMAT": "console",
        "LOG_LEVEL": "error",
        "EMBEDDING_PREPARE_AT_START": "false",
        **settings,
    }
    arguments = [*pinned(SERVER_CORE), python(), "-m", *program, command]
    started = time.perf_counter()
    process = subprocess.Popen(arguments, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        if not any("ready" in line for line in process.stdout):
            raise SystemExit(f"switchboard {command} ended before it was ready")
        yield Running(process.pid, time.perf_counter() - started, cpu_seconds(process.pid))
    finally:
        process.terminate()
        process.wait(20)
        process.stdout.close()


def run(bench: Bench) -> list[Row]:
    """Starts on one folder, the first of which makes the database and does not count.

    The modules are compiled first, as those of an installed package are: where PYTHONDONTWRITEBYTECODE is set, Python
    would compile those of a checkout at each start.
    """
    for package in ("adapters", "apps", "domain", "ports", "proto/gen"):
        compile_dir(ROOT / package, quiet=1)
    seconds, cpu, standalone, gateway = [], [], [], []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        with running("up", DATA_DIR=folder):
            pass
        for _ in range(bench.rounds):
            with running("up", DATA_DIR=folder) as found:
                seconds.append(found.seconds)
                cpu.append(found.cpu)
                time.sleep(IDLE_SECONDS)
                standalone.append(found.megabytes())
            with running("gateway", DATA_DIR=folder, CORE_TARGET=f"127.0.0.1:{free_port()}") as found:
                time.sleep(IDLE_SECONDS)
                gateway.append(found.megabytes())
    bench.report.raw["start"] = {"s": seconds, "cpu_s": cpu, "idle_mb": standalone, "gateway_mb": gateway}
    return [
        Row("second start to ready, s", "<= 3", Figure.of(cpu), value=Figure.of(seconds)),
        Row("memory of the idle process, MB", "<= 200", value=Figure.of(standalone, "{:.0f}")),
        Row("memory of an idle gateway alone, MB", "<= 130", value=Figure.of(gateway, "{:.0f}")),
    ]
