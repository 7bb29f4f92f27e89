"""Renders answers for Teams and sends them, as the bot or through an incoming webhook."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from adapters.outbound.channels.common.bodies import text
from adapters.outbound.channels.common.messages import closed_text, parted
from adapters.outbound.channels.enterprise_chat import cards, incoming_webhook
from adapters.outbound.channels.enterprise_chat.connector import Connector, has_app
from adapters.outbound.channels.enterprise_chat.definition import BOT_LIMIT, WEBHOOK_LIMIT
from adapters.outbound.rendering import Markup, Rendered, literal_body, render
from domain.channels.limits import Limits, Quota
from domain.channels.messages import Answer, ClosedPrompt, Config, OutboundMessage, Outcome, Sent, Target
from domain.channels.model import TextLimit
from ports.channels import ChannelDependencies

log = logging.getLogger(__name__)

BOT = "bot"
WEBHOOK = "webhook"
NOWHERE = "nowhere"
_ENVELOPE = 4 * 1024
"""Bytes kept free for what stands around the text."""
_BAD_REQUEST = "HTTP 400"
_SHORT_TIMEOUT = 10.0

OF_BOT = (Quota(50, 1.0, burst=10),)
OF_THREAD = (Quota(7, 1.0, burst=3), Quota(60, 30.0, burst=10), Quota(1800, 3600.0, burst=60))
OF_WEBHOOK = (Quota(4, 1.0, burst=2), Quota(60, 30.0, burst=10), Quota(100, 3600.0, burst=40))


def limits(config: Config, target: Target) -> Limits:
    """A bot: https://learn.microsoft.com/microsoftteams/platform/bots/how-to/rate-limit. An incoming webhook, which
    writes to one place and so is account and place in one: four a second
    (https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using#rate-limiting-for-connectors).
    """
    if way(config, target) == BOT:
        account = f"{text(config, 'appId')} {text(config, 'tenantId')}"
        return Limits(account, text(target, "conversation"), OF_BOT, OF_THREAD)
    return Limits(text(config, "webhookUrl"), per_account=OF_WEBHOOK)


def way(config: Config, target: Target) -> str:
    """How an answer reaches the sender: as the bot where it can, else through the incoming webhook.

    A target of an emulator is answered as the bot although there is no app.
    """
    is_bot = has_app(config) or target.get("emulator") is True
    if is_bot and target.get("serviceUrl") and target.get("conversation"):
        return BOT
    return WEBHOOK if config.get("webhookUrl") else NOWHERE


class Delivery:
    """Sends messages and replaces prompts. The Bot Connector has no idempotency key."""

    typing_seconds = 3.0
    """Teams shows it for about three seconds."""

    def __init__(self, dependencies: ChannelDependencies, connector: Connector) -> None:
        self._http = dependencies.http
        self._connector = connector

    def render(self, config: Config, target: Target, answer: Answer) -> list[OutboundMessage]:
        """The answer as messages, each within the limit of its way."""
        chosen = way(config, target)
        if chosen == BOT:
            return [OutboundMessage({"way": BOT, **payload}) for payload in _bot_payloads(answer)]
        legacy = chosen == WEBHOOK and incoming_webhook.takes_message_cards(str(config["webhookUrl"]))
        bodies = _message_cards(answer) if legacy else _adaptive_cards(answer)
        return [OutboundMessage({"way": chosen, "body": body}) for body in bodies]

    async def send(self, config: Config, target: Target, message: OutboundMessage, key: str) -> Sent:
        """Text that the service refuses as written is sent once more without markup."""
        payload = message.payload
        if payload["way"] == WEBHOOK:
            return await incoming_webhook.post(self._http, str(config["webhookUrl"]), payload["body"])
        if payload["way"] == NOWHERE:
            return Sent(
                Outcome.PERMANENT,
                "There is nowhere to answer: set webhookUrl, or appId with appPassword, in the configuration.",
            )
        sent = await self._connector.send(config, target, cards.activity(target, **payload["content"]))
        refused = sent.outcome is Outcome.PERMANENT and sent.detail.startswith(_BAD_REQUEST)
        if not refused or not payload.get("plain"):
            return sent
        plain = cards.activity(target, text=payload["plain"], textFormat="plain")
        again = await self._connector.send(config, target, plain)
        return again if again.outcome is not Outcome.PERMANENT else replace(again, detail=sent.detail)

    async def typing(self, config: Config, target: Target) -> Sent | None:
        if way(config, target) != BOT:
            return None
        conversation = {"id": target["conversation"]}
        body = {"type": "typing", "from": target.get("bot"), "conversation": conversation}
        return await self._connector.send(config, target, body, timeout=5.0)

    async def noticed(self, config: Config, target: Target, words: str) -> None:
        """Answers below the prompt, with the name of the person who pressed: Teams has no messages for one person of
        a conversation."""
        if not words or way(config, target) != BOT:
            return
        name = text(target, "user", "name")
        notice = f"{name}: {words}" if name else words
        below = {**target, "replyTo": target.get("prompt", "")}
        body = cards.activity(below, text=notice, textFormat="plain")
        await self._connector.send(config, target, body, timeout=_SHORT_TIMEOUT)

    async def decided(self, config: Config, target: Target, closed: ClosedPrompt) -> None:
        """Replaces a prompt with its outcome. Best effort: the decision holds without it."""
        prompt = str(target.get("prompt") or "")
        if not prompt or way(config, target) != BOT:
            return
        card = cards.card_with_body(closed_text(Markup.CARD, closed, _within(BOT_LIMIT)).text)
        body = cards.activity({**target, "replyTo": ""}, attachments=[card])
        sent = await self._connector.send(config, target, body, replaces=prompt, timeout=_SHORT_TIMEOUT)
        if sent.outcome is not Outcome.SENT:
            log.warning("a decided prompt could not be replaced: %s", sent.detail)

    def as_pressed(
        self, config: Config, target: Target, part: OutboundMessage, ref: str, press: Target | None
    ) -> Target | None:
        attachments = part.payload.get("content", {}).get("attachments", ())
        is_prompt = any(
            attachment.get("contentType") == cards.ADAPTIVE and "actions" in attachment["content"]
            for attachment in attachments
        )
        return {**target, "prompt": ref} if is_prompt else None


def _bot_payloads(answer: Answer) -> Iterator[dict[str, Any]]:
    """Texts, the question as cards, the last of them with the buttons, then files."""
    before, question = parted(answer)
    for piece in _texts(before):
        yield {"content": {"text": piece.text, "textFormat": "markdown"}, "plain": piece.plain}
    actions = [cards.choice_action(choice) for choice in answer.choices]
    bodies = render(Markup.CARD, question, _within(BOT_LIMIT))
    for body in bodies:
        card = cards.card_with_body(body.text, actions if body is bodies[-1] else ())
        yield {"content": {"attachments": [card]}, "plain": body.plain}
    for artifact in answer.artifacts:
        yield {"content": {"attachments": [cards.hero_card(artifact)]}}


def _message_cards(answer: Answer) -> Iterator[dict[str, Any]]:
    """What a legacy connector takes."""
    for body in render(Markup.CARD, answer.text, _within(WEBHOOK_LIMIT)):
        yield cards.message_card(body.text, body.plain)
    for artifact in answer.artifacts:
        yield cards.message_card(literal_body(artifact.name), artifact.name, artifact)


def _adaptive_cards(answer: Answer) -> Iterator[dict[str, Any]]:
    """What a Workflows webhook takes."""
    for body in render(Markup.CARD, answer.text, _within(WEBHOOK_LIMIT)):
        yield cards.envelope(cards.card_with_body(body.text))
    for artifact in answer.artifacts:
        actions = [cards.open_url_action(artifact)]
        yield cards.envelope(cards.card_with_body(literal_body(artifact.name), actions))


def _within(limit: TextLimit) -> TextLimit:
    return TextLimit(limit.size - _ENVELOPE, limit.unit)


def _texts(markdown: str) -> Sequence[Rendered]:
    """The text in pieces whose JSON fits: what must be escaped there counts as it is sent."""
    if not markdown.strip():
        return []
    within = limit = _within(BOT_LIMIT)
    while True:
        pieces = render(Markup.TEAMS, markdown, limit)
        if all(len(json.dumps(piece.text, ensure_ascii=False).encode()) <= within.size for piece in pieces):
            return pieces
        limit = TextLimit(limit.size // 2, limit.unit)
