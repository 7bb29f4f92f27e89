"""Passkeys over REST: they are listed and removed here; browsers make and use them at the console."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter
from pydantic import Field

from adapters.inbound.rest import bodies
from adapters.inbound.rest.routing import Call, JsonRoute, errors, id_in_path
from adapters.inbound.rest.users import USERS, UserId
from domain.access import model

PASSKEYS = "/api/agent/passkeys"
router = APIRouter(route_class=JsonRoute, tags=["users"])


class Passkey(bodies.Answer):
    id: int = Field(examples=[2])
    name: str = Field(examples=["My phone"])
    createdAt: bodies.Timestamp
    usedAt: bodies.OptionalTimestamp = Field(description="When it was used last; null: never.")


class PasskeyList(bodies.Answer):
    passkeys: list[Passkey]


class PasskeysRemoved(bodies.Answer):
    removed: int = Field(description="How many.", examples=[1])


PasskeyId = Annotated[int, id_in_path("passkeyId", "Id of a passkey.", 2)]


@router.get(
    PASSKEYS, response_model=PasskeyList, responses=errors(400, 403), summary="The caller's own passkeys"
)
async def list_passkeys(call: Call) -> dict[str, Sequence[model.Passkey]]:
    """Ordered by id; at most 20."""
    return {"passkeys": await call.services.passkeys.list(call.caller)}


@router.delete(
    PASSKEYS + "/{passkeyId}",
    status_code=204,
    responses=errors(400, 403, 404),
    summary="Remove a passkey of one's own",
)
async def remove_passkey(call: Call, passkey: PasskeyId) -> None:
    """It signs nobody in any more."""
    await call.services.passkeys.remove(call.caller, passkey)


@router.delete(
    USERS + "/{userId}/passkeys",
    response_model=PasskeysRemoved,
    responses=errors(400, 403, 404),
    summary="Remove all passkeys of a user, who lost them; for admins",
)
async def reset_passkeys(call: Call, user: UserId) -> dict[str, int]:
    """The user signs in another way, and adds new ones."""
    return {"removed": await call.services.passkeys.reset(call.caller, user)}
