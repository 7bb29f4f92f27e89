"""Methods of dataclasses are compiled when they are first used, and are those that Python makes."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass, replace
from types import FunctionType
from typing import Any

import pytest

from apps.loading import quickly

METHODS = ("__init__", "__repr__", "__eq__", "__lt__", "__hash__", "__setattr__", "__delattr__")


def point() -> type[Any]:
    @dataclass(frozen=True, slots=True, order=True)
    class Point:
        x: int
        y: int = 2

    return Point


def point_in_space() -> type[Any]:
    """Most of its methods are those of its base."""

    @dataclass(frozen=True, repr=False, eq=False)
    class InSpace(point()):  # type: ignore[misc]
        z: int = 3

    return InSpace


def refusal(one: Any) -> str:
    with pytest.raises(FrozenInstanceError) as refused:
        one.x = 5
    return str(refused.value)


def later(make: Callable[[], type[Any]]) -> type[Any]:
    with quickly():
        return make()


def uncompiled(kind: type[Any]) -> set[str]:
    return {name for name in METHODS if name in vars(kind) and not isinstance(vars(kind)[name], FunctionType)}


@pytest.mark.parametrize("make", [point, point_in_space])
@pytest.mark.parametrize(
    "use",
    [
        lambda kind: repr(kind(1)),
        lambda kind: kind(1) == kind(1) != kind(2),
        lambda kind: kind(1) < kind(2),
        lambda kind: hash(kind(1)) == hash(kind(1, 2)),
        lambda kind: refusal(kind(1)),
        lambda kind: repr(replace(kind(1), y=4)),
        lambda kind: inspect.signature(kind),
        lambda kind: (kind.__init__.__qualname__, kind.__setattr__.__qualname__, kind.__doc__),
    ],
)
def test_a_use_gives_what_it_gives_without(make: Callable[[], type[Any]], use: Callable[[Any], Any]) -> None:
    assert use(later(make)) == use(make())


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="compiles all methods of a class at once")
def test_a_method_is_compiled_by_its_first_use_and_then_one_as_any() -> None:
    kind = later(point)
    before = uncompiled(kind)
    assert before >= {"__eq__", "__lt__", "__hash__", "__setattr__"}
    assert kind(1) == kind(1)
    assert uncompiled(kind) == before - {"__init__", "__eq__"}
