"""How much memory the database may plan with."""

import os
from collections.abc import Iterable
from pathlib import Path

MEGABYTE = 2**20
# Control groups version 2 and 1 (https://docs.kernel.org/admin-guide/cgroup-v2.html); "max" is no limit.
_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
_UNKNOWN = 1024 * MEGABYTE


def memory(limits: Iterable[Path] = _LIMITS) -> int:
    """Bytes of memory: the machine's, or the container's where it has a limit."""
    try:
        found = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    except (AttributeError, ValueError, OSError):  # not on every system
        found = [_UNKNOWN]
    for path in limits:
        text = path.read_text().strip() if path.is_file() else ""
        if text.isdigit():
            found.append(int(text))
    return min(found)


def part_of_memory(part: int, least: int, most: int) -> int:
    """Megabytes: the `part`-th part of the memory, at least and at most so many."""
    return max(least, min(most, memory() // part // MEGABYTE))
