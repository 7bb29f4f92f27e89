"""Renders answers for Teams and sends them, as the bot or through an incoming webhook."""

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from adapters.outbound.channels.common.bodies import at, items, text
from adapters.outbound.channels.common.drafts import WITHDRAWN, in_place_of_draft, replaced
from adapters.outbound.channels.common.messages import closed_text, split_question
from adapters.outbound.channels.enterprise_chat import cards, incoming_webhook
from adapters.outbound.channels.enterprise_chat.config import (
    BOT_LIMIT,
    WEBHOOK_LIMIT,
    TeamsConfig,
    TeamsTarget,
)
from adapters.outbound.channels.enterprise_chat.connector import Connector
from adapters.outbound.channels.enterprise_chat.streaming import TeamsStreaming
from adapters.outbound.channels.enterprise_chat.ways import BOT, NOWHERE, WEBHOOK, way
from adapters.outbound.rendering import Markup, Rendered, literal_body, render
from domain.channels.answers import Answer, ClosedPrompt, OutboundMessage
from domain.channels.limits import Limits, Quota
from domain.channels.messages import Outcome, Sent
from domain.channels.model import TextLimit
from domain.conversations.choices import numbered
from ports.channels import ChannelDependencies

log = logging.getLogger(__name__)

_ENVELOPE = 4 * 1024
"""Bytes kept free for what stands around the text."""
_BAD_REQUEST = "HTTP 400"
_SHORT_TIMEOUT = 10.0

OF_BOT = (Quota(50, 1.0, burst=10),)
OF_THREAD = (Quota(7, 1.0, burst=3), Quota(60, 30.0, burst=10), Quota(1800, 3600.0, burst=60))
OF_WEBHOOK = (Quota(4, 1.0, burst=2), Quota(60, 30.0, burst=10), Quota(100, 3600.0, burst=40))


def limits(config: TeamsConfig, target: TeamsTarget) -> Limits:
    """A bot: https://learn.microsoft.com/microsoftteams/platform/bots/how-to/rate-limit. An incoming webhook, which
    writes to one conversation and so is the account: four a second
    (https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using#rate-limiting-for-connectors).
    """
    if way(config, target) == BOT:
        account = f"{config.app_id} {config.tenant_id}"
        return Limits(account, target.conversation, OF_BOT, OF_THREAD)
    return Limits(config.webhook_url, per_account=OF_WEBHOOK)


