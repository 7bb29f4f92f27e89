"""Links, cards, locations and contacts as messages of WhatsApp. Pure.

Sources: https://developers.facebook.com/docs/whatsapp/cloud-api/messages/interactive-cta-url-messages,
https://developers.facebook.com/docs/whatsapp/cloud-api/messages/location-messages and
https://developers.facebook.com/docs/whatsapp/cloud-api/messages/contacts-messages
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from adapters.outbound.channels.common.messages import cut_labels
from adapters.outbound.channels.common.rich import card_alone
from adapters.outbound.rendering import Markup, render
from domain.channels.answers import Answer
from domain.channels.model import TextLimit
from domain.channels.rich import Card, Contact, LinkButton, RichContent, RichKind
from domain.conversations.rich_text import with_text

from .config import TEXT_LIMIT

RICH_KINDS = frozenset({RichKind.BUTTONS, RichKind.CARDS, RichKind.LOCATION, RichKind.CONTACT})
BODY = TextLimit(1024)
CONTENT = "content"
"""The kind of a payload whose `content` is a message as the platform takes it."""
_LONGEST_LABEL = 20
_LONGEST_URL = 2000


def lone_link(answer: Answer) -> LinkButton | None:
    """The one link of an answer without choices and cards: a message has room for one button with an address."""
    content = answer.rich
    if content is None or len(content.buttons) != 1 or content.cards or answer.choices:
        return None
    [button] = content.buttons
    return button if button.is_web and len(button.url) <= _LONGEST_URL else None


def link_message(body: str, button: LinkButton, picture: str = "") -> dict[str, Any]:
    label = cut_labels([button.label], _LONGEST_LABEL)[0]
    parameters = {"display_text": label, "url": button.url}
    interactive: dict[str, Any] = {
        "type": "cta_url",
        "body": {"text": body},
        "action": {"name": "cta_url", "parameters": parameters},
    }
    if picture:
        interactive["header"] = {"type": "image", "image": {"link": picture}}
    return {"type": "interactive", "interactive": interactive}


def as_text(answer: Answer) -> Answer:
    """The answer with its links as text, and in groups, which take no others, all of it."""
    if answer.rich is None:
        return answer
    shown = with_text(replace(answer, rich=RichContent(buttons=answer.rich.buttons)))
    return replace(shown, rich=replace(answer.rich, buttons=()))


def contents(content: RichContent) -> Iterator[dict[str, Any]]:
    """The messages of cards, a location and a contact."""
    for card in content.cards:
        yield from _card(card)
    if content.location:
        location = content.location
        place: dict[str, Any] = {"latitude": location.latitude, "longitude": location.longitude}
        named = {"name": location.name, "address": location.address}
        yield {"type": "location", "location": place | {key: value for key, value in named.items() if value}}
    if content.contact:
        yield _contact(content.contact)


def _card(card: Card) -> Iterator[dict[str, Any]]:
    """One message with picture and button, or a picture with its text where that fits, or texts."""
    button = lone_link(Answer("", rich=RichContent(buttons=card.buttons)))
    others = () if button else card.buttons
    shown = render(Markup.WHATSAPP, card_alone(replace(card, buttons=others, picture="")).text, BODY)
    if button and len(shown) == 1:
        yield link_message(shown[0].text, button, card.picture)
    elif card.picture and len(shown) == 1:
        yield {"type": "image", "image": {"link": card.picture, "caption": shown[0].text}}
    else:
        for piece in render(Markup.WHATSAPP, card_alone(card).text, TEXT_LIMIT):
            yield {"type": "text", "text": {"preview_url": False, "body": piece.text}}


def _contact(contact: Contact) -> dict[str, Any]:
    card: dict[str, Any] = {"name": {"formatted_name": contact.name, "first_name": contact.name}}
    if contact.phones:
        card["phones"] = [{"phone": phone} for phone in contact.phones]
    if contact.emails:
        card["emails"] = [{"email": email} for email in contact.emails]
    return {"type": "contacts", "contacts": [card]}
