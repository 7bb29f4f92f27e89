"""What a child may not do: limits of the kernel, and no network, programs or writing outside its folder."""

import ctypes
import math
import os
import resource
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000
_PR_SET_PDEATHSIG = 1
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

REFUSED_EVENTS = frozenset(
    {
        "socket.__new__",
        "socket.bind",
        "socket.connect",
        "socket.getaddrinfo",
        "socket.gethostbyname",
        "socket.sendto",
        "socket.sendmsg",
        "subprocess.Popen",
        "os.exec",
        "os.fork",
        "os.forkpty",
        "os.posix_spawn",
        "os.spawn",
        "os.startfile",
        "os.system",
        "pty.spawn",
    }
)
_TOUCHING = {
    "os.chmod": 1,
    "os.chown": 1,
    "os.link": 2,
    "os.mkdir": 1,
    "os.remove": 1,
    "os.rename": 2,
    "os.rmdir": 1,
    "os.symlink": 2,
    "os.truncate": 1,
    "os.utime": 1,
}
"""Events that change the file system, and how many of their arguments are paths."""


class Forbidden(PermissionError):
    """The file's reader tried what no reader may do."""


def leave_the_network() -> bool:
    """Puts this process and all it forks into an empty network of their own. False where the kernel refuses it: the
    audit hook of `refuse_access` stands alone then. Needs a single-threaded process."""
    if sys.platform != "linux":
        return False
    unshare = ctypes.CDLL(None, use_errno=True).unshare
    return any(unshare(flags) == 0 for flags in (_CLONE_NEWNET, _CLONE_NEWUSER | _CLONE_NEWNET))


def die_with_parent(parent: int) -> None:
    """Has the kernel kill this process when its parent ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def limit(
    memory_bytes: int, cpu_seconds: int, cpu_seconds_most: int, file_bytes: int
) -> Callable[[float], None]:
    """Sets the limits; memory counts from what is mapped now. Gives back what earns more CPU seconds."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))
    if sys.platform == "linux":
        mapped_pages = int(Path("/proc/self/statm").read_text().split()[0])
        ceiling = mapped_pages * resource.getpagesize() + memory_bytes
        resource.setrlimit(resource.RLIMIT_AS, (ceiling, ceiling))
    usage = resource.getrusage(resource.RUSAGE_SELF)
    granted = usage.ru_utime + usage.ru_stime + cpu_seconds
    hard = math.ceil(usage.ru_utime + usage.ru_stime) + max(cpu_seconds, cpu_seconds_most)
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(granted), hard))

    def earn(seconds: float) -> None:
        nonlocal granted
        granted = min(granted + seconds, hard)
        resource.setrlimit(resource.RLIMIT_CPU, (min(math.ceil(granted), hard), hard))

    return earn


def refuse_access(writable: Path) -> None:
    """From here on this process opens no socket, starts no program and writes below `writable` alone.

    An audit hook cannot be taken off again (PEP 578).
    """
    roof = str(writable.resolve()) + os.sep

    def refuse(event: str, arguments: tuple[Any, ...]) -> None:
        if event in REFUSED_EVENTS:
            raise Forbidden(f"{event} is not allowed while a file is read")
        if event == "open":
            path, _, flags = arguments
            touched: tuple[Any, ...] = (path,) if isinstance(flags, int) and flags & _WRITING else ()
        else:
            touched = arguments[: _TOUCHING.get(event, 0)]
        for path in touched:
            if isinstance(path, int):
                continue  # an open descriptor: it was let through when it was opened
            text = os.fsdecode(path)
            if text != os.devnull and not os.path.realpath(text).startswith(roof):
                raise Forbidden("writing is not allowed while a file is read")

    sys.addaudithook(refuse)
