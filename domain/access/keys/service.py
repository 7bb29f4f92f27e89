"""API keys, as their users see them."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from domain import limits
from domain.access.model import Caller, CreatedKey, KeyKind, KeyPage, NewKey, Role
from domain.access.service import AccessService, check_user
from domain.refusals import Fault, Forbidden, Invalid, NotFound
from domain.timestamps import iso_milliseconds
from ports.clock import Clock
from ports.keys import KeyStore

LISTED = (KeyKind.KEY, KeyKind.SESSION)
NO_KEY = "there is no key {}"


@dataclass(eq=False)
class KeyService:
    """`ports.keys.Keys`."""

    access: AccessService
    store: KeyStore
    clock: Clock

    async def create(self, caller: Caller, new: NewKey) -> CreatedKey:
        _check(new)
        user_id = new.user_id.strip() if new.user_id is not None else caller.user
        if not caller.may_act_for(user_id):
            raise Forbidden("only an admin makes keys for other users")
        if new.role is Role.ADMIN and not caller.is_admin:
            raise Forbidden("only an admin makes keys with the role admin")
        created = await self.access.create_key(
            user_id, new.role, new.name.strip(), self._end(caller, new.expires_in_days), caller.key_id
        )
        return CreatedKey(*created)

    def _end(self, caller: Caller, days: int | None) -> datetime | None:
        """When the new key expires: with the credential of the caller at the latest. Raises `Invalid`."""
        now = self.clock.now()
        expires_at = now + timedelta(days=days) if days else caller.expires_at
        if expires_at is None or caller.expires_at is None or expires_at <= caller.expires_at:
            return expires_at
        most = (caller.expires_at - now).days
        mend = f"give at most {most}, or leave it out" if most else "leave it out"
        raise Invalid.of(
            [
                Fault(
                    "expiresInDays",
                    f"must not reach beyond {iso_milliseconds(caller.expires_at)}, when the key or session that makes"
                    f" this key expires: {mend}",
                )
            ]
        )

    async def list(self, caller: Caller, kind: str, cursor: int, limit: int) -> KeyPage:
        if kind not in LISTED:
            raise Invalid.of([Fault("kind", f"must be one of {', '.join(LISTED)}")])
        user_id = None if caller.is_admin else caller.user_id
        rows = await self.store.list(KeyKind(kind), self.clock.now(), user_id, cursor, limit + 1)
        return KeyPage(rows[:limit], rows[limit - 1].id if len(rows) > limit else None)

    async def revoke(self, caller: Caller, key_id: int) -> None:
        now = self.clock.now()
        key = await self.store.get(key_id, now)
        if key is None:
            raise NotFound(NO_KEY.format(key_id))
        if not caller.may_act_for(key.user_id):
            raise Forbidden("this key belongs to another user")
        await self.store.revoke(key_id, now)


def _check(new: NewKey) -> None:
    faults = []
    if fault := limits.text_fault(new.name, limits.KEY_NAME):
        faults.append(Fault("name", fault))
    if new.expires_in_days is not None and not 1 <= new.expires_in_days <= limits.KEY_DAYS:
        faults.append(Fault("expiresInDays", f"must be a whole number from 1 to {limits.KEY_DAYS}"))
    if faults:
        raise Invalid.of(faults)
    if new.user_id is not None:
        check_user(new.user_id, "userId")
