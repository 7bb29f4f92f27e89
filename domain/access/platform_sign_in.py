"""Signs people in with the account that they have at a chat platform: Slack, Discord, Mattermost, Microsoft Teams."""

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from domain.access.model import Caller, User, UserState, digest
from domain.access.service import SUSPENDED
from domain.access.sessions import Browser, NewSession, SessionOpener
from domain.access.single_sign_on import LONGEST, STALE, STATE_LIFE, SignedIn
from domain.refusals import Forbidden, Invalid
from domain.verification.model import OAUTH_PROVIDERS, Provider
from domain.verification.service import give_identities
from ports.access import IdentityStore, OAuthFailed, OAuthProviders, ProvenAccount, UserStore
from ports.audit import Audit
from ports.sign_in import SignInFailed, SignInStore
from ports.system import Clock, Ids

log = logging.getLogger(__name__)

STATE_PREFIX = "console."
"""Begins the `state` of a sign-in to the console: the address that the platform sends the browser back to is that of
verification, whose states have no dot."""

NOT_SET_UP = "provider: sign-in with this platform is not set up on this server"
NOT_KNOWN = (
    "No user here has this account or its e-mail address. Ask an admin for an invitation. If you are a user, sign in"
    " another way and verify the account in 'My identities'."
)
OTHER_ACCOUNT = (
    "The e-mail address of this account belongs to a user who has verified another account of the platform. Sign in"
    " with that one, or another way."
)


@dataclass(eq=False)
class PlatformSignInService:
    """`offered`: the providers whose settings are complete."""

    users: UserStore
    identities: IdentityStore
    store: SignInStore
    oauth: OAuthProviders
    opener: SessionOpener
    audit: Audit
    ids: Ids
    clock: Clock
    offered: Collection[Provider]

    async def platforms(self) -> Sequence[str]:
        """The providers with which people can sign in here."""
        return [provider.value for provider in OAUTH_PROVIDERS if provider in self.offered]

    async def start(self, provider: str, visit: str, next_page: str) -> str:
        """Where the browser goes. `visit`: a secret of the browser, which it has to show again in `finish`.

        Raises `Invalid`.
        """
        platform = self._platform(provider)
        if not visit or len(visit) > LONGEST or len(next_page) > LONGEST:
            raise Invalid("the address of the page is too long")
        state, verifier = STATE_PREFIX + self.ids.token(), self.ids.token(48)
        data = {"visit": digest(visit).hex(), "verifier": verifier, "next": next_page}
        await self.store.begin(_kind(platform), digest(state), data, self.clock.now() + STATE_LIFE)
        return self.oauth.authorize_url(platform, state, verifier, with_email=True)

    async def finish(
        self, provider: str, visit: str, state: str, code: str, error: str, browser: Browser
    ) -> SignedIn:
        """Opens the session of who comes back from the platform with a code or an error. Makes no user.

        Raises `Invalid` for what proves nothing, and `Forbidden` for who is no user or is suspended.
        """
        platform = self._platform(provider)
        try:
            begun = await self._begun(platform, visit, state)
            account = await self._account(platform, code, error, begun["verifier"])
        except SignInFailed as failure:
            await self.opener.note_refusal(browser, str(failure))
            raise Invalid(str(failure)) from failure
        try:
            user = await self._user_of(account)
        except Forbidden as refusal:
            await self.opener.note_refusal(browser, refusal.message, account.email)
            raise
        new = NewSession(user.id, user.role, platform.value)
        opened = (await self.opener.open(new, browser))[1]
        return SignedIn(opened.token, opened.expires_at, begun["next"])

    def _platform(self, provider: str) -> Provider:
        if provider not in OAUTH_PROVIDERS or Provider(provider) not in self.offered:
            raise Invalid(NOT_SET_UP)
        return Provider(provider)

    async def _begun(self, platform: Provider, visit: str, state: str) -> Mapping[str, str]:
        """What was noted when the sign-in began, once. Raises `SignInFailed`."""
        begun = await self.store.take(_kind(platform), digest(state), self.clock.now())
        if begun is None or begun["visit"] != digest(visit).hex():
            raise SignInFailed(STALE)
        return begun

    async def _account(self, platform: Provider, code: str, error: str, verifier: str) -> ProvenAccount:
        """Exchanges the code. Raises `SignInFailed`."""
        if error or not code or len(code) > LONGEST:
            shown = "".join(filter(str.isprintable, error))[:100]
            raise SignInFailed(f"The platform signed nobody in ({shown or 'it sent no code'}).")
        try:
            return await self.oauth.identify(platform, code, verifier)
        except OAuthFailed as failure:
            log.warning("a sign-in with %s failed: %s", platform.value, failure)
            raise SignInFailed("The platform did not confirm your account. Please try again.") from failure

    async def _user_of(self, account: ProvenAccount) -> User:
        """The user who has verified this account; else the one with its e-mail address, for whom it is verified then.
        Raises `Forbidden`."""
        user_id = await self.identities.resolve([account.identity], None)
        if user_id is not None:
            return _active(await self.users.find(user_id))
        user = _active(await self.users.of_email(account.email) if account.email else None)
        known = await self.identities.of_user(user.id)
        if any(identity.field == account.identity.field for identity in known):
            raise Forbidden(OTHER_ACCOUNT)  # addresses are given to other people
        await give_identities(self.identities, self.audit, Caller(user.id, user.role), [account.identity])
        return user


def _active(user: User | None) -> User:
    """Raises `Forbidden`."""
    if user is None:
        raise Forbidden(NOT_KNOWN)
    if user.state is UserState.SUSPENDED:
        raise Forbidden(SUSPENDED.format(user.id[:100]))
    return user


def _kind(platform: Provider) -> str:
    """The kind of sign-ins under way with a platform."""
    return f"account:{platform.value}"
