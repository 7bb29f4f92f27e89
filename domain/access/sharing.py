"""Permissions of users and teams on what others have made."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from functools import wraps
from typing import Any, TypeVar

from domain import limits
from domain.access.model import Caller, Scope
from domain.refusals import Fault, Forbidden, Invalid, NotFound


class Level(IntEnum):
    """What a permission on a knowledge base or an agent allows; each level includes the lower ones."""

    NONE = 0
    READ = 1
    UPDATE = 2
    DELETE = 3


class InstanceLevel(IntEnum):
    """What a permission on an instance allows; each level includes the lower ones.

    VIEW: conversations, health, deliveries. ANSWER: take over, answer, send first, write notes, rerun, replay.
    MANAGE: change, delete, share.
    """

    NONE = 0
    VIEW = 1
    ANSWER = 2
    MANAGE = 3


@dataclass(frozen=True, slots=True)
class Grantee:
    """Who has a permission: a user or a team."""

    user_id: str | None = None
    team_id: int | None = None

    def check(self) -> None:
        """Raises `Invalid` unless it is one of both."""
        if (self.user_id is None) == (self.team_id is None):
            raise Invalid.of([Fault("userId", "is required, or teamId in its place, not both")])
        if self.user_id is not None:
            limits.check_filled("userId", self.user_id, limits.USER_ID)

    def unknown(self) -> Invalid | NotFound:
        """Returns the refusal for a team, or a shared object, that is not there."""
        if self.team_id is not None:
            return Invalid.of([Fault("teamId", f"there is no team {self.team_id}")])
        return NotFound("it was deleted meanwhile")

    def __str__(self) -> str:
        return f"user:{self.user_id}" if self.team_id is None else f"team:{self.team_id}"


@dataclass(frozen=True, slots=True)
class Permission:
    """A level of a user, or of all members of a team."""

    user_id: str | None
    level: int
    team_id: int | None = None


def require(level: Level, needed: Level) -> None:
    if level < needed:
        raise Forbidden("Forbidden")


def require_level(level: InstanceLevel, needed: InstanceLevel) -> None:
    """Raises `Forbidden`."""
    if level is InstanceLevel.NONE:
        raise Forbidden("the instance belongs to another user")
    if level < needed:
        raise Forbidden(f"this needs the permission level {needed} ({needed.name}) on the instance")


def checked_level(field: str, level: int) -> Level:
    """The level of that number. Raises `Invalid`."""
    if level not in tuple(Level):
        raise Invalid.of([Fault(field, "must be 0 (none), 1 (READ), 2 (UPDATE) or 3 (DELETE)")])
    return Level(level)


def checked_instance_level(level: int) -> InstanceLevel:
    """The level of that number. Raises `Invalid`."""
    if level not in tuple(InstanceLevel):
        raise Invalid.of([Fault("level", "must be 0 (none), 1 (VIEW), 2 (ANSWER) or 3 (MANAGE)")])
    return InstanceLevel(level)


M = TypeVar("M", bound=Callable[..., Any])


def needs(*scopes: Scope) -> Callable[[M], M]:
    """Marks a method of a use case whose first argument is the caller: a key with scopes needs one of these.

    Without scopes every key may call it. The method raises `Forbidden` for any other key.
    """

    def mark(method: M) -> M:
        @wraps(method)
        def checked(self: Any, caller: Caller, *arguments: Any, **named: Any) -> Any:
            if scopes and not any(caller.has(scope) for scope in scopes):
                listed = " or ".join(scopes)
                raise Forbidden(f"this key lacks the scope {listed}; use one that has it")
            return method(self, caller, *arguments, **named)

        checked.scopes = scopes  # type: ignore[attr-defined]
        return checked  # type: ignore[return-value]

    return mark
