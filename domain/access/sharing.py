"""Permissions of users on what others have made."""

from dataclasses import dataclass
from enum import IntEnum

from domain.refusals import Fault, Forbidden, Invalid


class Level(IntEnum):
    """What a permission allows; each level includes the lower ones."""

    NONE = 0
    READ = 1
    UPDATE = 2
    DELETE = 3


@dataclass(frozen=True, slots=True)
class Permission:
    user_id: str
    level: Level


def require(level: Level, needed: Level) -> None:
    if level < needed:
        raise Forbidden("Forbidden")


def checked_level(field: str, level: int) -> Level:
    """The level of that number. Raises `Invalid`."""
    if level not in tuple(Level):
        raise Invalid.of([Fault(field, "must be 0 (none), 1 (READ), 2 (UPDATE) or 3 (DELETE)")])
    return Level(level)
