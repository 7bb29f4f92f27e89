"""Streams that go on for as long as their caller may see them."""

import contextlib
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import TypeVar

from domain.access.model import Caller
from domain.refusals import Unauthenticated, Unavailable

P = TypeVar("P")

CHECK_SECONDS = 10.0
"""How often it is asked whether a caller's key is still good, at the next page. Pages come every 15 seconds at the
latest."""

CHANGED = "the role of the key has changed; connect again"


async def while_allowed(
    pages: AsyncGenerator[P, None],
    caller: Caller,
    authenticate: Callable[[], Awaitable[Caller]],
    every: float = CHECK_SECONDS,
) -> AsyncGenerator[P, None]:
    """Raises what `authenticate` raises, except for an outage, and `Unauthenticated` when the caller has become an
    admin, or is one no longer: other pages are theirs then."""
    checked = time.monotonic()
    async with contextlib.aclosing(pages):
        async for page in pages:
            if time.monotonic() - checked >= every:
                checked = time.monotonic()
                with contextlib.suppress(Unavailable):
                    if (await authenticate()).is_admin is not caller.is_admin:
                        raise Unauthenticated(CHANGED)
            yield page
