"""Renders answers for Teams (text, cards with buttons, files, drafts) and sends them, as the bot or through an
incoming webhook.

Drafts are messages that are replaced, in all kinds of chats: Teams' own streaming works in personal chats alone,
ends after two minutes, and cannot be continued by another process. Sources:
https://learn.microsoft.com/en-us/microsoftteams/platform/task-modules-and-cards/cards/cards-reference,
https://learn.microsoft.com/en-us/outlook/actionable-messages/message-card-reference,
https://learn.microsoft.com/en-us/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using and
https://learn.microsoft.com/en-us/microsoftteams/platform/bots/how-to/update-and-delete-bot-messages
"""

import json
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from adapters.outbound.channels.common import messages, rich
from adapters.outbound.channels.common.bodies import at, items, text
from adapters.outbound.channels.common.outcomes import by_status, deleted, edited, excerpt, send
from adapters.outbound.rendering import Markup, Rendered, literal_body, render
from adapters.outbound.rendering.markup_writer import ZERO_WIDTH
from domain.channels.answers import Answer, Artifact, Choice, ClosedPrompt, OutboundMessage, Preview
from domain.channels.limits import Limits, Quota
from domain.channels.messages import Outcome, Sent
from domain.channels.model import TextLimit
from domain.channels.rich import Form, RichContent, RichKind
from domain.conversations.choices import numbered
from domain.conversations.rich_text import with_text
from ports.channels import ChannelDependencies
from ports.http import HttpAnswer, HttpRequest

from . import cards, forms
from .config import BOT_LIMIT, WEBHOOK_LIMIT, TeamsConfig, TeamsTarget
from .connector import Connector

_ENVELOPE = 4 * 1024
"""Bytes kept free for what stands around the text."""
_BAD_REQUEST = "HTTP 400"
_SHORT_TIMEOUT = 10.0

