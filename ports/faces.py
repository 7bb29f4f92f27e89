"""Protocols that remember which classes conform to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from abc import ABCMeta as _ProtocolType
else:
    _ProtocolType = type(Protocol)

_known: dict[tuple[type, type], bool] = {}


class Face(_ProtocolType):
    """The metaclass of Protocols that are found by `isinstance` on the way of each message.

    Python looks through all members anew at each check (about 50 µs); which faces a channel has is a matter of
    its class, so the first answer holds.
    """

    def __instancecheck__(cls, instance: Any) -> bool:  # noqa: N805 - a method of a metaclass
        place = (cls, instance.__class__)
        known = _known.get(place)
        if known is None:
            known = _known[place] = super().__instancecheck__(instance)
        return known
