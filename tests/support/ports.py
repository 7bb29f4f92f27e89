"""Loopback ports for what is told its port before it listens."""

import os
import random
import re
import socket
from collections import deque
from functools import cache
from pathlib import Path

_WORKERS = 16
"""Processes that run tests side by side, each with ports of its own."""
_LOWEST = 12_000
_CLIENTS = Path("/proc/sys/net/ipv4/ip_local_port_range")


def free_port() -> int:
    """A TCP port of 127.0.0.1 that nothing listens on.

    Nobody gets it meanwhile: it is none of those that the system gives to clients and to servers that ask for any,
    this process hands it out again only after all its others, and those that run tests beside it have others.
    """
    ports = _ports()
    for _ in range(len(ports)):
        ports.rotate()
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", ports[0]))
            except OSError:
                continue
        return ports[0]
    raise AssertionError("no port is free")


@cache
def _ports() -> deque[int]:
    """Those of this process, in an order by chance; the one handed out last stands in front."""
    ports = range(_LOWEST + _worker(), _highest(), _WORKERS)
    return deque(random.SystemRandom().sample(ports, len(ports)))


def _worker() -> int:
    """The number of this process among those of the run."""
    digits = re.sub(r"\D", "", os.environ.get("PYTEST_XDIST_WORKER", ""))
    return int(digits or 0) % _WORKERS


def _highest() -> int:
    first_of_clients = int(_CLIENTS.read_text().split()[0]) if _CLIENTS.exists() else 32_768
    return first_of_clients if first_of_clients > _LOWEST + 100 * _WORKERS else 32_768
