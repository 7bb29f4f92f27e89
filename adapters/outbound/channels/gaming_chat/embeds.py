"""Cards and links in Discord's messages. Pure.

Sources: https://docs.discord.com/developers/resources/message#embed-object-embed-limits and
https://docs.discord.com/developers/components/reference#button
"""

from collections.abc import Sequence
from typing import Any

from adapters.outbound.channels.common import rich
from adapters.outbound.rendering import Markup, Rendered, render
from domain.channels.model import TextLimit
from domain.channels.rich import Card
from domain.conversations.choices import literal
from domain.conversations.rich_text import links_text

from .config import TEXT_LIMIT

LONGEST_LABEL = 80
"""Of a button; its custom_id has up to 100."""
LONGEST_URL = 512
MOST_LINKS = 10
ROW, _ROWS = 5, 5
"""Buttons in a row, and rows of a message."""
_DESCRIPTION = TextLimit(4096)
_TITLE, _FIELD_NAME = TextLimit(256), TextLimit(256)
_FIELD_VALUE = TextLimit(1024)
_EMBED = 6000
"""Characters of an embed in all."""
_LINK_STYLE = 5
_NOTHING = Rendered("-", "-")


def links_beside(choices: int) -> int:
    """How many links fit below a message with so many choices."""
    return min(MOST_LINKS, ROW * (_ROWS - -(-choices // ROW)))


def link_buttons(links: Sequence[Sequence[str]]) -> list[dict[str, Any]]:
    return [{"type": 2, "style": _LINK_STYLE, "label": label, "url": url} for label, url in links]


def rows(buttons: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {"type": 1, "components": list(buttons[start : start + ROW])} for start in range(0, len(buttons), ROW)
    ]


def card_payloads(card: Card) -> list[dict[str, Any]]:
    """The message of a card; one that is too long for an embed is text."""
    native, others = rich.split_links(card.buttons, MOST_LINKS, LONGEST_URL)
    described = "\n\n".join(filter(None, (card.text.strip(), links_text(others))))
    pieces = render(Markup.DISCORD, described, _DESCRIPTION)
    fields = _fields(card)
    embed: dict[str, Any] = {
        "title": _literal(card.title, _TITLE),
        **({"description": pieces[0].text} if pieces else {}),
        **({"fields": fields} if fields else {}),
        **({"image": {"url": card.picture}} if card.picture else {}),
    }
    size = len(embed["title"]) + sum(len(piece.text) for piece in pieces)
    size += sum(len(field["name"]) + len(field["value"]) for field in fields)
    if len(pieces) > 1 or size > _EMBED:
        texts = render(Markup.DISCORD, rich.card_alone(card).text, TEXT_LIMIT)
        return [{"kind": "text", "text": piece.text} for piece in texts]
    links = rich.labelled_links(native, LONGEST_LABEL)
    return [{"kind": "text", "text": "", "embed": embed, **({rich.LINKS: links} if links else {})}]


def _fields(card: Card) -> list[dict[str, Any]]:
    return [
        {
            "name": _literal(field.name, _FIELD_NAME),
            "value": _literal(field.value, _FIELD_VALUE),
            "inline": True,
        }
        for field in card.fields
    ]


def _literal(text: str, limit: TextLimit) -> str:
    return (render(Markup.DISCORD, literal(text), limit) or [_NOTHING])[0].text
