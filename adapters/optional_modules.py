"""Optional modules of libraries that nobody here needs."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import cast


@contextmanager
def lacking(module: str) -> Iterator[None]:
    """Makes imports of an optional module fail, unless it is loaded already."""
    if module in sys.modules:
        yield
        return
    sys.modules[module] = cast(ModuleType, None)
    try:
        yield
    finally:
        del sys.modules[module]
