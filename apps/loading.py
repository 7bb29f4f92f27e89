"""How the modules of a command are loaded."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Loads modules without looking for garbage: what they make stays, and going through it again and again takes a
    tenth of a start. It is not gone through later either."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
