"""The bodies of the routes of API keys."""

from typing import Literal

from pydantic import Field

from adapters.inbound.rest.bodies import (
    Answer,
    Done,
    OptionalTimestamp,
    StrictBody,
    Text,
    Timestamp,
    WholeNumber,
    attribute,
)
from domain import limits
from domain.access.model import NewKey, Role


class CreateKey(StrictBody):
    name: Text | None = Field(
        None, description="What the key is for.", min_length=1, max_length=limits.KEY_NAME
    )
    role: Literal["user", "admin"] = "user"
    userId: Text | None = Field(
        None,
        description="The user whom it stands for; without it the caller. Another one only by an admin.",
        max_length=limits.USER_ID,
    )
    expiresInDays: WholeNumber | None = Field(
        None,
        description="Not longer than the key lives that makes it; without it the key ends with that one.",
        ge=1,
        le=limits.KEY_DAYS,
    )

    def new(self) -> NewKey:
        return NewKey(Role(self.role), self.name or "", self.userId, self.expiresInDays)


class KeyRecord(Answer):
    id: int
    userId: str
    role: Literal["user", "admin"]
    kind: Literal["key", "session"]
    name: str
    prefix: str = Field(description="The first characters of the key.")
    live: bool = Field(description="Neither revoked nor expired.")
    createdAt: Timestamp
    expiresAt: OptionalTimestamp
    revokedAt: OptionalTimestamp
    parentId: int | None = Field(description="What it was made with, and ends with.")


class CreatedKeyAnswer(Done):
    key: KeyRecord
    token: str = Field(description="The key itself. Shown once.")


class KeyList(Answer):
    keys: list[KeyRecord] = attribute("items")
    next: int | None
