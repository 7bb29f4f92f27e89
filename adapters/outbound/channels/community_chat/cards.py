"""Cards as attachments of Mattermost's posts. Pure.

Source: https://developers.mattermost.com/integrate/reference/message-attachments/
"""

from typing import Any

from domain.channels.rich import Card
from domain.conversations.choices import literal
from domain.conversations.rich_text import links_text


def card_payload(card: Card) -> dict[str, Any]:
    """A post with the title and one attachment. Links stand in its text: buttons of Mattermost open nothing."""
    shown = "\n\n".join(filter(None, (card.text.strip(), links_text(card.buttons))))
    fields = [{"title": field.name, "value": literal(field.value), "short": True} for field in card.fields]
    attachment: dict[str, Any] = {
        "fallback": card.title,
        **({"text": shown} if shown else {}),
        **({"fields": fields} if fields else {}),
        **({"image_url": card.picture} if card.picture else {}),
    }
    return {"kind": "text", "message": f"**{literal(card.title)}**", "card": attachment}
