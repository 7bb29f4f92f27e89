"""Who calls: API keys, callers and their roles."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from domain.refusals import Fault, Invalid


class Role(StrEnum):
    """What a caller may do: a user acts on what is its own, an admin on everything."""

    USER = "user"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Caller:
    """The authenticated caller of a use case. `is_service`: it came with the internal service key."""

    user_id: str
    role: Role = Role.USER
    is_service: bool = False

    @property
    def is_admin(self) -> bool:
        return self.role is Role.ADMIN

    @property
    def user(self) -> str:
        """The user for whom something is created or listed.

        Raises `Invalid` for a service that acts for nobody: it may act on every object, and owns none.
        """
        if self.is_service and self.is_admin:
            raise Invalid.of(
                [Fault("x-user-id", "is required here: it names the user for whom a service acts")]
            )
        return self.user_id

    def may_act_for(self, owner: str) -> bool:
        """Whether the caller may act on what belongs to `owner`."""
        return self.is_admin or self.user_id == owner


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key as it is listed: never the secret, only its first characters."""

    id: int
    user_id: str
    role: Role
    prefix: str
    created_at: datetime
    revoked_at: datetime | None = None
