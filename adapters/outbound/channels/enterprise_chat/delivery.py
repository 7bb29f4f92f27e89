"""Renders answers for Teams and sends their parts, as the bot or through an incoming webhook."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from adapters.outbound.channels.common.bodies import text
from adapters.outbound.channels.common.messages import closed_text, parted
from adapters.outbound.channels.enterprise_chat import cards, incoming_webhook
from adapters.outbound.channels.enterprise_chat.connector import Connector
from adapters.outbound.channels.enterprise_chat.definition import BOT_LIMIT, WEBHOOK_LIMIT
from adapters.outbound.rendering import Markup, Rendered, literal_body, render
from domain.channels.messages import (
    Answer,
    Artifact,
    Choice,
    ClosedPrompt,
    Config,
    OutboundMessage,
    Outcome,
    Sent,
    Target,
)
from domain.channels.model import TextLimit
from ports.http import Http

BOT = "bot"
WEBHOOK = "webhook"
NOWHERE = "nowhere"
_ENVELOPE = 4 * 1024
"""Bytes kept free for what stands around the text."""

_CLOSED_LIMIT = TextLimit(BOT_LIMIT.size - _ENVELOPE, BOT_LIMIT.unit)
"""Of a prompt that is over."""
_BAD_REQUEST = "HTTP 400"


def way(config: Config, target: Target) -> str:
    """How an answer reaches the sender: as the bot where it can, else through the incoming webhook.

    A target of an emulator is answered as the bot although there is no app.
    """
    is_bot = bool(config.get("appId") and config.get("appPassword")) or target.get("emulator") is True
    if is_bot and target.get("serviceUrl") and target.get("conversation"):
        return BOT
    return WEBHOOK if config.get("webhookUrl") else NOWHERE


def parts(config: Config, target: Target, answer: Answer) -> Sequence[OutboundMessage]:
    """The answer as messages, each within the limit of the way that it goes."""
    chosen = way(config, target)
    if chosen == BOT:
        return [OutboundMessage({"way": BOT, **payload}) for payload in _bot_payloads(answer)]
    legacy = chosen == WEBHOOK and incoming_webhook.takes_message_cards(str(config["webhookUrl"]))
    return [OutboundMessage({"way": chosen, "body": body}) for body in _webhook_bodies(answer, legacy=legacy)]


def _bot_payloads(answer: Answer) -> list[dict[str, Any]]:
    before, question = parted(answer)
    texts = [*_messages(before), *_prompts(question, answer.choices)]
    files = ({"content": {"attachments": [cards.hero_card(each)]}} for each in answer.artifacts)
    return [*texts, *files]


def _messages(markdown: str) -> list[dict[str, Any]]:
    texts = _texts(markdown, BOT_LIMIT)
    return [{"content": {"text": each.text, "textFormat": "markdown"}, "plain": each.plain} for each in texts]


def _prompts(question: str, choices: Sequence[Choice]) -> list[dict[str, Any]]:
    """A question as cards, the last of them with the buttons."""
    bodies = _bodies(question, BOT_LIMIT)
    actions = [cards.choice_action(choice) for choice in choices]
    return [
        {
            "content": {
                "attachments": [cards.card_with_body(each.text, actions if each is bodies[-1] else ())]
            },
            "plain": each.plain,
        }
        for each in bodies
    ]


def is_prompt(payload: Mapping[str, Any]) -> bool:
    """Whether a part of the bot's has buttons that decide something."""
    attachments = payload.get("content", {}).get("attachments", ())
    return any(
        each.get("contentType") == cards.ADAPTIVE and "actions" in each["content"] for each in attachments
    )


def _webhook_bodies(answer: Answer, *, legacy: bool) -> list[dict[str, Any]]:
    bodies = _bodies(answer.text, WEBHOOK_LIMIT)
    if legacy:
        texts = [cards.message_card(each.text, each.plain) for each in bodies]
        files = (cards.message_card(literal_body(each.name), each.name, each) for each in answer.artifacts)
        return [*texts, *files]
    return [
        *(cards.envelope(cards.card_with_body(each.text)) for each in bodies),
        *(_file_card(each) for each in answer.artifacts),
    ]


def _file_card(artifact: Artifact) -> dict[str, Any]:
    return cards.envelope(
        cards.card_with_body(literal_body(artifact.name), [cards.open_url_action(artifact)])
    )


def _bodies(markdown: str, limit: TextLimit) -> Sequence[Rendered]:
    """The text in bodies of cards whose JSON fits."""
    return render(Markup.CARD, markdown, TextLimit(limit.size - _ENVELOPE, limit.unit))


def _texts(markdown: str, limit: TextLimit) -> Sequence[Rendered]:
    """The text in pieces whose JSON fits: what must be escaped there counts as it is sent."""
    if not markdown.strip():
        return []
    size = limit.size - _ENVELOPE
    while True:
        pieces = render(Markup.TEAMS, markdown, TextLimit(size, limit.unit))
        if all(
            len(json.dumps(each.text, ensure_ascii=False).encode()) <= limit.size - _ENVELOPE
            for each in pieces
        ):
            return pieces
        size //= 2


async def send(
    http: Http, connector: Connector, config: Config, target: Target, payload: Mapping[str, Any]
) -> Sent:
    """Sends one part; text that the service refuses as written goes once more without markup."""
    if payload["way"] == WEBHOOK:
        return await incoming_webhook.post(http, str(config["webhookUrl"]), payload["body"])
    if payload["way"] == NOWHERE:
        return Sent(
            Outcome.PERMANENT,
            "There is nowhere to answer: set webhookUrl, or appId with appPassword, in the configuration.",
        )
    sent = await connector.send(config, target, cards.activity(target, **payload["content"]))
    if sent.outcome is Outcome.PERMANENT and sent.detail.startswith(_BAD_REQUEST) and payload.get("plain"):
        plain = {"text": payload["plain"], "textFormat": "plain"}
        again = await connector.send(config, target, cards.activity(target, **plain))
        return again if again.outcome is not Outcome.PERMANENT else replace(again, detail=sent.detail)
    return sent


async def noticed(connector: Connector, config: Config, target: Target, words: str) -> None:
    """Tells words to who pressed a button. Teams has no messages for one person of a conversation: it is an answer
    below the prompt, with the person's name."""
    if not words or way(config, target) != BOT:
        return
    name = text(target, "user", "name")
    below = {**target, "replyTo": target.get("prompt", "")}
    said = f"{name}: {words}" if name else words
    await connector.send(config, target, cards.activity(below, text=said, textFormat="plain"), timeout=10.0)


async def decided(connector: Connector, config: Config, target: Target, closed: ClosedPrompt) -> Sent | None:
    """Puts what came of it in the place of a prompt; None when there is no prompt to replace."""
    prompt = str(target.get("prompt") or "")
    if not prompt or way(config, target) != BOT:
        return None
    shown = closed_text(Markup.CARD, closed, _CLOSED_LIMIT)
    without_reply = {**target, "replyTo": ""}
    card = cards.card_with_body(shown.text)
    content = cards.activity(without_reply, attachments=[card])
    return await connector.send(config, target, content, replaces=prompt, timeout=10.0)
