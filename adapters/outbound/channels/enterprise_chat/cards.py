"""The JSON of what is shown in Teams: text, cards with buttons, files.

Sources: https://learn.microsoft.com/en-us/microsoftteams/platform/task-modules-and-cards/cards/cards-reference
and https://learn.microsoft.com/en-us/outlook/actionable-messages/message-card-reference
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from adapters.outbound.channels.enterprise_chat.config import TeamsTarget
from adapters.outbound.rendering.markup_writer import ZERO_WIDTH
from domain.channels.answers import Artifact, Choice

ADAPTIVE = "application/vnd.microsoft.card.adaptive"
HERO = "application/vnd.microsoft.card.hero"
_VERB = "decide"
_SUMMARY = 100
_TAG = re.compile(r"<(?=[A-Za-z/!])")
"""A message card takes some HTML for HTML."""

Json = dict[str, Any]


def card_with_body(body: str, actions: Sequence[Json] = ()) -> Json:
    """An adaptive card, version 1.4, as an attachment. `body`: rendered as `Markup.CARD`."""
    card: Json = {
        "type": "AdaptiveCard",
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "version": "1.4",
        "msteams": {"width": "Full"},
        "body": json.loads(body),
    }
    if actions:
        card["actions"] = list(actions)
    return {"contentType": ADAPTIVE, "contentUrl": None, "content": card}


def choice_action(choice: Choice) -> Json:
    """A button that sends a choice; clients that do not know Action.Execute send it as a message."""
    data = {"choice": choice.button_value, "label": choice.label}
    return {
        "type": "Action.Execute",
        "title": choice.label,
        "verb": _VERB,
        "data": data,
        "fallback": {"type": "Action.Submit", "title": choice.label, "data": data},
    }


def hero_card(artifact: Artifact) -> Json:
    """A file as a hero card with a button that downloads it, as an attachment."""
    content: Json = {
        "title": artifact.name,
        "buttons": [{"type": "openUrl", "title": "Download", "value": artifact.url}],
    }
    if artifact.is_image:
        content["images"] = [{"url": artifact.url, "alt": artifact.name}]
    return {"contentType": HERO, "content": content}


def envelope(attachment: Json) -> Json:
    """What a Workflows webhook takes."""
    return {"type": "message", "attachments": [attachment]}


def open_url_action(artifact: Artifact) -> Json:
    return {"type": "Action.OpenUrl", "title": "Download", "url": artifact.url}


def message_card(body: str, summary: str, artifact: Artifact | None = None) -> Json:
    """What a legacy connector takes: a message card, a file as an action that opens its address.

    `body`: rendered as `Markup.CARD`; `summary`: the same as plain text, for notifications.
    """
    card: Json = {
        "@type": "MessageCard",
        "@context": "http://schema.org/extensions",
        "summary": summary.strip().partition("\n")[0][:_SUMMARY] or "Message",
        "text": _TAG.sub(f"<{ZERO_WIDTH}", "\n\n".join(_flat(json.loads(body)))),
    }
    if artifact is not None:
        target = {"os": "default", "uri": artifact.url}
        card["potentialAction"] = [{"@type": "OpenUri", "name": "Download", "targets": [target]}]
    return card


def _flat(elements: Sequence[Json]) -> Iterator[str]:
    """The elements of a card's body as paragraphs of a message card, whose Markdown has headings and quotes."""
    for element in elements:
        if element["type"] == "Container":
            for inner in _flat(element["items"]):
                yield "> " + inner.replace("\n", "\n> ")
        else:
            yield ("### " if "size" in element else "") + element["text"]


def activity(target: TeamsTarget, **content: Any) -> Json:
    """A message activity of the bot, in answer to what `target` describes, if anything."""
    message: Json = {
        "type": "message",
        "from": target.bot,
        "conversation": {"id": target.conversation},
        **content,
    }
    if target.user:
        message["recipient"] = target.user
    if target.reply_to:
        message["replyToId"] = target.reply_to
    return message