OF_BOT = (Quota(50, 1.0, burst=10),)
OF_THREAD = (Quota(7, 1.0, burst=3), Quota(60, 30.0, burst=10), Quota(1800, 3600.0, burst=60))
OF_WEBHOOK = (Quota(4, 1.0, burst=2), Quota(60, 30.0, burst=10), Quota(100, 3600.0, burst=40))
BOT = "bot"
WEBHOOK = "webhook"
NOWHERE = "nowhere"
"""The ways to a person."""
DRAFT_SECONDS = 1.5
"""A conversation takes 1,800 messages an hour, edits included."""
_LIMIT = TextLimit(BOT_LIMIT.size // 2, BOT_LIMIT.unit)
"""Text whose JSON fits."""
FEEDBACK_LOOP = {"feedbackLoop": {"type": "default"}}
"""Teams shows its own thumbs below the message."""
HERO = "application/vnd.microsoft.card.hero"
RICH_KINDS = frozenset({RichKind.BUTTONS, RichKind.CARDS, RichKind.FORM})
_SUMMARY = 100
_TAG = re.compile(r"<(?=[A-Za-z/!])")
"""A message card takes some HTML for HTML."""
_LEGACY = (".webhook.office.com", "outlook.office.com", "outlook.office365.com")
_INNER_STATUS = re.compile(rb"HTTP error (\d{3})")
_FAILED = b"delivery failed"

Json = dict[str, Any]

log = logging.getLogger(__name__)


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
    """The reference of a draft is the id of its activity. The Bot Connector has no idempotency key."""

    typing_seconds = 3.0
    """Teams shows it for about three seconds."""

    def __init__(self, dependencies: ChannelDependencies, connector: Connector) -> None:
        self._http = dependencies.http
        self._connector = connector

    def render(self, config: TeamsConfig, target: TeamsTarget, answer: Answer) -> list[OutboundMessage]:
        """The answer as messages, each within the limit of its way."""
        chosen = way(config, target)
        if chosen == BOT:
            links = answer.rich.buttons if answer.rich else ()
            has_text = bool(answer.text.strip() or answer.choices or links)
            payloads = list(_bot_payloads(answer))
            texts = [payload for payload in payloads if "plain" in payload]
            if answer.thumbs and texts:
                texts[-1]["content"]["channelData"] = FEEDBACK_LOOP
            payloads = messages.in_place_of_draft(payloads, answer.draft, has_text=has_text)
            return [OutboundMessage({"way": BOT, **payload}) for payload in payloads]
        legacy = chosen == WEBHOOK and takes_message_cards(config.webhook_url)
        bodies = _webhook_bodies(answer, legacy=legacy)
        return [OutboundMessage({"way": chosen, "body": body}) for body in bodies]

    async def send(
        self, config: TeamsConfig, target: TeamsTarget, message: OutboundMessage, key: str
    ) -> Sent:
        """Text that the service refuses as written is sent once more without markup."""
        payload = message.payload
        if payload["way"] == WEBHOOK:
            request = HttpRequest("POST", config.webhook_url, json=at(payload, "body"), user_address=True)
            return await send(self._http, request, outcome)
        if payload["way"] == NOWHERE:
            return Sent(
                Outcome.PERMANENT,
                "There is nowhere to answer: set webhookUrl, or appId with appPassword, in the configuration.",
            )
        if payload.get("kind") == messages.WITHDRAWN:
            return await self._withdraw(config, target, text(payload, "draft"))
        post = partial(self._send_as_bot, config, target, payload)
        if not (draft := text(payload, "draft")):
            return await post()
        withdraw = partial(self._withdraw, config, target, draft)
        return await messages.replaced(partial(post, draft), withdraw, post)

    async def _send_as_bot(
        self, config: TeamsConfig, target: TeamsTarget, payload: Mapping[str, Any], draft: str = ""
    ) -> Sent:
        """Sends a message, or changes the draft into it."""
        send = partial(self._change, draft=draft) if draft else self._create
        sent = await send(config, target, at(payload, "content"))
        refused = sent.outcome is Outcome.PERMANENT and sent.detail.startswith(_BAD_REQUEST)
        if not refused or not payload.get("plain"):
            return sent
        again = await send(config, target, {"text": payload["plain"], "textFormat": "plain"})
        return again if again.outcome is not Outcome.PERMANENT else replace(again, detail=sent.detail)

    def preview(self, config: TeamsConfig, target: TeamsTarget) -> Preview | None:
        return messages.preview(Markup.TEAMS, _LIMIT, DRAFT_SECONDS) if way(config, target) == BOT else None

    async def draft(
        self, config: TeamsConfig, target: TeamsTarget, message: OutboundMessage, draft: str, key: str
    ) -> Sent:
        content = {"text": message.payload["text"], "textFormat": "markdown"}
        if draft:
            return await self._change(config, target, content, draft)
        return await self._create(config, target, content)

    async def _create(self, config: TeamsConfig, target: TeamsTarget, content: Mapping[str, Any]) -> Sent:
        return await self._connector.send(config, target, _activity(target, **content))

    async def _change(
        self, config: TeamsConfig, target: TeamsTarget, content: Mapping[str, Any], draft: str
    ) -> Sent:
        body = _activity(replace(target, reply_to=""), **content)
        return edited(await self._connector.send(config, target, body, replaces=draft), draft)

    async def _withdraw(self, config: TeamsConfig, target: TeamsTarget, draft: str) -> Sent:
        return deleted(await self._connector.delete(config, target, draft), draft)

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
        body = _activity(below, text=f"{name}: {notice}" if name else notice, textFormat="plain")
        await self._connector.send(config, target, body, timeout=_SHORT_TIMEOUT)

    def shows_form(self, config: TeamsConfig, target: TeamsTarget, form: Form) -> bool:
        """Return True where the bot itself answers: the webhook's buttons reach nobody."""
        return way(config, target) == BOT and forms.fits(form, _within(BOT_LIMIT))

    async def close_prompt(self, config: TeamsConfig, target: TeamsTarget, closed: ClosedPrompt) -> None:
        """Replaces a prompt with its outcome. Best effort: the decision holds without it."""
        shown = await messages.closed_text(Markup.CARD, closed, _within(BOT_LIMIT))
        if not target.prompt or shown is None or way(config, target) != BOT:
            return
        card = _card(shown.text)
        body = _activity(replace(target, reply_to=""), attachments=[card])
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
    """Texts, the question as cards, the last of them with the buttons and links, cards, the form, then files as hero
    cards. Links of an answer that asks nothing stand below its text."""
    answer, links = rich.with_links(answer, cards.MOST_LINKS, cards.LONGEST_URL, cards.LONGEST_LABEL)
    before, question = ("", answer.text) if links and not answer.choices else messages.split_question(answer)
    within = _within(BOT_LIMIT)
    yield from _texts(before, within)
    yield from _question_cards(question, answer.choices, links, within)
    content = answer.rich or RichContent()
    for card in content.cards:
        payload = cards.card_payload(card, within)
        if cards.size_of(payload) <= within.size:
            yield payload
        else:
            yield from _texts(rich.card_alone(card).text, within)
    if content.form:
        yield forms.form_payload(content.form, answer.form_reference, within)
    yield from map(_hero_card, answer.artifacts)


def _texts(before: str, within: TextLimit) -> Iterator[dict[str, Any]]:
    limit = within
    pieces = render(Markup.TEAMS, before, limit)
    # What must be escaped in JSON counts as it is sent.
    while any(len(json.dumps(piece.text, ensure_ascii=False).encode()) > within.size for piece in pieces):
        limit = TextLimit(limit.size // 2, limit.unit)
        pieces = render(Markup.TEAMS, before, limit)
    for piece in pieces:
        yield {"content": {"text": piece.text, "textFormat": "markdown"}, "plain": piece.plain}


def _question_cards(
    question: str, choices: Sequence[Choice], links: Sequence[Sequence[str]], within: TextLimit
) -> Iterator[dict[str, Any]]:
    actions = []
    for choice in choices:  # clients that do not know Action.Execute send it as a message
        action = {"title": choice.label, "data": {"choice": choice.button_value, "label": choice.label}}
        fallback = {"type": "Action.Submit", **action}
        actions.append({"type": "Action.Execute", "verb": forms.VERB, **action, "fallback": fallback})
    actions += cards.link_actions(links)
    room = TextLimit(max(within.size - cards.size_of(actions), _ENVELOPE), within.unit)
    bodies = render(Markup.CARD, question, room) or ([Rendered("[]", "")] if actions else [])
    for body in bodies:
        is_last = body is bodies[-1]
        shown = rich.with_addresses({"plain": body.plain, rich.LINKS: links if is_last else ()})
        yield {"content": {"attachments": [_card(body.text, actions if is_last else ())]}, "plain": shown}


def _hero_card(artifact: Artifact) -> dict[str, Any]:
    download = {"type": "openUrl", "title": "Download", "value": artifact.url}
    content: Json = {"title": artifact.name, "buttons": [download]}
    if artifact.is_image:
        content["images"] = [{"url": artifact.url, "alt": artifact.name}]
    return {"content": {"attachments": [{"contentType": HERO, "content": content}]}}


def _webhook_bodies(answer: Answer, *, legacy: bool) -> list[Json]:
    """What a Workflows webhook takes, or a `legacy` connector. Neither has buttons whose press arrives."""
    texts = render(Markup.CARD, numbered(with_text(answer)).text, _within(WEBHOOK_LIMIT))
    if legacy:
        bodies = [_message_card(body.text, body.plain) for body in texts]
        return bodies + [_message_card(literal_body(file.name), file.name, file) for file in answer.artifacts]
    attachments = [_card(body.text) for body in texts]
    for file in answer.artifacts:
        download = {"type": "Action.OpenUrl", "title": "Download", "url": file.url}
        attachments.append(_card(literal_body(file.name), [download]))
    return [{"type": "message", "attachments": [attachment]} for attachment in attachments]


def _within(limit: TextLimit) -> TextLimit:
    return TextLimit(limit.size - _ENVELOPE, limit.unit)


def _card(body: str, actions: Sequence[Json] = ()) -> Json:
    """An adaptive card as an attachment. `body`: rendered as `Markup.CARD`."""
    return cards.attachment(json.loads(body), actions)


def _message_card(body: str, summary: str, artifact: Artifact | None = None) -> Json:
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


def _activity(target: TeamsTarget, **content: Any) -> Json:
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


def takes_message_cards(url: str) -> bool:
    """Return True for the address of a legacy connector, which takes message cards."""
    host = urlsplit(url).hostname or ""
    return host.endswith(_LEGACY)


def outcome(answer: HttpAnswer) -> Sent:
    """Classifies an answer. Throttling and other refusals come as HTTP 200 with a text that names the status."""
    inner = _INNER_STATUS.search(answer.body)
    if answer.ok and inner:
        return by_status(HttpAnswer(int(inner[1]), answer.headers, answer.body), excerpt(answer))
    if answer.ok and _FAILED in answer.body:
        return Sent(Outcome.TRANSIENT, excerpt(answer))
    return by_status(answer)


def way(config: TeamsConfig, target: TeamsTarget) -> str:
    """How an answer reaches the sender: as the bot where it can, else through the incoming webhook.

    A target of an emulator is answered as the bot although there is no app.
    """
    is_bot = config.has_app or target.emulator
    if is_bot and target.service_url and target.conversation:
        return BOT
    return WEBHOOK if config.webhook_url else NOWHERE
