"""Runs the service at a steady load and says whether memory, files, connections, tables and times stay flat.

python -m bench.soak [--minutes 30] [--rate 150] [--set NAME=VALUE ...] [--keep]

`--set` gives settings of the service, such as short times of retention. The report goes to standard output; `--keep`
also writes it to bench/results/soak.md. Exit status 1 when something grew, was lost or came twice.
"""

import argparse
import asyncio
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from adapters.outbound.storage.embedded import attach
from bench.measuring import ROOT, free_port, python
from bench.ours import KEY, SERVICE_KEY
from bench.soak.load import Load
from bench.soak.report import Outcome, report
from bench.soak.samples import Sample, Sampler
from bench.soak.stub import Stub

SAMPLE_SECONDS = 10.0
DRAIN_SECONDS = 120.0
READY_SECONDS = 120.0
REST_SECONDS = 90.0
"""After which connections that are not used are closed."""


@dataclass(frozen=True)
class Service:
    pid: int
    base: str
    data_dir: Path


@contextmanager
def service(folder: Path, stub: str, given: dict[str, str]) -> Iterator[Service]:
    """`switchboard up` on a fresh database; it and its folder are gone afterwards."""
    port = free_port()
    settings = {
        "DATA_DIR": str(folder / "data"),
        "HTTP_PORT": str(port),
        "GRPC_PORT": str(free_port()),
        "INTERNAL_SERVICE_KEY": SERVICE_KEY,
        "CONFIG_ENCRYPTION_KEY": KEY,
        "LOG_LEVEL": "error",
        "EMBEDDING_PREPARE_AT_START": "false",
        "AGENT_URL": "https://soak.example",
        "DOWNSTREAM_URL": f"{stub}/resource",
        "BOT_MESSENGER_API_URL": stub,
        "WORKSPACE_CHAT_API_URL": stub,
        **given,
    }
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'proto/gen'}", **settings}
    log = folder / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [python(), "-m", "apps.cli", "up"], cwd=ROOT, env=environment, stdout=output, stderr=output
        )
    try:
        deadline = time.monotonic() + READY_SECONDS
        while b"is ready" not in log.read_bytes():
            if process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(log.read_text())
            time.sleep(0.1)
        yield Service(process.pid, f"http://127.0.0.1:{port}", folder / "data")
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


async def soak(folder: Path, minutes: float, rate: float, given: dict[str, str]) -> Outcome:
    stub, seconds = Stub(), minutes * 60
    address = await stub.start()
    headers = {"Authorization": f"Bearer {SERVICE_KEY}", "x-user-id": "soak"}
    connector = aiohttp.TCPConnector(limit=200)
    try:
        with service(folder, address, given) as running:
            async with aiohttp.ClientSession(headers=headers, connector=connector) as session:
                load = Load(session, running.base, stub)
                await load.connect(address)
                dsn = attach(running.data_dir)
                assert dsn is not None
                sampler = Sampler(running.pid, dsn, session, running.base)
                before = await sampler.take(0)
                samples = await _measured(load, sampler, rate, seconds)
                lost = await _drained(load)
                await asyncio.sleep(REST_SECONDS)
                at_rest = before, await sampler.take(len(load.acknowledged))
                outcome = Outcome(load, samples, at_rest, lost, sampler.rows(), minutes, rate)
                sampler.close()
    finally:
        await stub.stop()
    return outcome


async def _measured(load: Load, sampler: Sampler, rate: float, seconds: float) -> list[Sample]:
    samples: list[Sample] = []

    async def sample() -> None:
        while True:
            samples.append(await sampler.take(len(load.acknowledged)))
            await asyncio.sleep(SAMPLE_SECONDS)

    sampling = asyncio.create_task(sample())
    knowledge = asyncio.create_task(load.use_knowledge(seconds))
    try:
        await load.run(rate, seconds)
        await knowledge
    finally:
        sampling.cancel()
        knowledge.cancel()
    samples.append(await sampler.take(len(load.acknowledged)))
    return samples


async def _drained(load: Load) -> set[int]:
    """The acknowledged messages that are not answered after a while."""
    deadline = time.monotonic() + DRAIN_SECONDS
    while (missing := load.acknowledged - set(load.stub.taken)) and time.monotonic() < deadline:
        await asyncio.sleep(0.5)
    return missing


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--rate", type=float, default=150.0, help="messages a second")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", dest="given")
    parser.add_argument("--keep", action="store_true", help="write bench/results/soak.md")
    options = parser.parse_args()
    given = dict(setting.partition("=")[::2] for setting in options.given)
    with tempfile.TemporaryDirectory(prefix="switchboard-soak-", ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o755)
        outcome = asyncio.run(soak(Path(name), options.minutes, options.rate, given))
    machine = f"{os.cpu_count()} processors, Python {platform.python_version()}"
    text = report(outcome, machine, options.given)
    print(text)
    if options.keep:
        (ROOT / "bench/results/soak.md").write_text(text)
    return 0 if outcome.ok else 1


if __name__ == "__main__":
    sys.exit(main())
