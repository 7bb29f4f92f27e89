"""Identity verification: codes by mail, the messenger bot, OAuth."""

import logging
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from domain.access.model import Caller, Scope
from domain.access.sharing import needs
from domain.audit.model import Action
from domain.channels.messages import Identity
from domain.refusals import Fault, Forbidden, Invalid, NotFound, TooMany, Unavailable
from domain.verification import model
from ports import access
from ports.audit import Audit
from ports.system import Clock, Ids

log = logging.getLogger(__name__)

BAD_CODE = "otp: the code is wrong or expired; check it, or ask for a new one"
BAD_STATE = "This sign-in has expired or was used already. Please start the verification again."
BAD_LINK = "token: the verification link is expired or was used already"


@dataclass(eq=False)
class IdentityService:
    """The external identities of a user. `offered`: the providers whose settings are complete."""

    identities: access.IdentityStore
    offered: Collection[model.Provider]
    audit: Audit

    async def providers(self) -> Mapping[str, bool]:
        """Which providers are set up on this server, by id, in their order."""
        listed = [
            provider
            for provider in model.Provider
            if provider in self.offered or provider not in model.UNLISTED
        ]
        return {provider.value: provider in self.offered for provider in listed}

    @needs(Scope.ADMIN)
    async def list_identities(self, caller: Caller) -> Sequence[Identity]:
        return await self.identities.of_user(caller.user)

    @needs(Scope.ADMIN)
    async def remove_identity(self, caller: Caller, identity: Identity) -> None:
        """Raises `NotFound`."""
        user = caller.user
        model.check_identity(identity)
        data = {"fields": [identity.field]}
        async with self.audit.change(caller, Action.IDENTITY_REMOVED, f"user:{user}", data):
            if not await self.identities.take(user, identity):
                raise NotFound(f"you have no verified identity {identity.field} of this value")


@dataclass(eq=False)
class EmailVerificationService:
    """Verification of a mail address by a one-time code. `secret` keys the digests of one-time codes."""

    identities: access.IdentityStore
    pending: access.VerificationStore
    mailer: access.Mailer
    clock: Clock
    ids: Ids
    audit: Audit
    offered: Collection[model.Provider]
    secret: bytes

    @needs(Scope.ADMIN)
    async def start_email(self, caller: Caller, email: str) -> model.CodeSent:
        """Sends a one-time code. Raises `Invalid`, `TooMany`, `Unavailable`."""
        user = caller.user
        _require(model.Provider.EMAIL, self.offered)
        address = model.checked_email(email)
        code = self.ids.digits(model.CODE_DIGITS)
        digest = model.code_digest(self.secret, user, address, code)
        wait = await self.pending.add_code(user, address, digest, self.clock.now())
        if wait is not None:
            raise TooMany("too many codes were sent within the hour; try again later", wait)
        text = (
            f"Your verification code is {code}\n\nIt is valid for 10 minutes. If you did not ask for it, ignore"
            " this mail and tell nobody the code.\n"
        )
        try:
            await self.mailer.send(address, f"Your verification code: {code}", text)
        except access.MailFailed as failure:
            log.warning("a verification mail was not sent: %s", failure)
            if failure.refused:
                raise Invalid.of([Fault("email", "the mail server does not take mail for it")]) from failure
            raise Unavailable("the verification mail could not be sent; try again later", 60) from failure
        life = int(model.CODE_LIFE.total_seconds())
        return model.CodeSent(
            life, f"A {model.CODE_DIGITS}-digit code was sent to {address}. It is valid for 10 minutes."
        )

    @needs(Scope.ADMIN)
    async def verify_email(self, caller: Caller, otp: str) -> str:
        """The address that is verified now. Raises `Invalid`."""
        user = caller.user
        _require(model.Provider.EMAIL, self.offered)
        code = model.checked_code(otp)
        attempt = await self.pending.try_code(user, self.clock.now())
        if attempt is None:
            raise Invalid(BAD_CODE)
        digest = model.code_digest(self.secret, user, attempt.address, code)
        if not model.same(digest, attempt.digest) or not await self.pending.take_code(user, digest):
            raise Invalid(BAD_CODE)
        await give_identities(self.identities, self.audit, caller, [Identity("email", attempt.address)])
        return attempt.address


