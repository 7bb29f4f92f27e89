"""Permissions of users on what others have made."""

from dataclasses import dataclass
from enum import IntEnum

from domain.refusals import Forbidden


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
