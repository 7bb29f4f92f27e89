"""Blocks of Slack's messages: buttons, links and cards. Pure.

Source: https://docs.slack.dev/reference/block-kit/blocks
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from adapters.outbound.channels.common import messages, rich
from adapters.outbound.rendering import Markup, render
from domain.channels.model import TextLimit
from domain.channels.rich import Card
from domain.conversations.choices import literal
from domain.conversations.rich_text import links_text

from .config import ACTION, TEXT_LIMIT

BLOCK_LIMIT = TextLimit(3000)
"""Of the text in one section block (https://docs.slack.dev/reference/block-kit/blocks/section-block)."""
LONGEST_LABEL = 75
"""Of a button (https://docs.slack.dev/reference/block-kit/block-elements/button-element)."""
MOST_LINKS, LONGEST_URL = 25, 3000
_FIELDS = 10
"""In one section."""
_FIELD_LIMIT = TextLimit(2000)


def section(markup: str) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": markup}}


def of_payload(payload: Mapping[str, Any]) -> list[Any]:
    """The blocks of a message, none for a message of nothing but text."""
    if blocks := payload.get("blocks"):
        return list(blocks)
    rows = [*_choices(payload.get("choices", ())), *link_row(payload.get(rich.LINKS, ()))]
    if not rows:
        return []
    return [*([section(payload["text"])] if payload["text"] else []), *rows]


def _choices(choices: Sequence[Sequence[str]]) -> Iterator[dict[str, Any]]:
    labelled = enumerate(messages.labelled(choices, LONGEST_LABEL), 1)
    return _row([_button(label, f"{ACTION}{number}", value=value) for number, (label, value) in labelled])


def link_row(links: Sequence[Sequence[str]]) -> Iterator[dict[str, Any]]:
    """The press of a link comes as an action without a value, which is ignored."""
    return _row([_button(label, f"link{number}", url=url) for number, (label, url) in enumerate(links, 1)])


def _button(label: str, action: str, **more: str) -> dict[str, Any]:
    text = {"type": "plain_text", "text": label}
    return {"type": "button", "text": text, "action_id": action, **more}


def _row(buttons: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    if buttons:
        yield {"type": "actions", "elements": buttons}


def card_payload(card: Card) -> dict[str, Any]:
    """The message of a card; its text is for notifications, and for where Slack does not take the blocks."""
    native, others = rich.split_links(card.buttons, MOST_LINKS, LONGEST_URL)
    head = "\n\n".join(filter(None, (f"**{literal(card.title)}**", card.text.strip(), links_text(others))))
    blocks = [section(piece.text) for piece in render(Markup.MRKDWN, head, BLOCK_LIMIT)]
    fields = [
        {"type": "mrkdwn", "text": render(Markup.MRKDWN, text, _FIELD_LIMIT)[0].text}
        for field in card.fields
        if (text := f"**{literal(field.name)}**\n\n{literal(field.value)}")
    ]
    rows = (fields[start : start + _FIELDS] for start in range(0, len(fields), _FIELDS))
    blocks += [{"type": "section", "fields": row} for row in rows]
    if card.picture:
        blocks.append({"type": "image", "image_url": card.picture, "alt_text": card.title})
    blocks += link_row(rich.labelled_links(native, LONGEST_LABEL))
    shown = render(Markup.MRKDWN, rich.card_alone(card).text, TEXT_LIMIT)[0]
    return {"kind": "text", "text": shown.text, "plain": shown.plain, "blocks": blocks}
