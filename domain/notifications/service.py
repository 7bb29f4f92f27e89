"""Notifications as their users see them, and the settings of users for them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote

from domain import limits
from domain.access.model import Caller, Scope
from domain.access.sharing import InstanceLevel, needs
from domain.audit.model import Action
from domain.instances.lookup import permitted_instance
from domain.notifications.catalogues import CATALOGUES
from domain.notifications.model import Notification, NotificationSettings, Way
from domain.notifications.texts import language_of, text_of
from domain.paging import LARGEST_LIMIT, Page, checked_limit
from domain.refusals import Fault, Invalid
from domain.routing.route_faults import hours_faults
from ports.access import UserStore
from ports.audit import Audit
from ports.instances import InstanceStore
from ports.notifications import NotificationStore
from ports.system import Clock

MOST_UNREAD = 1000
"""Unread notifications that are counted: there may be more."""


def completed(notification: Notification, language: str, public_address: str) -> Notification:
    """With the text, and the address of what it is about in the console."""
    return replace(
        notification,
        text=text_of(notification, language),
        url=f"{public_address.rstrip('/')}{_page(notification)}",
    )


def _page(notification: Notification) -> str:
    if notification.instance_id is None:
        return "/console"
    if notification.session_id is None:
        return f"/console/channels/{notification.instance_id}"
    session = quote(notification.session_id, safe="")
    return f"/console/inbox/{notification.instance_id}/{session}"


@dataclass(eq=False)
class NotificationService:
    """The caller's own notifications and settings. Each method raises `Invalid` for a service that acts for nobody.

    `sends_mail`: there is a mail server. `public_address`: where the console is.
    """

    store: NotificationStore
    users: UserStore
    instances: InstanceStore
    audit: Audit
    clock: Clock
    public_address: str
    sends_mail: bool

    @needs(Scope.CONVERSATIONS_READ)
    async def list(self, caller: Caller, unread: bool, cursor: int, limit: int) -> Page[Notification, int]:
        """The latest first; of those that the caller may still see. `unread`: only those. Raises `Invalid`."""
        count = checked_limit(limit) + 1
        user_id = caller.user
        rows = await self.store.list(user_id, cursor or None, count, unread=unread)
        settings = await self.store.settings(user_id)
        shown = [completed(row, settings.language, self.public_address) for row in rows[:limit]]
        return Page(shown, shown[-1].id if len(rows) > limit else None)

    @needs(Scope.CONVERSATIONS_READ)
    async def count_unread(self, caller: Caller) -> int:
        """At most `MOST_UNREAD`."""
        return await self.store.count_unread(caller.user, MOST_UNREAD)

    @needs(Scope.CONVERSATIONS_READ)
    async def mark_read(self, caller: Caller, ids: Sequence[int] = (), up_to: int = 0) -> None:
        """Those with these ids, and all up to the id `up_to`. Raises `Invalid`."""
        if len(ids) > LARGEST_LIMIT:
            raise Invalid.of([Fault("ids", f"must be at most {LARGEST_LIMIT}")])
        if not ids and up_to <= 0:
            raise Invalid.of([Fault("ids", "is required, or upTo in its place")])
        await self.store.mark_read(caller.user, ids, up_to, self.clock.now())

    @needs(Scope.CONVERSATIONS_READ)
    async def settings(self, caller: Caller) -> NotificationSettings:
        """With an entry for each kind."""
        settings = await self.store.settings(caller.user)
        return replace(settings, kinds=settings.all_kinds)

    @needs(Scope.MESSAGES_SEND)
    async def set_settings(self, caller: Caller, settings: NotificationSettings) -> NotificationSettings:
        """Replaces all that was set. Raises `Invalid`, and `NotFound` and `Forbidden` for the instance of
        `notify_via`, on which the caller needs the level ANSWER."""
        user = await self.users.appear(caller.user, self.clock.now())
        if faults := [*self._faults(settings, has_address=bool(user.email))]:
            raise Invalid.of(faults)
        if via := settings.notify_via:
            await permitted_instance(self.instances, caller, via.instance_id, InstanceLevel.ANSWER)
        settings = replace(settings, kinds=settings.all_kinds)
        async with self.audit.change(
            caller, Action.NOTIFICATIONS_CHANGED, f"user:{user.id}", _shown(settings)
        ):
            await self.store.set_settings(user.id, settings)
        return settings

    def _faults(self, settings: NotificationSettings, *, has_address: bool) -> Iterator[Fault]:
        kinds = [entry.kind for entry in settings.kinds]
        if len(set(kinds)) < len(kinds):
            yield Fault("kinds", "must name each kind once")
        if any(Way.MAIL in entry.ways for entry in settings.kinds):
            if not self.sends_mail:
                yield Fault("kinds", "mail cannot be sent: SMTP_HOST and SMTP_FROM are not set")
            elif not has_address:
                yield Fault("kinds", "mail cannot be sent: you have no e-mail address; an admin sets it")
        yield from _via_faults(settings)
        if language_of(settings.language) is None:
            yield Fault("language", f"must be one of {', '.join(CATALOGUES)}")
        if settings.hours:
            yield from hours_faults(settings.hours, "hours")


def _via_faults(settings: NotificationSettings) -> Iterator[Fault]:
    via = settings.notify_via
    if via is None:
        if any(Way.MESSAGE in entry.ways for entry in settings.kinds):
            yield Fault("notifyVia", "is required for messages")
    elif fault := limits.text_fault(via.to, limits.ADDRESS):
        yield Fault("notifyVia.to", fault)
    elif not via.to.strip():
        yield Fault("notifyVia.to", "must not be empty")


def _shown(settings: NotificationSettings) -> dict[str, object]:
    via = settings.notify_via
    return {
        "kinds": {entry.kind: list(entry.ways) for entry in settings.kinds},
        "mail": settings.mail,
        "notifyVia": via and {"instanceId": via.instance_id, "to": via.to},
        "language": settings.language,
        "hours": settings.hours and str(settings.hours),
    }
