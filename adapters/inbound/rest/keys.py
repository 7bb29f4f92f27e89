"""API keys over REST."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import BeforeValidator, Field

from adapters.inbound.rest import bodies
from adapters.inbound.rest.routing import Call, CursorPage, JsonRoute, errors, id_in_path
from domain import limits
from domain.access.model import ApiKey, CreatedKey, NewKey, Role, Scope
from domain.paging import Page

RoleName = Annotated[
    Literal["responder", "member", "admin"],
    BeforeValidator(lambda name: "member" if name == "user" else name),
]
"""`user` is the former name of `member`."""
ScopeName = Literal[
    "instances:read",
    "instances:write",
    "conversations:read",
    "messages:send",
    "knowledge:read",
    "knowledge:write",
    "events:read",
    "agents:write",
    "admin",
]


class CreateKey(bodies.StrictBody):
    name: bodies.Text | None = Field(
        None,
        description="What the key is for.",
        min_length=1,
        max_length=limits.KEY_NAME,
        examples=["Nightly export"],
    )
    role: RoleName = "member"
    scopes: list[ScopeName] | None = Field(
        None,
        description="What the key may be used for; without it, for all that its user may do.",
        min_length=1,
        examples=[["conversations:read", "messages:send"]],
    )
    userId: bodies.Text | None = Field(
        None,
        description="The user whom it stands for; without it the caller. Another one only by an admin.",
        max_length=limits.USER_ID,
    )
    expiresInDays: bodies.WholeNumber | None = Field(
        None,
        description="Not longer than the key lives that makes it; without it the key ends with that one.",
        ge=1,
        le=limits.KEY_DAYS,
        examples=[90],
    )

    def new(self) -> NewKey:
        scopes = None if self.scopes is None else tuple(dict.fromkeys(map(Scope, self.scopes)))
        role = Role(self.role) if "role" in self.model_fields_set else None
        return NewKey(role, self.name or "", self.userId, self.expiresInDays, scopes)


class KeyRecord(bodies.Answer):
    id: int = Field(examples=[3])
    userId: str = Field(examples=["ann"])
    role: Role = Field(description="What it may do at most.", examples=["member"])
    scopes: list[Scope] | None = Field(
        description="What it may be used for; null: for all that its user may do.", examples=[None]
    )
    createdBy: str | None = Field(description="Null: a command on the server.", examples=["ann"])
    kind: Literal["key", "session"]
    name: str = Field(examples=["Nightly export"])
    prefix: str = Field(description="The first characters of the key.", examples=["sb_Zp3vHkQ2"])
    live: bool = Field(description="Neither revoked nor expired.")
    createdAt: bodies.Timestamp
    expiresAt: bodies.OptionalTimestamp
    revokedAt: bodies.OptionalTimestamp
    parentId: int | None = Field(description="What it was made with, and ends with.")
    device: str = Field(
        description="What a session was opened with; empty for keys.", examples=["Chrome on Windows"]
    )
    address: str = Field(description="Where a session was opened; empty for keys.", examples=["192.0.2.7"])
    usedAt: bodies.OptionalTimestamp = Field(
        description="When a session was used last, to about five minutes."
    )


class CreatedKeyAnswer(bodies.Done):
    key: KeyRecord
    token: str = Field(
        description="The key itself. Shown once.", examples=["sb_Zp3vHkQ2mN8xR5tYwL1cD4fG7jK0bV6sA9eU2iO"]
    )


class KeyList(bodies.Answer):
    keys: list[KeyRecord] = bodies.attribute("items")
    next: int | None


BASE = "/api/agent/keys"
Kind = Annotated[
    Literal["key", "session"],
    BeforeValidator(lambda text: text or "key"),
    Query(description="`key` for API keys, `session` for sessions in browsers.", examples=["key"]),
]

router = APIRouter(route_class=JsonRoute, tags=["keys"])


KeyId = Annotated[int, id_in_path("keyId", "Id of an API key or of a session.", 3)]


@router.get(BASE, response_model=KeyList, responses=errors(400), summary="API keys")
async def list_keys(call: Call, page: CursorPage, kind: Kind = "key") -> Page[ApiKey, int]:
    """The caller's keys, or with `kind=session` the caller's sessions in browsers; an admin sees those of all users.

    Ordered by id; revoked and expired keys stay in the list, sessions that have ended do not.
    """
    return await call.services.keys.list(call.caller, kind, page.number, page.limit)


@router.post(
    BASE,
    status_code=201,
    response_model=CreatedKeyAnswer,
    responses=errors(400, 403, 413),
    summary="Create an API key",
)
async def create(call: Call, body: CreateKey) -> CreatedKey:
    """The key is shown in this answer alone, and ends with the key that makes it. Only an admin makes keys for other
    users, and with a role above their own. A key with scopes makes keys only if `admin` is among them."""
    return await call.services.keys.create(call.caller, body.new())


@router.delete(BASE + "/{keyId}", status_code=204, responses=errors(403, 404), summary="Revoke an API key")
async def revoke(call: Call, key: KeyId) -> None:
    """Ends the key or the session at once, with all sessions and keys that were made with it."""
    await call.services.keys.revoke(call.caller, key)
