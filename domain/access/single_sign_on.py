"""Signs people in at the OpenID provider of the installation."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from domain import limits
from domain.access.invitations import InvitationService
from domain.access.model import Caller, KeyKind, Role, User, UserState, digest
from domain.access.service import SUSPENDED
from domain.access.sessions import Browser, NewSession, SessionOpener
from domain.audit.model import Action
from domain.refusals import Conflict, Forbidden, Invalid
from ports.access import KeyStore, TeamStore, UserChange, UserStore
from ports.audit import Audit
from ports.sign_in import OpenIdProvider, ProvenPerson, SignInFailed, SignInStore
from ports.system import Clock, Ids

STATE_LIFE = timedelta(minutes=10)
KIND = "oidc"
EVERYBODY = "*"
"""A group of the maps that everybody is in."""
LONGEST = 2000
"""Characters of a text that a browser brings back."""

STALE = "This sign-in has expired, was used already, or began in another browser. Please sign in again."
NOT_SET_UP = "sign-in at an OpenID provider is not set up on this server"
NOT_KNOWN = "You have an account at the provider, but no access here. Ask an admin for an invitation."
OTHER_DOMAIN = "E-mail addresses of your domain have no access here, or the provider has not verified yours."
NO_ROLE = "None of your groups at the provider has a role here. Ask an admin."
OTHER_ACCOUNT = (
    "Your e-mail address belongs to a user who signs in with another account of the provider. Ask an admin to reset"
    " the sign-in of that user."
)


@dataclass(frozen=True, slots=True)
class SignInRules:
    """Who may sign in. `domains`: those of e-mail addresses that get a user at the first sign-in. `roles` and
    `teams`: by group of the provider; a group may be "*", which everybody is in."""

    domains: frozenset[str] = frozenset()
    roles: Mapping[str, Role] = field(default_factory=dict)
    teams: Mapping[str, str] = field(default_factory=dict)

    def check_domain(self, email: str) -> None:
        """Raises `Forbidden`."""
        if self.domains and email.rpartition("@")[2] not in self.domains:
            raise Forbidden(OTHER_DOMAIN)

    def role_of(self, groups: frozenset[str]) -> Role | None:
        """The highest role of these groups; None where roles are not mapped. Raises `Forbidden`."""
        if not self.roles:
            return None
        roles = [role for group, role in self.roles.items() if group in groups or group == EVERYBODY]
        if not roles:
            raise Forbidden(NO_ROLE)
        return max(roles, key=lambda role: role.rank)

    def places(self, groups: frozenset[str]) -> Mapping[str, bool]:
        """The teams of the map, each with whether these groups belong into it."""
        places = dict.fromkeys(self.teams.values(), False)
        for group, team in self.teams.items():
            places[team] = places[team] or group in groups or group == EVERYBODY
        return places


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A session that was opened, and the page that its person wanted to see."""

    token: str
    expires_at: datetime
    next_page: str


