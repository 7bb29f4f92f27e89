"""Adaptive cards of Teams: the frame, links and cards of answers. Pure.

Sources: https://adaptivecards.io/explorer/ and
https://learn.microsoft.com/en-us/microsoftteams/platform/task-modules-and-cards/cards/cards-reference
"""

import json
from collections.abc import Sequence
from typing import Any

from adapters.outbound.channels.common import rich
from adapters.outbound.rendering import Markup, render
from domain.channels.model import TextLimit
from domain.channels.rich import Card
from domain.conversations.choices import literal
from domain.conversations.rich_text import links_text

ADAPTIVE = "application/vnd.microsoft.card.adaptive"
MOST_LINKS = 6
"""Actions that Teams shows of a card."""
LONGEST_URL = 2000
LONGEST_LABEL = 80

Json = dict[str, Any]


def attachment(body: Sequence[Json], actions: Sequence[Json] = ()) -> Json:
    """An adaptive card, version 1.4, as an attachment."""
    card: Json = {
        "type": "AdaptiveCard",
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "version": "1.4",
        "msteams": {"width": "Full"},
        "body": list(body),
    }
    if actions:
        card["actions"] = list(actions)
    return {"contentType": ADAPTIVE, "contentUrl": None, "content": card}


def size_of(content: object) -> int:
    """The bytes that it takes in a message."""
    return len(json.dumps(content).encode())


def link_actions(links: Sequence[Sequence[str]]) -> list[Json]:
    return [{"type": "Action.OpenUrl", "title": label, "url": url} for label, url in links]


def card_payload(card: Card, limit: TextLimit) -> Json:
    """The message of a card; its plain text is for where Teams does not take it."""
    native, others = rich.split_links(card.buttons, MOST_LINKS, LONGEST_URL)
    head = "\n\n".join(filter(None, (f"**{literal(card.title)}**", card.text.strip(), links_text(others))))
    body: list[Json] = [
        element for piece in render(Markup.CARD, head, limit) for element in json.loads(piece.text)
    ]
    if card.fields:
        rows = [
            {"title": _literal(field.name, limit), "value": _literal(field.value, limit)}
            for field in card.fields
        ]
        body.append({"type": "FactSet", "facts": rows})
    if card.picture:
        body.append({"type": "Image", "url": card.picture, "altText": card.title})
    actions = link_actions(rich.labelled_links(native, LONGEST_LABEL))
    plain = render(Markup.TEAMS, rich.card_alone(card).text, limit)[0].plain
    return {"content": {"attachments": [attachment(body, actions)]}, "plain": plain}


def _literal(text: str, limit: TextLimit) -> str:
    """The text as the Markdown of a card has it, on one line."""
    pieces = render(Markup.CARD, literal(" ".join(text.split())), limit)
    return str(json.loads(pieces[0].text)[0]["text"]) if pieces else ""
