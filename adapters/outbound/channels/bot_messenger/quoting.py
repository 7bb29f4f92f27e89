"""What a Telegram message replies to (https://core.telegram.org/bots/api#message). Pure."""

from collections.abc import Mapping
from typing import Any

from adapters.outbound.channels.common.bodies import at, items, text
from adapters.outbound.channels.common.contents import forwarded
from domain.channels.answers import Author
from domain.channels.messages import Quoted

from .content import Bot, attachments_of, described, with_links, written_in


def quoted_in(message: Mapping[str, Any], bot: Bot) -> Quoted | None:
    """The message that was replied to: the words that the person marked in it, or all of them.

    Each message of a forum topic names the one that opened the topic, which nobody replied to.
    """
    original = at(message, "reply_to_message")
    if isinstance(original, dict) and "forum_topic_created" not in original:
        author = Author.RESOURCE if text(original, "from", "id") == bot.id else _author(original)
    else:
        original = at(message, "external_reply")  # of another chat: with its files, without its text
        if not isinstance(original, dict):
            return None
        author = _author(at(original, "origin"))
    quote = at(message, "quote")
    marked = with_links(text(quote, "text"), items(quote, "entities"))
    body = written_in(original) or described(original)
    quoted = Quoted(marked or body, author, attachments_of(original))
    return quoted if quoted.is_given else None


def forwarded_in(message: Mapping[str, Any]) -> dict[str, object]:
    """The `context` of a forwarded message: who wrote it, and when."""
    origin = at(message, "forward_origin")
    return forwarded(_author(origin), at(origin, "date")) if isinstance(origin, dict) else {}


def _author(source: Any) -> str:
    """A person, a hidden person, or the group or channel that speaks for itself."""
    if title := text(source, "sender_chat", "title"):
        return title
    for person in ("from", "sender_user"):
        if user := at(source, person):
            return name_of(user) or text(user, "id")
    return text(source, "sender_user_name") or text(source, "chat", "title")


def name_of(user: Any) -> str:
    names = (text(user, "first_name"), text(user, "last_name"))
    return " ".join(filter(None, names)) or text(user, "username")
