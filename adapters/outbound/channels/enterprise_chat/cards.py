"""The JSON of what is shown in Teams: text, cards with buttons, files.

Sources: https://learn.microsoft.com/en-us/microsoftteams/platform/task-modules-and-cards/cards/cards-reference
and https://learn.microsoft.com/en-us/outlook/actionable-messages/message-card-reference
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from domain.channels.messages import Artifact, Choice

ADAPTIVE = "application/vnd.microsoft.card.adaptive"
HERO = "application/vnd.microsoft.card.hero"
_VERB = "decide"
_SUMMARY = 100

Json = dict[str, Any]


def adaptive_card(text: str, actions: Sequence[Json] = ()) -> Json:
    """An adaptive card, version 1.4, with one text and its actions, as an attachment."""
    card: Json = {
        "type": "AdaptiveCard",
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "version": "1.4",
        "msteams": {"width": "Full"},
        "body": [{"type": "TextBlock", "text": text, "wrap": True}],
    }
    if actions:
        card["actions"] = list(actions)
    return {"contentType": ADAPTIVE, "contentUrl": None, "content": card}


def choice_action(choice: Choice) -> Json:
    """A button that sends a choice; clients that do not know Action.Execute send it as a message."""
    data = {"choice": choice.value, "label": choice.label}
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


def message_card(text: str, artifact: Artifact | None = None) -> Json:
    """What a legacy connector takes: a message card, a file as an action that opens its address."""
    card: Json = {
        "@type": "MessageCard",
        "@context": "http://schema.org/extensions",
        "summary": _summary(text),
        "text": text,
    }
    if artifact is not None:
        target = {"os": "default", "uri": artifact.url}
        card["potentialAction"] = [{"@type": "OpenUri", "name": "Download", "targets": [target]}]
    return card


def _summary(text: str) -> str:
    first = text.strip().partition("\n")[0]
    return first[:_SUMMARY] or "Message"


def activity(target: Mapping[str, Any], **content: Any) -> Json:
    """A message activity of the bot, in answer to what `target` describes."""
    message: Json = {
        "type": "message",
        "from": target.get("bot"),
        "recipient": target.get("user"),
        "conversation": {"id": target["conversation"]},
        **content,
    }
    if target.get("replyTo"):
        message["replyToId"] = target["replyTo"]
    return message
