"""What a Telegram message replies to (https://core.telegram.org/bots/api#message). Pure."""

from collections.abc import Mapping
from typing import Any

from adapters.outbound.channels.common.bodies import at, text
from domain.channels.answers import Author
from domain.channels.messages import Quoted

from .content import Bot, attachments_of, described


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
    marked = text(message, "quote", "text")
    body = text(original, "text") or text(original, "caption") or described(original)
    quoted = Quoted(marked or body, author, attachments_of(original))
    return quoted if quoted.is_given else None


def _author(source: Any) -> str:
    """A person, a hidden person, or the group or channel that speaks for itself."""
    for person in ("from", "sender_user"):
        if user := at(source, person):
            return name_of(user) or text(user, "id")
    titles = (text(source, chat, "title") for chat in ("sender_chat", "chat"))
    return text(source, "sender_user_name") or next(filter(None, titles), "")


def name_of(user: Any) -> str:
    names = (text(user, "first_name"), text(user, "last_name"))
    return " ".join(filter(None, names)) or text(user, "username")
