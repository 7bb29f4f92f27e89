"""Cards, locations and contacts as messages of Telegram. Pure.

Sources: https://core.telegram.org/bots/api#sendphoto, #sendvenue, #sendlocation and #sendcontact
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from adapters.outbound.channels.common import rich
from adapters.outbound.rendering import Markup, render
from domain.channels.answers import Answer
from domain.channels.model import TextLimit
from domain.channels.rich import Card, Contact, Location, RichContent, RichKind
from domain.conversations.rich_text import contact_text
from domain.feedback.model import is_thumb

from .config import MARKUPS, TEXT_LIMIT

RICH_KINDS = frozenset({RichKind.BUTTONS, RichKind.CARDS, RichKind.LOCATION, RichKind.CONTACT})
MOST_LINKS, LONGEST_URL, LONGEST_LABEL = 10, 2000, 60
METHOD = "method"
"""The kind of a payload whose `call` is the name of a method, and `fields` its parameters."""
_CAPTION = TextLimit(1024, TEXT_LIMIT.unit)


def payloads(content: RichContent, mode: str) -> Iterator[dict[str, Any]]:
    for card in content.cards:
        yield from _card(card, mode)
    if content.location:
        yield _location(content.location)
    if content.contact:
        yield from _contact(content.contact, mode)


def _card(card: Card, mode: str) -> Iterator[dict[str, Any]]:
    """A photo with the text below it, or a text where there is no picture or the text is too long for that."""
    native, others = rich.split_links(card.buttons, MOST_LINKS, LONGEST_URL)
    links = rich.labelled_links(native, LONGEST_LABEL)
    below = {rich.LINKS: links} if links else {}
    alone = rich.card_alone(replace(card, buttons=others, picture=""))
    captions = render(MARKUPS[mode], alone.text, _CAPTION)
    if card.picture and len(captions) == 1:
        caption = captions[0]
        fields = {"photo": card.picture, "caption": caption.text, "parse_mode": mode}
        plain = render(Markup.PLAIN, rich.card_alone(card).text, TEXT_LIMIT)[0].text
        yield {"kind": METHOD, "call": "sendPhoto", "fields": fields, "plain": plain, **below}
        return
    alone = rich.card_alone(replace(card, buttons=others))
    texts = render(MARKUPS[mode], alone.text, TEXT_LIMIT)
    for piece in texts:
        more = below if piece is texts[-1] else {}
        yield {"kind": "text", "text": piece.text, "plain": piece.plain, "mode": mode, **more}


def _location(location: Location) -> dict[str, Any]:
    fields: dict[str, Any] = {"latitude": location.latitude, "longitude": location.longitude}
    if not location.name:
        return {"kind": METHOD, "call": "sendLocation", "fields": fields}
    fields |= {"title": location.name, "address": location.address or location.name}
    return {"kind": METHOD, "call": "sendVenue", "fields": fields}


def _contact(contact: Contact, mode: str) -> Iterator[dict[str, Any]]:
    """Yields a contact, which has one number on Telegram; without one, and with more, a text with all of it."""
    if contact.phones:
        fields = {"phone_number": contact.phones[0], "first_name": contact.name}
        yield {"kind": METHOD, "call": "sendContact", "fields": fields}
    if len(contact.phones) != 1 or contact.emails:
        for piece in render(MARKUPS[mode], contact_text(contact), TEXT_LIMIT):
            yield {"kind": "text", "text": piece.text, "plain": piece.plain, "mode": mode}


def keyboard(payload: Any) -> list[list[dict[str, str]]]:
    """The rows of choices and links below a message, and one row of thumbs."""
    buttons = [{"text": label, "callback_data": value} for label, value in payload.get("choices", ())]
    rows = [[button] for button in buttons if not is_thumb(button["callback_data"])]
    if thumbs := [button for button in buttons if is_thumb(button["callback_data"])]:
        rows.append(thumbs)
    return rows + [[{"text": label, "url": url}] for label, url in payload.get(rich.LINKS, ())]


def with_links(answer: Answer) -> tuple[Answer, list[list[str]]]:
    return rich.with_links(answer, MOST_LINKS, LONGEST_URL, LONGEST_LABEL)
