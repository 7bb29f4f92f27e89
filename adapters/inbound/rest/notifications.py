"""Notifications of the caller over REST."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field

from adapters.inbound.rest import bodies
from adapters.inbound.rest.instances import RouteHours, RouteHoursToSave
from adapters.inbound.rest.routing import Call, CursorPage, JsonRoute, errors
from domain import limits
from domain.notifications import model
from domain.notifications.model import (
    KindWays,
    MailPace,
    NotificationKind,
    NotificationSettings,
    NotifyVia,
    Way,
)
from domain.paging import LARGEST, LARGEST_LIMIT, Page

NOTIFICATIONS = "/api/agent/notifications"
SETTINGS = "/api/agent/me/notifications"
router = APIRouter(route_class=JsonRoute, tags=["notifications"])


class Notification(bodies.Answer):
    id: int = Field(description="Grows.", examples=[41])
    kind: NotificationKind = Field(examples=["wanted"])
    text: str = Field(
        description="In the language that the user has set.",
        examples=["Somebody is wanted in a conversation on Support."],
    )
    url: str = Field(
        description="What it is about, in the console.",
        examples=["https://bots.example.com/console/inbox/7/123456789"],
    )
    instanceId: int | None = Field(examples=[7])
    instanceName: str | None = Field(examples=["Support"])
    sessionId: str | None = Field(examples=["123456789"])
    messageId: str | None = Field(description="Of `mentioned`: the note.", examples=["note-5"])
    confirmationId: int | None = Field(description="Of `approval`: the confirmation.", examples=[None])
    budgetId: int | None = Field(description="Of `budget`: the budget.", examples=[None])
    actor: str | None = Field(description="The user who caused it.", examples=["bob"])
    data: dict[str, Any] = Field(
        description="`assigned`: team, where it is one; `unhealthy`: activity, error; `budget`: percent, month,"
        " of, subject, amount, currency.",
        examples=[{}],
    )
    createdAt: bodies.Timestamp
    readAt: bodies.OptionalTimestamp = Field(description="Null: it is unread.")


class NotificationList(bodies.Answer):
    notifications: list[Notification] = bodies.attribute("items")
    next: int | None


class UnreadAnswer(bodies.Answer):
    unread: int = Field(description="At most 1000: there may be more.", examples=[3])


class MarkRead(bodies.StrictBody):
    ids: list[Annotated[bodies.WholeNumber, Field(ge=1, lt=LARGEST)]] = Field(
        [], max_length=LARGEST_LIMIT, examples=[[41]]
    )
    upTo: Annotated[bodies.WholeNumber, Field(ge=0, lt=LARGEST)] = Field(
        0, description="All up to this id.", examples=[41]
    )


class Via(bodies.Answer):
    instanceId: int = Field(examples=[7])
    to: str = Field(examples=["123456789"])


Ways = Mapping[NotificationKind, tuple[Way, ...]]


class SettingsAnswer(bodies.Answer):
    kinds: dict[NotificationKind, list[Way]] = Field(
        description="The ways beside the console, which shows all.", examples=[{"wanted": ["mail"]}]
    )
    mail: MailPace
    notifyVia: Via | None = Field(description="Where messages go.")
    language: str = Field(examples=["en"])
    hours: RouteHours | None = Field(description="Outside of these hours mails and messages wait.")


class ViaToSave(bodies.StrictBody):
    instanceId: Annotated[bodies.WholeNumber, Field(ge=1, lt=LARGEST)] = Field(
        description="The user needs the permission level 2 (ANSWER) on it.", examples=[7]
    )
    to: bodies.Text = Field(
        min_length=1,
        max_length=limits.ADDRESS,
        description="A session id, or an address of the channel.",
        examples=["123456789"],
    )


class SettingsToSave(bodies.StrictBody):
    """All that is left out has its default."""

    kinds: dict[NotificationKind, list[Way]] = Field(
        {}, description="Kinds that are left out come in the console alone.", examples=[{"wanted": ["mail"]}]
    )
    mail: MailPace = Field(MailPace.AT_ONCE, description="One mail for all of an hour or a day, or at once.")
    notifyVia: ViaToSave | None = Field(None, description="Required for the way `message`.")
    language: bodies.Text = Field("en", max_length=limits.LANGUAGE, examples=["en"])
    hours: RouteHoursToSave | None = None

    def value(self) -> NotificationSettings:
        via = self.notifyVia
        return NotificationSettings(
            tuple(KindWays(kind, tuple(dict.fromkeys(ways))) for kind, ways in self.kinds.items()),
            self.mail,
            NotifyVia(via.instanceId, via.to) if via else None,
            self.language,
            self.hours.value() if self.hours else None,
        )


def _shown(settings: NotificationSettings) -> SettingsAnswer:
    return SettingsAnswer(
        kinds={entry.kind: list(entry.ways) for entry in settings.kinds},
        mail=settings.mail,
        notifyVia=Via.model_validate(settings.notify_via) if settings.notify_via else None,
        language=settings.language,
        hours=RouteHours.model_validate(settings.hours) if settings.hours else None,
    )


@router.get(
    NOTIFICATIONS,
    response_model=NotificationList,
    responses=errors(400, 403),
    summary="The caller's notifications, the latest first",
)
async def list_notifications(
    call: Call,
    page: CursorPage,
    unread: Annotated[bool, Query(description="Only those that are unread.", examples=[True])] = False,
) -> Page[model.Notification, int]:
    """Those that the caller may still see. The event `notification.created` tells of each new one."""
    return await call.services.notifications.list(call.caller, unread, page.number, page.limit)


@router.get(
    NOTIFICATIONS + "/unread",
    response_model=UnreadAnswer,
    responses=errors(400, 403),
    summary="How many notifications are unread",
)
async def count_unread(call: Call) -> UnreadAnswer:
    """For a badge."""
    return UnreadAnswer(unread=await call.services.notifications.count_unread(call.caller))


@router.post(
    NOTIFICATIONS + "/read",
    response_model=bodies.Done,
    responses=errors(400, 403),
    summary="Mark notifications as read",
)
async def mark_read(call: Call, body: MarkRead) -> bodies.Done:
    """Those with the ids, or all up to one. What is read by the time at which a mail or a message would go is not
    sent."""
    await call.services.notifications.mark_read(call.caller, body.ids, body.upTo)
    return bodies.Done()


@router.get(
    SETTINGS,
    response_model=SettingsAnswer,
    responses=errors(400, 403),
    summary="What the caller has set for notifications",
)
async def get_settings(call: Call) -> SettingsAnswer:
    """With all kinds."""
    return _shown(await call.services.notifications.settings(call.caller))


@router.put(
    SETTINGS,
    response_model=SettingsAnswer,
    responses=errors(400, 403, 404),
    summary="Set how the caller is notified",
)
async def set_settings(call: Call, body: SettingsToSave) -> SettingsAnswer:
    """Replaces all settings. Mail needs an e-mail address of the user, and a mail server."""
    return _shown(await call.services.notifications.set_settings(call.caller, body.value()))
