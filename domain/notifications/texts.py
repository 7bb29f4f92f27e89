"""The texts of notifications. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from domain.notifications.catalogues import CATALOGUES
from domain.notifications.model import Notification

DEFAULT = "en"
LONGEST_ERROR = 300


@dataclass(frozen=True, slots=True)
class Mail:
    subject: str
    text: str


def language_of(tag: str) -> str | None:
    """The catalogue for a language tag, such as en-GB; None for a language without one."""
    language = tag.replace("_", "-").casefold()
    return next((name for name in (language, language.partition("-")[0]) if name in CATALOGUES), None)


def text_of(notification: Notification, language: str) -> str:
    """One sentence, on one line."""
    catalogue = CATALOGUES[language_of(language) or DEFAULT]
    data = notification.data
    team = data.get("team")
    fields = {
        "instance": notification.instance_name or "?",
        "actor": notification.actor or catalogue["somebody"],
        "assignee": catalogue["team"].format(team=team) if team else catalogue["you"],
        "tool": data.get("tool", "?"),
        "activity": data.get("activity", "?"),
        "error": str(data.get("error") or "")[:LONGEST_ERROR],
        "percent": data.get("percent", "?"),
        "subject": data.get("subject", "?"),
        "month": data.get("month", "?"),
    }
    return " ".join(catalogue[notification.kind].format(**fields).split())


def mail_of(notifications: Sequence[Notification], language: str) -> Mail:
    """One mail for several notifications, whose texts are in it."""
    catalogue = CATALOGUES[language_of(language) or DEFAULT]
    paragraphs = [_with_address(notification) for notification in notifications]
    subject = notifications[0].text
    if len(notifications) > 1:
        subject = catalogue["several"].format(count=len(notifications))
    return Mail(subject, "\n\n".join([*paragraphs, catalogue["footer"]]))


def message_of(notification: Notification) -> str:
    """The text of a message."""
    return _with_address(notification)


def _with_address(notification: Notification) -> str:
    return f"{notification.text}\n{notification.url}" if notification.url else notification.text
