"""How the modules of a command are loaded."""

from __future__ import annotations

import dataclasses
import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property, partial
from types import FunctionType
from typing import Any

from adapters.optional_modules import lacking

_CREATE = "_create_fn"
"""What `dataclasses` compiles each method with, up to Python 3.12; later versions compile all of a class at once."""


@contextmanager
def quickly() -> Iterator[None]:
    """Loads modules without work that an idle process has no use for."""
    with _uncollected(), _compiled_when_used(), lacking("pydantic.v1"):  # which the web framework looks for
        yield


@contextmanager
def _uncollected() -> Iterator[None]:
    """Looks for no garbage: what modules make stays, and going through it again and again takes a tenth of a start.
    It is not gone through later either."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


@contextmanager
def _compiled_when_used() -> Iterator[None]:
    """Leaves the methods of dataclasses to their first use: compiling those of one class takes half a millisecond,
    and there are six hundred."""
    create = getattr(dataclasses, _CREATE, None)
    if create is None:
        yield
        return
    setattr(dataclasses, _CREATE, partial(_Method, create))
    try:
        yield
    finally:
        setattr(dataclasses, _CREATE, create)


class _Method:
    """A method that its first use compiles, and puts in its own place."""

    def __init__(self, create: Callable[..., FunctionType], name: str, *text: Any, **names: Any) -> None:
        self.__name__ = name
        self._create = partial(create, name, *text, **names)

    @cached_property
    def _compiled(self) -> Any:
        return self._create()

    def __get__(self, instance: object, kind: type) -> Any:
        method = self._compiled
        for each in kind.__mro__:
            if each.__dict__.get(self.__name__) is self:
                method.__qualname__ = f"{each.__qualname__}.{self.__name__}"
                setattr(each, self.__name__, method)
        return method.__get__(instance, kind)

    def __call__(self, *arguments: Any) -> Any:
        """For `__repr__`, which `dataclasses` wraps."""
        return self._compiled(*arguments)