@dataclass(eq=False)
class BotVerificationService:
    """Verification of a phone number by a contact that is shared with the messenger bot."""

    identities: access.IdentityStore
    pending: access.VerificationStore
    bot: access.VerificationBot
    clock: Clock
    ids: Ids
    audit: Audit
    offered: Collection[model.Provider]

    @needs(Scope.ADMIN)
    async def start_bot_messenger(self, caller: Caller) -> model.BotLink:
        """Raises `Invalid` when the bot is not set up."""
        user = caller.user
        _require(model.Provider.BOT_MESSENGER, self.offered)
        token = self.ids.token()
        await self.pending.add_link(model.token_digest(token), user, self.clock.now() + model.LINK_LIFE)
        life = int(model.LINK_LIFE.total_seconds())
        message = "Open the link, press Start and share your contact. The link is valid for 5 minutes."
        return model.BotLink(self.bot.deep_link(token), life, message)

    async def bot_webhook(self, headers: Mapping[str, str], body: bytes) -> None:
        """A call of the messenger platform. Header names are lower-case. Raises `Unauthenticated`, `Invalid`."""
        _require(model.Provider.BOT_MESSENGER, self.offered)
        message = self.bot.read(headers, body)
        if message is None:
            return
        if message.phone is not None:
            if not message.own_contact:
                text = "Please share your own contact, with the button below."
                await self.bot.ask_for_contact(message.chat_id, text)
                return
            try:
                identities = model.bot_identities(message.sender_id, message.phone)
            except Invalid:
                await self.bot.say(message.chat_id, "This phone number cannot be used.")
                return
            user = await self.pending.take_bound_link(message.sender_id, self.clock.now())
            if user is None:
                text = "Please open the verification link of the platform first."
                await self.bot.say(message.chat_id, text)
                return
            await give_identities(self.identities, self.audit, Caller(user), identities)
            text = "Your phone number is verified. You can go back to the platform."
            await self.bot.say(message.chat_id, text)
        elif message.link_token:
            user = await self.pending.bind_link(
                model.token_digest(message.link_token), message.sender_id, self.clock.now()
            )
            if user is None:
                text = "This link is expired or was used already. Ask for a new one."
                await self.bot.say(message.chat_id, text)
                return
            await self.bot.ask_for_contact(
                message.chat_id,
                f"Share your contact to link your phone number with the account {user}. If you did not ask for"
                " this, do nothing.",
            )
        else:
            await self.bot.say(message.chat_id, "Please start the verification on the platform first.")

    @needs(Scope.ADMIN)
    async def complete_bot_messenger(self, caller: Caller, token: str, messenger_id: str, phone: str) -> str:
        """The user whose identities were stored. Raises `Forbidden` without the service key, `Invalid`."""
        if not caller.is_service:
            raise Forbidden(model.SERVICE_ONLY)
        identities = model.bot_identities(messenger_id.strip(), phone)
        model.check_token(token)
        user = await self.pending.take_link(model.token_digest(token), messenger_id.strip(), self.clock.now())
        if user is None:
            raise Invalid(BAD_LINK)
        await give_identities(self.identities, self.audit, replace(caller, user_id=user), identities)
        return user


@dataclass(eq=False)
class OAuthVerificationService:
    """Verification by signing in at a provider."""

    identities: access.IdentityStore
    pending: access.VerificationStore
    oauth: access.OAuthProviders
    clock: Clock
    ids: Ids
    audit: Audit
    offered: Collection[model.Provider]

    @needs(Scope.ADMIN)
    async def start_oauth(self, caller: Caller, provider: str) -> str:
        """The address to send the browser to. Raises `Invalid`, `NotFound`."""
        user = caller.user
        if provider not in model.OAUTH_PROVIDERS:
            raise NotFound(f"there is no OAuth verification by '{provider[:100]}'")
        checked = model.Provider(provider)
        _require(checked, self.offered)
        state, verifier = self.ids.token(), self.ids.token(48)
        pending = access.PendingOAuth(user, verifier)
        await self.pending.add_state(
            model.token_digest(state), checked, pending, self.clock.now() + model.STATE_LIFE
        )
        return self.oauth.authorize_url(checked, state, verifier)

    async def complete_oauth(self, provider: str, state: str, code: str, error: str) -> model.OAuthResult:
        """The browser came back. Never refuses: the result says how it ended."""
        if provider not in model.OAUTH_PROVIDERS or not state:
            return model.OAuthResult(False, BAD_STATE)
        checked = model.Provider(provider)
        pending = await self.pending.take_state(model.token_digest(state), checked, self.clock.now())
        if pending is None:
            return model.OAuthResult(False, BAD_STATE)
        if error or not code:
            reason = re.sub(r"[^A-Za-z0-9_ .-]", "", error)[:100] or "it sent no code"
            return model.OAuthResult(False, f"The provider did not confirm your identity: {reason}")
        try:
            account = await self.oauth.identify(checked, code, pending.verifier)
        except access.OAuthFailed as failure:
            log.warning("OAuth verification with %s failed: %s", provider, failure)
            return model.OAuthResult(False, "The provider did not confirm your identity. Please try again.")
        await give_identities(self.identities, self.audit, Caller(pending.user_id), [account.identity])
        return model.OAuthResult(True, "Your identity is verified.")


async def give_identities(
    identities: access.IdentityStore, audit: Audit, caller: Caller, verified: Sequence[Identity]
) -> None:
    """Stores identities that the caller has verified. The audit log tells their fields alone."""
    data = {"fields": [identity.field for identity in verified]}
    async with audit.change(caller, Action.IDENTITY_VERIFIED, f"user:{caller.user_id}", data):
        await identities.give(caller.user_id, verified)


def _require(provider: model.Provider, offered: Collection[model.Provider]) -> None:
    if provider not in offered:
        raise Invalid(f"verification by {provider.value} is not set up on this server")
