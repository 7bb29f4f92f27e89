"""JSON as no platform sends it: any value in any place of a body."""

import copy
from typing import Any

from hypothesis import strategies as st

Place = tuple[Any, ...]

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


def places(value: Any, at: Place = ()) -> list[Place]:
    """Every place inside a JSON value, as a path of keys and indexes."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [at] * bool(at) + [path for name, each in inner for path in places(each, (*at, name))]


def replaced(value: Any, place: Place, new: Any) -> Any:
    """A copy of the value with something else in one place."""
    changed = copy.deepcopy(value)
    *upper, last = place
    spot = changed
    for each in upper:
        spot = spot[each]
    spot[last] = new
    return changed
