"""What the tests of the fork server share."""

import asyncio
import os
import select
import socket
import subprocess
import sys
from pathlib import Path

from adapters.outbound.knowledge.parsing.sandbox.fork_server import ForkServer
from tests.parsing.making import pdf

ROOT = Path(__file__).parents[2]
LONG = b"<p>" + b"<b>word</b> <i>word</i> " * 800_000 + b"</p>"
"""A page that takes ten seconds and more."""
PAGES = pdf([["A page with a good many words on it."]] * 300)


def a_pipe(folder: Path) -> Path:
    """A file that keeps who reads it waiting, as nobody ever writes it."""
    path = folder / "pipe.txt"
    os.mkfifo(path)
    return path


def python(code: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a program that may import the project."""
    return run_outside([sys.executable, "-c", code, *arguments], **environment)


def run_outside(command: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    variables = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run(command, capture_output=True, text=True, timeout=600, env=variables, check=False)


class Counting(ForkServer):
    """Counts the children that it was asked for."""

    jobs = 0

    def submit(self, status: socket.socket, out: socket.socket) -> int:
        self.jobs += 1
        return super().submit(status, out)


async def gone(pid: int, seconds: float = 60) -> bool:
    """Waits for the end of a process that need not be ours."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    try:
        return bool(await asyncio.to_thread(poll.poll, seconds * 1000))
    finally:
        os.close(descriptor)
