"""Work on texts of any length, away from the event loop."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

SHORT = 2_000
"""Characters of a text that is worked on at once: a thread would cost more than the work."""

_THREADS = ThreadPoolExecutor(2, "texts")
"""Few, since all of them and the event loop share one interpreter lock."""


async def off_loop(size: int, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """The result of `work` on a text of `size` characters: at once for a short text, else in a thread."""
    if size <= SHORT:
        return work(*args, **kwargs)
    context = copy_context()
    return await asyncio.get_running_loop().run_in_executor(
        _THREADS, lambda: context.run(work, *args, **kwargs)
    )
