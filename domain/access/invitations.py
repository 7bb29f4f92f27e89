"""Invitations of people who are no users yet, and links by mail for those who are."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from urllib.parse import quote

from domain import limits
from domain.access import model
from domain.access.model import Caller, Invitation, Role, Scope, User, UserState
from domain.access.sessions import Browser, NewSession, SessionOpener
from domain.access.sharing import needs
from domain.audit.model import Action
from domain.paging import Page, checked_limit
from domain.refusals import Conflict, Fault, Invalid, NotFound, TooMany
from domain.verification.model import checked_email
from ports.access import KeyStore, Mailer, MailFailed, NewCredential, TeamStore, UserStore, VerificationStore
from ports.audit import Audit
from ports.sign_in import InvitationStore, NewInvitation
from ports.system import Clock, Ids

log = logging.getLogger(__name__)

INVITATION_LIFE = timedelta(days=7)
MAIL_LINK_LIFE = timedelta(minutes=15)
MOST_TEAMS = 50
GONE = "This invitation was used already, was withdrawn, or is older than seven days. Ask for another one."
SENT = (
    "If a user has this e-mail address, a link that signs in is on its way. It works once, within 15 minutes."
)
TOO_OFTEN = "Too many links were asked for within the hour. Try again later."


@dataclass(frozen=True, slots=True)
class CreatedInvitation:
    """`link`: where the person accepts it; None where it went to them by mail."""

    invitation: Invitation
    link: str | None


@dataclass(frozen=True, slots=True)
class OpenInvitation:
    """What the invited person sees."""

    email: str
    role: Role


@dataclass(eq=False)
class InvitationService:
    """`mailer`: None where no mail server is set up."""

    store: InvitationStore
    users: UserStore
    teams: TeamStore
    opener: SessionOpener
    mailer: Mailer | None
    audit: Audit
    ids: Ids
    clock: Clock
    agent_url: str

    @needs(Scope.ADMIN)
    async def create(
        self, caller: Caller, email: str, role: Role, team_ids: Sequence[int]
    ) -> CreatedInvitation:
        """Invites a person for seven days; an open invitation of the same address ends. The link goes by mail where
        that is set up, else into the answer. Raises `Forbidden`, `Invalid`, and `Conflict` for the address of a
        user."""
        caller.require_admin("invites people")
        email = checked_email(email)
        await self._check_teams(team_ids)
        if await self.users.of_email(email) or await self.users.find(email):
            raise Conflict("email: a user has this e-mail address already")
        token, now = self.ids.token(), self.clock.now()
        new = NewInvitation(
            model.digest(token),
            email,
            role,
            tuple(dict.fromkeys(team_ids)),
            caller.user_id,
            now + INVITATION_LIFE,
        )
        data = {"email": email, "role": role, "teams": list(new.team_ids)}
        async with self.audit.change(caller, Action.INVITATION_CREATED, "invitation", data) as details:
            invitation = await self.store.add(new, now)
            details["object"] = f"invitation:{invitation.id}"
        link = f"{self.agent_url.rstrip('/')}/console/invitation?token={token}"
        return CreatedInvitation(invitation, None if await self._mailed(email, link) else link)

    @needs(Scope.ADMIN)
    async def list(self, caller: Caller, cursor: int, limit: int) -> Page[Invitation, int]:
        """Open and accepted ones, ordered by id. Raises `Forbidden`, `Invalid`."""
        caller.require_admin("lists invitations")
        rows = await self.store.list(cursor, checked_limit(limit) + 1)
        return Page(rows[:limit], rows[limit - 1].id if len(rows) > limit else None)

    @needs(Scope.ADMIN)
    async def revoke(self, caller: Caller, invitation_id: int) -> None:
        """Withdraws an open invitation. Raises `Forbidden`, and `NotFound` where none is open."""
        caller.require_admin("withdraws invitations")
        async with self.audit.change(caller, Action.INVITATION_REVOKED, f"invitation:{invitation_id}"):
            if not await self.store.remove(invitation_id):
                raise NotFound(f"there is no open invitation {invitation_id}")

    async def look(self, token: str) -> OpenInvitation:
        """Raises `NotFound` for a token of no open invitation."""
        invitation = await self.store.find(model.digest(token), self.clock.now())
        if invitation is None:
            raise NotFound(GONE)
        return OpenInvitation(invitation.email, invitation.role)

    async def accept(self, token: str, name: str, browser: Browser) -> model.Session:
        """Makes the user and opens a session. Raises `Invalid`, `NotFound`, and `Conflict` where the address has
        become that of a user."""
        name = limits.check_filled("name", name, limits.KEY_NAME).strip()
        invitation = await self.store.find(model.digest(token), self.clock.now())
        if invitation is None:
            await self.opener.note_refusal(browser, "an invitation that is not open")
            raise NotFound(GONE)
        user = await self.enter(invitation, name)
        new = NewSession(user.id, user.role, f"invitation:{invitation.id}")
        return (await self.opener.open(new, browser))[1]

    async def of_email(self, email: str) -> Invitation | None:
        """The open invitation of an address."""
        return await self.store.of_email(email, self.clock.now())

    async def enter(self, invitation: Invitation, name: str) -> User:
        """Makes a user of an invitation, once. Raises `NotFound`, `Conflict`."""
        now = self.clock.now()
        user = User(invitation.email, name, invitation.email, invitation.role, UserState.ACTIVE, now)
        data = {"name": name, "role": user.role, "invitation": invitation.id}
        actor, action = Caller(user.id, user.role), Action.INVITATION_ACCEPTED
        async with self.audit.change(actor, action, f"user:{user.id}", data):
            if not await self.store.accept(invitation.id, user.id, now):
                raise NotFound(GONE)
            if not await self.users.add(user):
                raise Conflict("a user has this e-mail address already; sign in")
            places = [await self.teams.find(team_id) for team_id in invitation.team_ids]
            await self.teams.assign(user.id, {team.name: True for team in places if team})
        return user

    async def _check_teams(self, team_ids: Sequence[int]) -> None:
        if len(team_ids) > MOST_TEAMS:
            raise Invalid.of([Fault("teams", f"must be at most {MOST_TEAMS}")])
        for team_id in team_ids:
            if await self.teams.find(team_id) is None:
                raise Invalid.of([Fault("teams", f"names {team_id}, which is no team")])

    async def _mailed(self, email: str, link: str) -> bool:
        if self.mailer is None:
            return False
        text = (
            "You are invited to Switchboard.\n\nOpen this link to accept. It works once, within seven days:"
            f"\n\n{link}\n"
        )
        try:
            await self.mailer.send(email, "You are invited to Switchboard", text)
        except MailFailed as failure:
            log.warning("an invitation was not sent: %s", failure)
            return False
        return True


@dataclass(eq=False)
class MailLinkService:
    """Links by mail that sign a user in once. `mailer`: None where no mail server is set up."""

    keys: KeyStore
    users: UserStore
    pending: VerificationStore
    mailer: Mailer | None
    audit: Audit
    ids: Ids
    clock: Clock
    agent_url: str
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def is_offered(self) -> bool:
        return self.mailer is not None

    async def send(self, email: str, next_page: str, browser: Browser) -> str:
        """What to tell the person, the same whether a user has the address: the mail is made after the answer.

        Raises `Invalid`, and `TooMany` by the address that was typed and by that of the network.
        """
        mailer = self.mailer
        if mailer is None:
            raise Invalid("mail is not set up on this server")
        address = checked_email(email)
        limits.check_text("next", next_page, limits.ADDRESS)
        wait = await self.pending.count_send(address, f"from:{browser.address}", self.clock.now())
        if wait is not None:
            raise TooMany(TOO_OFTEN, wait)
        task = asyncio.create_task(self._send(mailer, address, next_page))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return SENT

    async def _send(self, mailer: Mailer, address: str, next_page: str) -> None:
        try:
            user = await self.users.of_email(address)
            if user is None or user.state is UserState.SUSPENDED:
                return
            token = await self._link(user)
            link = model.sign_in_address(self.agent_url, token)
            if next_page:
                link += f"&next={quote(next_page, safe='')}"
            text = (
                "Open this link to sign in to Switchboard. It works once, within 15 minutes:"
                f"\n\n{link}\n\nIf you did not ask for it, ignore this mail and give the link to nobody.\n"
            )
            await mailer.send(address, "Your link to sign in", text)
        except MailFailed as failure:
            log.warning("a link to sign in was not sent: %s", failure)
        except Exception:
            log.exception("a link to sign in was not made")

    async def _link(self, user: User) -> str:
        now, token = self.clock.now(), model.LINK_PREFIX + self.ids.token()
        new = NewCredential(
            user.id,
            user.role,
            model.shown(token),
            model.digest(token),
            model.KeyKind.LINK,
            expires_at=now + MAIL_LINK_LIFE,
        )
        data = {"user": user.id, "role": user.role, "kind": new.kind, "with": "mail"}
        async with self.audit.change(Caller(user.id), Action.KEY_CREATED, "key", data) as details:
            details["object"] = f"key:{(await self.keys.add(new, now)).id}"
        return token
