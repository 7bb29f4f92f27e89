"""Optional modules of libraries that nobody here needs, or not yet."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
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


@contextmanager
def postponed(module: str) -> Iterator[None]:
    """Imports of a module give one that loads it when a name of it is used, unless it is loaded already."""
    if module in sys.modules:
        yield
        return
    placeholder = sys.modules[module] = ModuleType(module)
    placeholder.__getattr__ = lambda name: getattr(import_module(module), name)  # type: ignore[method-assign]
    try:
        yield
    finally:
        del sys.modules[module]
