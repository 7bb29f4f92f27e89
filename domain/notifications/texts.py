"""The texts of notifications, by language. Pure.

A language is added by a catalogue with the keys of `ENGLISH`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from domain.notifications.model import Notification, NotificationKind

ENGLISH: Mapping[str, str] = {
    NotificationKind.WANTED: "Somebody is wanted in a conversation on {instance}.",
    NotificationKind.ASSIGNED: "{actor} assigned a conversation on {instance} to {assignee}.",
    NotificationKind.MENTIONED: "{actor} mentioned you in a note on {instance}.",
    NotificationKind.APPROVAL: "The tool {tool} waits for an approval on {instance}.",
    NotificationKind.UNHEALTHY: "{instance} does not work: {activity} fails. {error}",
    NotificationKind.HEALTHY: "{instance} works again.",
    NotificationKind.BUDGET: "{percent} % of the budget of {subject} for {month} are spent.",
    "you": "you",
    "team": "the team {team}",
    "somebody": "Somebody",
    "several": "{count} notifications",
    "footer": "You get this mail by your settings for notifications.",
}
CATALOGUES: Mapping[str, Mapping[str, str]] = {"en": ENGLISH}
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
