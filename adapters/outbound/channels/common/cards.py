"""What programs' messages show: Discord's embeds and components, Slack's blocks and attachments, Teams' cards. Pure.

Sources: https://docs.discord.com/developers/resources/message#embed-object,
https://docs.discord.com/developers/components/reference, https://docs.slack.dev/reference/block-kit/blocks,
https://docs.slack.dev/legacy/legacy-messaging/legacy-secondary-message-attachments and
https://adaptivecards.io/explorer/
"""

from collections.abc import Mapping
from typing import Any

from adapters.outbound.channels.common.bodies import items, text
from adapters.outbound.links import address_behind

MOST_PARTS = 1_000
_TEXTS = (
    "title", "name", "label", "pretext", "subtitle", "text", "content", "description", "altText", "alt_text",
)  # fmt: skip
"""Fields that people read; the first one bears the link."""
_ADDRESSES = ("url", "title_link", "image_url", "value")
_PARTS = (
    "author", "header", "body", "items", "columns", "rows", "cells", "facts", "fields", "elements", "blocks",
    "embeds", "components", "attachments", "image", "images", "media", "accessory", "card",
    "buttons", "actions", "footer",
)  # fmt: skip
"""Fields that hold other parts, in the order in which they are shown."""
_BUTTONS = ("button", "2", "Action.Submit", "Action.Execute")
_ON_ONE_LINE = {
    "rich_text_section": "elements",
    "rich_text_preformatted": "elements",
    "rich_text_quote": "elements",
    "RichTextBlock": "inlines",
}
"""Parts whose pieces follow each other within a line, and the field that holds these."""


def card_text(card: object) -> str:
    """The text of a card, a part on each line, with the addresses of links and without buttons that lead nowhere.
    Empty for what shows no text."""
    lines: list[str] = []
    pending = [card]
    for _ in range(MOST_PARTS):
        if not pending:
            break
        part = pending.pop()
        if isinstance(part, list):
            pending += reversed(part[:MOST_PARTS])
        elif isinstance(part, dict) and (pieces := _ON_ONE_LINE.get(text(part, "type"))):
            lines.append("".join(map(_inline, items(part, pieces))))
        elif isinstance(part, dict):
            lines += _lines(part)
            pending += [part[name] for name in reversed(_PARTS) if name in part]
    return "\n".join(line for line in lines if line.strip())


def _lines(part: Mapping[str, Any]) -> list[str]:
    """The texts of a part itself."""
    if "type" not in part and (value := text(part, "value")):  # a fact, a field
        return [": ".join(filter(None, (text(part, "title") or text(part, "name"), value)))]
    texts = [shown for name in _TEXTS if (shown := text(part, name) or text(part, name, "text"))]
    label = texts[0] if texts else ""
    address = next(
        (behind for name in _ADDRESSES if (behind := address_behind(label, text(part, name)))),
        "",
    )
    if text(part, "type") in _BUTTONS and not address:
        return []
    return [label + address, *texts[1:]]


def _inline(piece: object) -> str:
    """A piece of Slack's rich text in the markup of its other texts, or one of a card's."""
    match text(piece, "type"):
        case "link":
            label = text(piece, "text")
            return _escaped(label + address_behind(label, text(piece, "url")))
        case "user":
            return f"<@{text(piece, 'user_id')}>"
        case "channel":
            return f"<#{text(piece, 'channel_id')}>"
        case "broadcast":
            return f"<!{text(piece, 'range')}>"
        case "emoji":
            return f":{text(piece, 'name')}:"
        case "text":
            return _escaped(text(piece, "text"))
    return text({"": piece}, "") or text(piece, "text") or text(piece, "fallback")


def _escaped(written: str) -> str:
    return written.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
