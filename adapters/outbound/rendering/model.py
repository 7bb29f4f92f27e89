"""What rendering gives: the markups that platforms take, and a message in one of them."""

from dataclasses import dataclass
from enum import StrEnum


class Markup(StrEnum):
    """A platform's own way to write formatted text."""

    MRKDWN = "mrkdwn"
    """Slack."""
    TELEGRAM_HTML = "telegram_html"
    TELEGRAM_MARKDOWN = "telegram_markdown"
    """The first one, which knows neither nesting nor escapes inside an entity."""
    TELEGRAM_MARKDOWNV2 = "telegram_markdownv2"
    DISCORD = "discord"
    WHATSAPP = "whatsapp"
    """Both the Cloud API and a linked device."""
    MATTERMOST = "mattermost"
    TEAMS = "teams"
    """Bot messages with `textFormat` markdown."""
    CARD = "card"
    """The body of an adaptive card, as the JSON of an array of elements."""
    EMAIL = "email"
    PLAIN = "plain"
    """SMS, and wherever nothing is known of the receiver."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """One message: `text` in the platform's markup, `plain` the same without any.

    `plain` is what to send when the platform refuses the markup; for e-mail it is the text alternative
    of the HTML in `text`. Both are within the limit that was asked for.
    """

    text: str
    plain: str
