"""What a Telegram message says: its text without mention and command, its files, and the message that it answers or
forwards (https://core.telegram.org/bots/api#message). Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from adapters.outbound.channels.common import contents
from adapters.outbound.channels.common.bodies import at, integer, items, size, text
from adapters.outbound.system.links import address_behind
from domain.channels.answers import Author
from domain.channels.messages import Attachment, Quoted
from domain.values import value

_COMMAND = re.compile(r"/(?P<name>[A-Za-z0-9_]{1,32})(?:@(?P<bot>[A-Za-z0-9_]+))?(?=\s|$)")
_ANY_BOT = re.compile(r"@[A-Za-z0-9_]{1,31}bot(?![A-Za-z0-9_])[,:]?\s*", re.IGNORECASE)
_MIME_TYPES = {
    "photo": "image/jpeg",
    "voice": "audio/ogg",
    "audio": "audio/mpeg",
    "video": "video/mp4",
    "video_note": "video/mp4",
    "sticker": "image/webp",
    "animation": "video/mp4",
    "document": "application/octet-stream",
}
"""Kinds of files, and the media type of each if the message names none."""
_UNREADABLE = {
    "poll": "polls",
    "checklist": "checklists",
    "story": "stories",
    "paid_media": "paid media",
    "game": "games",
    "invoice": "invoices",
    "giveaway": "giveaways",
    "giveaway_winners": "giveaways",
}
"""Kinds of messages without text that a person may send, and how a notice calls them."""


@value
class Bot:
    """Our own bot; `username` is without the @, empty while it is unknown."""

    id: str
    username: str


@value
class AddressedText:
    """`text` without mention and command; `command` is the command's name without the slash, if there is one."""

    text: str
    command: str = ""
    addresses_bot: bool = False
    for_other_bot: bool = False


def addressed(written: str, bot: Bot) -> AddressedText:
    """Removes the bot's mention and a leading command."""
    if bot.username:
        mention = re.compile(
            rf"(?P<address>(?<!\w)\w{{1,12}}://\S*)|(?<![\w/])@{re.escape(bot.username)}(?!\w)[,:]?\s*",
            re.IGNORECASE,
        )
        body = mention.sub(lambda match: match["address"] or "", written) if "@" in written else written
    else:
        # Usernames of bots end in "bot": while ours is unknown, a leading one is taken for it.
        body = _ANY_BOT.sub("", written, count=1) if _ANY_BOT.match(written) else written
    body = body.strip()
    command = _COMMAND.match(body)
    if not command:
        return AddressedText(body, addresses_bot=body != written.strip())
    name = command["bot"]
    if name and bot.username and name.lower() != bot.username.lower():
        return AddressedText(body, for_other_bot=True)
    return AddressedText(body[command.end() :].strip(), command["name"].lower(), addresses_bot=True)


def written_in(message: Any) -> str:
    """The text or the caption of a message, with the addresses of its links and of the buttons below it."""
    if written := text(message, "text"):
        linked = with_links(written, items(message, "entities"))
    else:
        linked = with_links(text(message, "caption"), items(message, "caption_entities"))
    linking = ((text(button, "text"), text(button, "url")) for button in buttons_of(message))
    return "\n".join(
        filter(None, (linked, *(label + address_behind(label, url) for label, url in linking if url)))
    )


def buttons_of(message: Any) -> Iterator[Any]:
    rows = items(message, "reply_markup", "inline_keyboard")
    return (button for row in rows if isinstance(row, list) for button in row)


def with_links(written: str, entities: Sequence[Any]) -> str:
    """The text with the addresses behind the labels of its links. Telegram counts in UTF-16 code units
    (https://core.telegram.org/bots/api#messageentity)."""
    links = [entity for entity in entities if text(entity, "type") == "text_link"]
    if not links:
        return written
    units, pieces, position = written.encode("utf-16-le", "replace"), [], 0
    for link in sorted(links, key=lambda link: integer(link, "offset") or 0):
        start = 2 * (integer(link, "offset") or 0)
        end = start + 2 * (integer(link, "length") or 0)
        if position <= start < end <= len(units):
            label = units[start:end].decode("utf-16-le", "replace")
            pieces += [units[position:end], address_behind(label, text(link, "url")).encode("utf-16-le")]
            position = end
    return b"".join([*pieces, units[position:]]).decode("utf-16-le", "replace")


def attachments_of(message: Mapping[str, Any]) -> tuple[Attachment, ...]:
    """The files of a message; a GIF comes as animation and, once more, as document."""
    kinds = [kind for kind in _MIME_TYPES if kind in message]
    if "animation" in kinds and "document" in kinds:
        kinds.remove("document")
    attachments = []
    for kind in kinds:
        # A photo comes in several sizes, the largest last.
        file = (items(message, "photo") or [None])[-1] if kind == "photo" else message[kind]
        if file_id := text(file, "file_id"):
            mime_type = text(file, "mime_type") or _MIME_TYPES[kind]
            name = text(file, "file_name") or contents.file_name(kind, mime_type)
            source, is_voice = {"file_id": file_id}, kind == "voice"
            attachments.append(Attachment(name, mime_type, source, size(file, "file_size"), is_voice))
    return tuple(attachments)


def described(message: Mapping[str, Any]) -> str:
    """A location, a venue, a contact, a dice or the data of a web app as text; empty for messages without content
    (joins, pins, titles)."""
    if data := text(message, "web_app_data", "data"):
        return data
    if contact := at(message, "contact"):
        return contents.contact_text(*_contact(contact))
    if dice := at(message, "dice"):
        return f"{text(dice, 'emoji')} {text(dice, 'value')}".strip()
    venue = (text(message, "venue", "title"), text(message, "venue", "address"))
    return contents.location_text(at(message, "location"), *venue)


def context_of(message: Mapping[str, Any]) -> dict[str, object]:
    if contact := at(message, "contact"):
        return contents.contact_context(*_contact(contact))
    venue = (text(message, "venue", "title"), text(message, "venue", "address"))
    return contents.location_context(at(message, "location"), *venue)


def _contact(contact: object) -> tuple[str, list[str]]:
    name = " ".join(filter(None, (text(contact, "first_name"), text(contact, "last_name"))))
    return name, list(filter(None, [text(contact, "phone_number")]))


def unreadable_kind(message: Mapping[str, Any]) -> str:
    """How a notice calls the kind of a message that cannot be read; empty for others, such as service messages."""
    return next((name for kind, name in _UNREADABLE.items() if kind in message), "")


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
    return contents.forwarded(_author(origin), at(origin, "date")) if isinstance(origin, dict) else {}


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