@dataclass(eq=False)
class SingleSignOnService:
    """`provider`: None where none is set up. `issuer`: its name."""

    keys: KeyStore
    users: UserStore
    teams: TeamStore
    store: SignInStore
    invitations: InvitationService
    opener: SessionOpener
    audit: Audit
    ids: Ids
    clock: Clock
    issuer: str
    provider: OpenIdProvider | None
    rules: SignInRules

    async def name(self) -> str:
        """The issuer of the provider, empty where none is set up."""
        return self.issuer if self.provider else ""

    async def start(self, visit: str, next_page: str) -> str:
        """Where the browser goes. `visit`: a secret of the browser, which it has to show again in `finish`.

        Raises `Invalid`, `Unavailable`.
        """
        provider = self._provider()
        if len(visit) > LONGEST or len(next_page) > LONGEST:
            raise Invalid("the address of the page is too long")
        state, nonce, verifier = self.ids.token(), self.ids.token(), self.ids.token()
        address = await provider.authorize_url(state, nonce, verifier)
        data = {"visit": digest(visit).hex(), "nonce": nonce, "verifier": verifier, "next": next_page}
        await self.store.begin(KIND, digest(state), data, self.clock.now() + STATE_LIFE)
        return address

    async def finish(self, visit: str, state: str, code: str, error: str, browser: Browser) -> SignedIn:
        """Opens the session of who comes back from the provider with a code or an error.

        Raises `Invalid` for what proves nothing, `Forbidden` for who has no access, `Unavailable`, and `Conflict` for
        a user id that is taken.
        """
        provider = self._provider()
        try:
            begun = await self.store.take(KIND, digest(state), self.clock.now())
            if begun is None or begun["visit"] != digest(visit).hex():
                raise SignInFailed(STALE)
            if error or not code or len(code) > LONGEST * 4:
                shown = "".join(filter(str.isprintable, error))[:100]
                raise SignInFailed(f"The provider signed nobody in ({shown or 'it sent no code'}).")
            person = await provider.identify(code, begun["nonce"], begun["verifier"])
        except SignInFailed as failure:
            await self.opener.note_refusal(browser, str(failure))
            raise Invalid(str(failure)) from failure
        try:
            user = await self._user_of(person)
        except (Forbidden, Conflict) as refusal:
            await self.opener.note_refusal(browser, refusal.message, person.email)
            raise
        new = NewSession(user.id, user.role, KIND)
        session, opened = await self.opener.open(new, browser)
        await self.store.keep_token(session.id, person.id_token)
        return SignedIn(opened.token, opened.expires_at, begun["next"])

    async def sign_out_address(self, token: str) -> str:
        """Where the browser of this session goes to sign out at the provider too; empty where nothing is to be done
        there. Raises `Unavailable`."""
        session = await self.keys.find(digest(token), KeyKind.SESSION, self.clock.now())
        if session is None or self.provider is None:
            return ""
        id_token = await self.store.token_of(session.id)
        return await self.provider.sign_out_url(id_token) if id_token else ""

    def _provider(self) -> OpenIdProvider:
        if self.provider is None:
            raise Invalid(NOT_SET_UP)
        return self.provider

    async def _user_of(self, person: ProvenPerson) -> User:
        """The user behind an account, with the role and the teams of its groups. Raises `Forbidden`, `Conflict`."""
        role = self.rules.role_of(person.groups)
        user = await self._known(person)
        if user is None:
            user = await self._invited(person) or await self._create(person, role)
        if user.state is UserState.SUSPENDED:
            raise Forbidden(SUSPENDED.format(user.id[:100]))
        await self._give_role(user, role)
        await self._assign(user, person)
        current = await self.users.find(user.id)
        return current or user

    async def _known(self, person: ProvenPerson) -> User | None:
        """By the account, else by the e-mail address. Raises `Forbidden`."""
        user_id = await self.store.user_of(self.issuer, person.subject)
        if user_id is not None and (user := await self.users.find(user_id)):
            return user
        if not person.email:
            return None
        user = await self.users.of_email(person.email)
        if user is None:
            named = await self.users.find(person.email)
            user = named if named and not named.email else None
        if user is None:
            return None
        if await self.store.has_account(self.issuer, user.id):  # addresses are given to other people
            raise Forbidden(OTHER_ACCOUNT)
        await self.store.tie(self.issuer, person.subject, user.id)
        return user

    async def _invited(self, person: ProvenPerson) -> User | None:
        """The user that an invitation of this address makes."""
        invitation = await self.invitations.of_email(person.email) if person.email else None
        if invitation is None:
            return None
        user = await self.invitations.enter(invitation, person.name[: limits.KEY_NAME])
        await self.store.tie(self.issuer, person.subject, user.id)
        return user

    async def _create(self, person: ProvenPerson, role: Role | None) -> User:
        if role is None and not self.rules.domains:
            raise Forbidden(NOT_KNOWN)
        self.rules.check_domain(person.email)
        user_id = (person.email or person.subject)[: limits.USER_ID]
        if await self.users.find(user_id):
            user_id = person.subject[: limits.USER_ID]
        user = User(
            user_id,
            person.name[: limits.KEY_NAME],
            person.email,
            role or Role.MEMBER,
            UserState.ACTIVE,
            self.clock.now(),
        )
        data = {"name": user.name, "email": user.email, "role": user.role, "with": KIND}
        actor = Caller(user.id, user.role)
        async with self.audit.change(actor, Action.USER_CREATED, f"user:{user.id}", data):
            if not await self.users.add(user):
                raise Conflict(f"There is a user '{user.id}' already. Ask an admin.")
            await self.store.tie(self.issuer, person.subject, user.id)
        return user

    async def _give_role(self, user: User, role: Role | None) -> None:
        """Gives the role of the map, but takes none from the last admin."""
        if role is None or role is user.role:
            return
        if user.role is Role.ADMIN and await self.users.active_admins() == 1:
            return
        data = {"before": {"role": user.role}, "after": {"role": role}, "with": KIND}
        async with self.audit.change(Caller(user.id), Action.USER_CHANGED, f"user:{user.id}", data):
            await self.users.change(user.id, UserChange(role=role), self.clock.now())

    async def _assign(self, user: User, person: ProvenPerson) -> None:
        places = self.rules.places(person.groups)
        if not places:
            return
        changes = await self.teams.assign(user.id, places)
        if changes:
            data = {"teams": dict(changes), "with": KIND}
            await self.audit.note(Caller(user.id), Action.USER_CHANGED, f"user:{user.id}", data)
