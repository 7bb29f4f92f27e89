"""What the tests of the nursery share."""

from __future__ import annotations

import asyncio
import os
import select
import socket

from adapters.outbound.parsing.fence.service_side import Nursery
from tests.parsing.making import pdf

LONG = b"<p>" + b"<b>word</b> <i>word</i> " * 800_000 + b"</p>"
"""A page that takes ten seconds and more."""
PAGES = pdf([["A page with a good many words on it."]] * 300)


class Counting(Nursery):
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
