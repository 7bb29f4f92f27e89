"""Passkeys (WebAuthn): sign-in without a provider, and a second factor of admins."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from domain import limits
from domain.access.model import Caller, Passkey, Scope, Session, UserState, digest
from domain.access.sessions import Browser, NewSession, SessionOpener
from domain.access.sharing import needs
from domain.audit.model import Action
from domain.refusals import Conflict, Fault, Forbidden, Invalid, NotFound, Unauthenticated
from ports.access import KeyStore, UserStore
from ports.audit import Audit
from ports.sign_in import Authenticator, NewPasskey, PasskeyStore, SignInFailed, SignInStore
from ports.system import Clock, Ids

CHALLENGE_LIFE = timedelta(minutes=10)
MOST_PASSKEYS = 20
LONGEST_CREDENTIAL = 20_000
REGISTER, PROVE = "passkey-register", "passkey-prove"
STALE = "This page is out of date, or the passkey was asked for in another one. Try again."
UNKNOWN = "This passkey is not known here. Sign in another way, and add it anew."


@dataclass(frozen=True, slots=True)
class Challenge:
    """What the browser needs to make or to use a passkey. `options` is JSON; `state` comes back with the answer."""

    state: str
    options: str


@dataclass(eq=False)
class PasskeyService:
    keys: KeyStore
    users: UserStore
    store: PasskeyStore
    pending: SignInStore
    authenticator: Authenticator
    opener: SessionOpener
    audit: Audit
    ids: Ids
    clock: Clock

    @needs()
    async def list(self, caller: Caller) -> Sequence[Passkey]:
        """The caller's own, ordered by id. Raises `Forbidden` for a key without the scope `admin`."""
        if not caller.is_session and not caller.has(Scope.ADMIN):
            raise Forbidden("this needs a key with the scope admin")
        return await self.store.of_user(caller.user)

    @needs()
    async def start(self, caller: Caller) -> Challenge:
        """Raises `Forbidden`, and `Conflict` for too many passkeys."""
        own = await self.store.of_user(caller.user)
        _check_may_add(caller, own)
        if len(own) >= MOST_PASSKEYS:
            raise Conflict(f"you have {MOST_PASSKEYS} passkeys; remove one first")
        known = [passkey.credential_id for passkey in own]
        challenge, options = self.authenticator.registration(caller.user_id, known)
        return await self._begun(REGISTER, challenge, options, caller.user_id)

    @needs()
    async def add(self, caller: Caller, state: str, credential: str, name: str) -> Passkey:
        """Stores a passkey that the browser made; its session has been proved by it. Raises `Invalid`, `Forbidden`,
        and `Conflict` for one that somebody has already."""
        _check_session(caller)
        name = limits.check_filled("name", name, limits.KEY_NAME).strip()
        challenge = await self._challenge(REGISTER, state, caller.user_id)
        _check_may_add(caller, await self.store.of_user(caller.user))
        try:
            made = self.authenticator.registered(credential[:LONGEST_CREDENTIAL], challenge)
        except SignInFailed as failure:
            raise Invalid(str(failure)) from failure
        new = NewPasskey(caller.user, made.credential_id, made.public_key, made.sign_count, name)
        async with self.audit.change(caller, Action.PASSKEY_ADDED, f"user:{caller.user_id}", {"name": name}):
            passkey = await self.store.add(new, self.clock.now())
            if passkey is None:
                raise Conflict("this passkey is known already")
            if caller.key_id is not None:
                await self.keys.mark_proved(caller.key_id)
        return passkey

    @needs(Scope.ADMIN)
    async def remove(self, caller: Caller, passkey_id: int) -> None:
        """Raises `NotFound`."""
        data = {"passkey": passkey_id}
        async with self.audit.change(caller, Action.PASSKEY_REMOVED, f"user:{caller.user_id}", data):
            if not await self.store.remove(caller.user, passkey_id):
                raise NotFound(f"you have no passkey {passkey_id}")

    @needs(Scope.ADMIN)
    async def reset(self, caller: Caller, user_id: str) -> int:
        """Removes all passkeys of a user, who lost them; how many. Raises `Forbidden` for all but admins,
        `NotFound`."""
        caller.require_admin("resets passkeys")
        if await self.users.find(user_id) is None:
            raise NotFound(f"there is no user '{user_id[:100]}'")
        async with self.audit.change(caller, Action.PASSKEY_REMOVED, f"user:{user_id}") as details:
            details["count"] = count = await self.store.remove_all(user_id)
        return count

    @needs()
    async def ask(self, caller: Caller) -> Challenge:
        """Asks for one of the caller's passkeys, as a second factor. Raises `NotFound` without one,
        `Forbidden` for an API key."""
        _check_session(caller)
        known = [passkey.credential_id for passkey in await self.store.of_user(caller.user)]
        if not known:
            raise NotFound("you have no passkey yet; add one")
        challenge, options = self.authenticator.proof(known)
        return await self._begun(PROVE, challenge, options, caller.user_id)

    @needs()
    async def confirm(self, caller: Caller, state: str, credential: str) -> None:
        """Notes that the session was proved by a passkey of its user. Raises `Invalid`, `Unauthenticated`."""
        _check_session(caller)
        challenge = await self._challenge(PROVE, state, caller.user_id)
        passkey = await self._proved(credential, challenge, Browser(caller.address), caller.user_id)
        if caller.key_id is not None:
            data = {"with": f"passkey:{passkey.id}"}
            async with self.audit.change(caller, Action.SESSION_PROVED, f"session:{caller.key_id}", data):
                await self.keys.mark_proved(caller.key_id)

    async def challenge(self) -> Challenge:
        """Asks for any passkey, to sign in."""
        challenge, options = self.authenticator.proof(())
        return await self._begun(PROVE, challenge, options, "")

    async def sign_in(self, state: str, credential: str, browser: Browser) -> Session:
        """Opens a session. Raises `Invalid`, `Unauthenticated`, `Forbidden` for a suspended user."""
        challenge = await self._challenge(PROVE, state, "")
        passkey = await self._proved(credential, challenge, browser)
        user = await self.users.find(passkey.user_id)
        if user is None or user.state is UserState.SUSPENDED:
            await self.opener.note_refusal(browser, "suspended", passkey.user_id)
            raise Forbidden(f"the user '{passkey.user_id[:100]}' is suspended; ask an admin")
        new = NewSession(user.id, user.role, f"passkey:{passkey.id}", is_proved=True)
        return (await self.opener.open(new, browser))[1]

    async def _begun(self, kind: str, challenge: bytes, options: str, user_id: str) -> Challenge:
        state = self.ids.token()
        data = {"challenge": challenge.hex(), "user": user_id}
        await self.pending.begin(kind, digest(state), data, self.clock.now() + CHALLENGE_LIFE)
        return Challenge(state, options)

    async def _challenge(self, kind: str, state: str, user_id: str) -> bytes:
        """Takes the challenge of a state. Raises `Invalid`."""
        data = await self.pending.take(kind, digest(state), self.clock.now())
        if data is None or data["user"] != user_id:
            raise Invalid.of([Fault("passkey", STALE)])
        return bytes.fromhex(data["challenge"])

    async def _proved(
        self, credential: str, challenge: bytes, browser: Browser, user_id: str | None = None
    ) -> Passkey:
        """The passkey that answers the challenge, of that user where one is named. Raises `Unauthenticated`."""
        try:
            if len(credential) > LONGEST_CREDENTIAL:
                raise SignInFailed(UNKNOWN)
            passkey = await self.store.find(self.authenticator.credential_id(credential))
            if passkey is None or (user_id is not None and passkey.user_id != user_id):
                raise SignInFailed(UNKNOWN)
            count = self.authenticator.proved(credential, challenge, passkey)
        except SignInFailed as failure:
            await self.opener.note_refusal(browser, str(failure), user_id or "")
            raise Unauthenticated(str(failure)) from failure
        await self.store.used(passkey.id, count, self.clock.now())
        return passkey


def _check_may_add(caller: Caller, own: Sequence[Passkey]) -> None:
    """Raises `Forbidden`."""
    _check_session(caller)
    if own and caller.lacks_passkey:
        raise Forbidden("confirm with one of your passkeys first")


def _check_session(caller: Caller) -> None:
    """Raises `Forbidden`."""
    if not caller.is_session:
        raise Forbidden("passkeys are added and used in the console")
