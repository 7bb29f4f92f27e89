"""Manages users: who works with the installation, and with which role."""

from dataclasses import dataclass, replace

from domain import limits
from domain.access.model import Caller, Role, Scope, Team, User, UserState
from domain.access.service import check_user
from domain.access.sharing import needs
from domain.audit.model import Action
from domain.paging import Page, checked_limit, cursor_of, read_cursor
from domain.refusals import Conflict, Fault, Invalid, NotFound
from domain.verification.model import checked_email
from ports.access import TeamStore, UserChange, UserStore
from ports.audit import Audit
from ports.system import Clock

ALL_TEAMS = 200
"""Teams of one user that are shown with them."""


@dataclass(frozen=True, slots=True)
class NewUser:
    id: str
    name: str = ""
    email: str = ""
    role: Role = Role.MEMBER


@dataclass(frozen=True, slots=True)
class Me:
    """Who calls. `role` and `scopes` are those of the call: a key may have less than its user."""

    user: User
    role: Role
    scopes: tuple[Scope, ...] | None
    teams: tuple[Team, ...]


@dataclass(eq=False)
class UserService:
    """Users. All methods but `me` raise `Forbidden` for callers who are no admins."""

    store: UserStore
    teams: TeamStore
    audit: Audit
    clock: Clock

    @needs()
    async def me(self, caller: Caller) -> Me:
        """Raises `Invalid` for a service that acts for nobody."""
        user = await self.store.appear(caller.user, self.clock.now())
        teams = await self.teams.list(user.id, 0, ALL_TEAMS)
        return Me(user, caller.role, caller.scopes, tuple(teams))

    @needs(Scope.ADMIN)
    async def list(self, caller: Caller, query: str, limit: int, cursor: str | None) -> Page[User, str]:
        """Ordered by id. `query`: what an id, a name or an e-mail address begins with. Raises `Invalid`."""
        caller.require_admin("lists users")
        after = read_cursor(cursor, str) or ("",)
        limits.check_text("query", query, limits.USER_ID)
        users = await self.store.list(query.strip().lower(), str(after[0]), checked_limit(limit) + 1)
        return Page(users[:limit], cursor_of(users[limit - 1].id) if len(users) > limit else None)

    @needs(Scope.ADMIN)
    async def get(self, caller: Caller, user_id: str) -> User:
        """Raises `NotFound`."""
        caller.require_admin("sees users")
        return await self._known(user_id)

    @needs(Scope.ADMIN)
    async def create(self, caller: Caller, new: NewUser) -> User:
        """Raises `Invalid`, and `Conflict` for a taken id or e-mail address."""
        caller.require_admin("makes users")
        check_user(new.id, "id")
        name, email = _checked_name(new.name), _checked_email(new.email)
        user = User(new.id.strip(), name, email, new.role, UserState.ACTIVE, self.clock.now())
        data = {"name": name, "email": email, "role": new.role}
        async with self.audit.change(caller, Action.USER_CREATED, f"user:{user.id}", data):
            if not await self.store.add(user):
                raise Conflict(f"id: there is a user '{user.id[:100]}' already")
        return user

    @needs(Scope.ADMIN)
    async def change(self, caller: Caller, user_id: str, change: UserChange) -> User:
        """Suspending ends all keys and sessions of the user at once. Raises `NotFound`, `Invalid`, and `Conflict` for
        a taken e-mail address and for the last admin."""
        caller.require_admin("changes users")
        user = await self._known(user_id)
        change = replace(
            change,
            name=None if change.name is None else _checked_name(change.name),
            email=None if change.email is None else _checked_email(change.email),
        )
        loses_admin = change.role not in (None, Role.ADMIN) or change.state is UserState.SUSPENDED
        fields = ("name", "email", "role", "state")
        values = {field: getattr(change, field) for field in fields if getattr(change, field) is not None}
        before = {field: getattr(user, field) for field in values}
        data = {"before": before, "after": values}
        async with self.audit.change(caller, Action.USER_CHANGED, f"user:{user.id}", data):
            if loses_admin:
                await self._check_not_last(user)
            if not await self.store.change(user.id, change, self.clock.now()):
                raise _unknown(user_id)
        return replace(user, **values)

    @needs(Scope.ADMIN)
    async def delete(self, caller: Caller, user_id: str, successor: str | None) -> None:
        """Removes a user; `successor` owns from then on what they owned. Raises `NotFound`, `Invalid`, and `Conflict`
        for the last admin, for somebody who owns something and has no successor, and for names that clash."""
        caller.require_admin("deletes users")
        user = await self._known(user_id)
        if successor is not None:
            heir = await self.store.find(successor.strip())
            if heir is None or heir.id == user.id or heir.state is UserState.SUSPENDED:
                raise Invalid.of([Fault("successor", "must be the id of another active user")])
            successor = heir.id
        data = {"successor": successor}
        async with self.audit.change(caller, Action.USER_DELETED, f"user:{user.id}", data):
            await self._check_not_last(user)
            await self.store.remove(user.id, successor)

    async def _known(self, user_id: str) -> User:
        user = await self.store.find(user_id)
        if user is None:
            raise _unknown(user_id)
        return user

    async def _check_not_last(self, user: User) -> None:
        is_admin = user.role is Role.ADMIN and user.state is UserState.ACTIVE
        if is_admin and await self.store.active_admins() == 1:
            raise Conflict(f"{user.id} is the only admin; make another user an admin first")


def _checked_name(name: str) -> str:
    return limits.check_text("name", name, limits.KEY_NAME).strip()


def _checked_email(email: str) -> str:
    """The address, lower-case; an empty text takes it away. Raises `Invalid`."""
    return checked_email(email) if email.strip() else ""


def _unknown(user_id: str) -> NotFound:
    return NotFound(f"there is no user '{user_id[:100]}'")