class Delivery:
    """Sends messages and replaces prompts. The Bot Connector has no idempotency key."""

    typing_seconds = 3.0
    """Teams shows it for about three seconds."""

    def __init__(
        self, dependencies: ChannelDependencies, connector: Connector, streaming: TeamsStreaming
    ) -> None:
        self._http = dependencies.http
        self._connector = connector
        self._streaming = streaming

    def render(self, config: TeamsConfig, target: TeamsTarget, answer: Answer) -> list[OutboundMessage]:
        """The answer as messages, each within the limit of its way."""
        chosen = way(config, target)
        if chosen == BOT:
            has_text = bool(answer.text.strip() or answer.choices)
            payloads = in_place_of_draft(list(_bot_payloads(answer)), answer.draft, has_text=has_text)
            return [OutboundMessage({"way": BOT, **payload}) for payload in payloads]
        legacy = chosen == WEBHOOK and incoming_webhook.takes_message_cards(config.webhook_url)
        bodies = _message_cards(answer) if legacy else _adaptive_cards(answer)
        return [OutboundMessage({"way": chosen, "body": body}) for body in bodies]

    async def send(
        self, config: TeamsConfig, target: TeamsTarget, message: OutboundMessage, key: str
    ) -> Sent:
        """Text that the service refuses as written is sent once more without markup."""
        payload = message.payload
        if payload["way"] == WEBHOOK:
            return await incoming_webhook.post(self._http, config.webhook_url, at(payload, "body"))
        if payload["way"] == NOWHERE:
            return Sent(
                Outcome.PERMANENT,
                "There is nowhere to answer: set webhookUrl, or appId with appPassword, in the configuration.",
            )
        if payload.get("kind") == WITHDRAWN:
            return await self._streaming.withdraw(config, target, text(payload, "draft"))
        post = partial(self._send_as_bot, config, target, payload)
        if not (draft := text(payload, "draft")):
            return await post()
        return await replaced(
            partial(post, draft), partial(self._streaming.withdraw, config, target, draft), post
        )

    async def _send_as_bot(
        self, config: TeamsConfig, target: TeamsTarget, payload: Mapping[str, Any], draft: str = ""
    ) -> Sent:
        """Sends a message, or changes the draft into it."""
        send = partial(self._streaming.change, draft=draft) if draft else self._streaming.post
        sent = await send(config, target, at(payload, "content"))
        refused = sent.outcome is Outcome.PERMANENT and sent.detail.startswith(_BAD_REQUEST)
        if not refused or not payload.get("plain"):
            return sent
        again = await send(config, target, {"text": payload["plain"], "textFormat": "plain"})
        return again if again.outcome is not Outcome.PERMANENT else replace(again, detail=sent.detail)

    async def typing(self, config: TeamsConfig, target: TeamsTarget) -> Sent | None:
        if way(config, target) != BOT:
            return None
        conversation = {"id": target.conversation}
        body = {"type": "typing", "from": target.bot, "conversation": conversation}
        return await self._connector.send(config, target, body, timeout=5.0)

    async def acknowledge_press(self, config: TeamsConfig, target: TeamsTarget, notice: str) -> None:
        """Answers below the prompt, with the name of the person who pressed: Teams has no messages for one person of
        a conversation."""
        if not notice or way(config, target) != BOT:
            return
        name = text(target.user, "name")
        below = replace(target, reply_to=target.prompt)
        body = cards.activity(below, text=f"{name}: {notice}" if name else notice, textFormat="plain")
        await self._connector.send(config, target, body, timeout=_SHORT_TIMEOUT)

    async def close_prompt(self, config: TeamsConfig, target: TeamsTarget, closed: ClosedPrompt) -> None:
        """Replaces a prompt with its outcome. Best effort: the decision holds without it."""
        shown = await closed_text(Markup.CARD, closed, _within(BOT_LIMIT))
        if not target.prompt or shown is None or way(config, target) != BOT:
            return
        card = cards.card_with_body(shown.text)
        body = cards.activity(replace(target, reply_to=""), attachments=[card])
        sent = await self._connector.send(
            config, target, body, replaces=target.prompt, timeout=_SHORT_TIMEOUT
        )
        if sent.outcome is not Outcome.SENT:
            log.warning("a decided prompt could not be replaced: %s", sent.detail)

    def prompt_target(
        self,
        config: TeamsConfig,
        target: TeamsTarget,
        message: OutboundMessage,
        ref: str,
        press: TeamsTarget | None,
    ) -> TeamsTarget | None:
        attachments = items(message.payload, "content", "attachments")
        is_prompt = any(
            attachment.get("contentType") == cards.ADAPTIVE and "actions" in attachment["content"]
            for attachment in attachments
        )
        return replace(target, prompt=ref) if is_prompt else None


def _bot_payloads(answer: Answer) -> Iterator[dict[str, Any]]:
    """Texts, the question as cards, the last of them with the buttons, then files."""
    before, question = split_question(answer)
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
    """What a legacy connector takes. It has no buttons whose press arrives."""
    for body in render(Markup.CARD, numbered(answer).text, _within(WEBHOOK_LIMIT)):
        yield cards.message_card(body.text, body.plain)
    for artifact in answer.artifacts:
        yield cards.message_card(literal_body(artifact.name), artifact.name, artifact)


def _adaptive_cards(answer: Answer) -> Iterator[dict[str, Any]]:
    """What a Workflows webhook takes. It has no buttons whose press arrives."""
    for body in render(Markup.CARD, numbered(answer).text, _within(WEBHOOK_LIMIT)):
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
