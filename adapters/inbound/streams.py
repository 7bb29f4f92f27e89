"""Streams that go on for as long as their caller may see them."""

import contextlib
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import TypeVar

from domain.refusals import Unavailable

P = TypeVar("P")

CHECK_SECONDS = 10.0
"""How often it is asked whether a caller's key is still good, at the next page. Pages come every 15 seconds at the
latest."""


async def while_allowed(
    pages: AsyncGenerator[P, None],
    authenticate: Callable[[], Awaitable[object]],
    every: float = CHECK_SECONDS,
) -> AsyncGenerator[P, None]:
    """Raises what `authenticate` raises, except for an outage."""
    checked = time.monotonic()
    async with contextlib.aclosing(pages):
        async for page in pages:
            if time.monotonic() - checked >= every:
                checked = time.monotonic()
                with contextlib.suppress(Unavailable):
                    await authenticate()
            yield page
