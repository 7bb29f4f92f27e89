"""A running service: its REST API as a client uses it, and the memory of its processes."""

import asyncio
import os
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

from bench.measuring import ROOT, family, free_port, python
from bench.ours import KEY, SERVICE_KEY

_SAMPLE_SECONDS = 0.1


@dataclass
class Memory:
    """Peaks in MB since `reset`: of the service's own process, and of the largest of its children."""

    pid: int
    own: float = 0.0
    child: float = 0.0

    def reset(self) -> None:
        self.own = self.child = 0.0

    async def watch(self) -> None:
        while True:
            self._look()
            await asyncio.sleep(_SAMPLE_SECONDS)

    def _look(self) -> None:
        with suppress(FileNotFoundError, ProcessLookupError):
            self.own = max(self.own, _resident(self.pid))
            for pid in family(self.pid)[1:]:
                with suppress(FileNotFoundError, ProcessLookupError):
                    if not Path(f"/proc/{pid}/comm").read_text().startswith("postgres"):
                        self.child = max(self.child, _resident(pid))


def _resident(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


@dataclass
class Service:
    """One base of a running service."""

    session: aiohttp.ClientSession
    rest: str
    memory: Memory
    base_id: int = field(default=0)

    async def new_base(self) -> None:
        body = {"name": f"Bench {time.time()}", "description": "", "kb_manifest": {}}
        async with self.session.post(f"{self.rest}/api/agent/kb", json=body) as response:
            answer: Any = await response.json()
            assert response.status == 201, answer
        self.base_id = int(answer["id"])

    async def upload(self, path: Path, name: str, *, wait: bool = True) -> float:
        """Seconds until the file can be found; without `wait` until it is stored."""
        headers = {} if wait else {"prefer": "respond-async"}
        address = f"{self.rest}/api/agent/kb/{self.base_id}/uploadfile"
        started = time.perf_counter()
        with path.open("rb") as content:
            form = aiohttp.FormData()
            form.add_field("files", content, filename=name)
            async with self.session.post(address, data=form, headers=headers) as response:
                assert response.status in (201, 202), await response.text()
                await response.read()
        return time.perf_counter() - started

    async def search(self, query: str) -> tuple[float, list[Any]]:
        """Seconds, and the results."""
        address = f"{self.rest}/api/agent/kb/{self.base_id}/search"
        started = time.perf_counter()
        async with self.session.post(address, json={"query": query}) as response:
            answer: Any = await response.json()
            assert response.status == 200, answer
        return time.perf_counter() - started, answer["results"]

    async def busy(self) -> bool:
        """Whether a file of the base is still being processed."""
        async with self.session.get(f"{self.rest}/api/agent/kb/{self.base_id}/files") as response:
            answer: Any = await response.json()
        return any(file["status"] == "processing" for file in answer["files"])


@contextmanager
def _process(module: tuple[str, ...], port: int) -> Iterator[int]:
    """The service, started as `python -m` these words on a folder and ports of its own; its process id."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        environment = {
            **os.environ,
            "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'proto/gen'}",
            "DATA_DIR": f"{folder}/data",
            "HTTP_PORT": str(port),
            "GRPC_PORT": str(free_port()),
            "INTERNAL_SERVICE_KEY": SERVICE_KEY,
            "CONFIG_ENCRYPTION_KEY": KEY,
            "LOG_LEVEL": "error",
        }
        process = subprocess.Popen(
            [python(), "-m", *module], cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        try:
            for line in process.stdout:
                if "is ready" in line:
                    break
            yield process.pid
        finally:
            process.terminate()
            process.wait(30)
            process.stdout.close()


@asynccontextmanager
async def running(*module: str) -> AsyncIterator[Service]:
    """The service and a base of its own."""
    port = free_port()
    with _process(module, port) as pid:
        memory = Memory(pid)
        watching = asyncio.create_task(memory.watch())
        headers = {"authorization": f"Bearer {SERVICE_KEY}", "x-user-id": "bench"}
        timeout, connector = aiohttp.ClientTimeout(total=None), aiohttp.TCPConnector(force_close=True)
        async with aiohttp.ClientSession(headers=headers, timeout=timeout, connector=connector) as session:
            service = Service(session, f"http://127.0.0.1:{port}", memory)
            await service.new_base()
            yield service
        watching.cancel()
