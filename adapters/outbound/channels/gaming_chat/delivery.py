"""Sends answers to Discord: interaction answers, channel messages, buttons, files, drafts and reactions, by the token
of the interaction while it holds, else as the bot.

Sources: https://docs.discord.com/developers/resources/message and
https://docs.discord.com/developers/interactions/receiving-and-responding#edit-original-interaction-response
"""

import asyncio
import hashlib
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import quote

from adapters.outbound.channels.common import files, messages, outcomes, rich
from adapters.outbound.channels.common.bodies import at, items, text
from adapters.outbound.net.urls import segment
from adapters.outbound.rendering import Markup
from domain.channels.answers import Answer, Artifact, ClosedPrompt, OutboundMessage, Preview
from domain.channels.limits import Limits, Quota
from domain.channels.messages import Outcome, Sent
from domain.channels.rich import Form, RichKind
from ports.channels import ChannelDependencies
from ports.http import FormFile

from . import embeds, forms
from .api import TOKEN_GONE, ApiResult, DiscordApi
from .config import TEXT_LIMIT, DiscordConfig, DiscordTarget
from .webhook import EPHEMERAL

MAX_FILE = 10 * 1024 * 1024
"""In servers without boosts; an interaction names a larger limit."""
DRAFT_SECONDS = 1.2
"""A channel takes about five edits in five seconds; Discord's answers say when it takes fewer."""
TOKEN_SECONDS = 15 * 60 - 15
SETTLING_SECONDS = 5.0
"""An answer may overtake our own acknowledgement: until then Discord does not know the interaction."""
NO_PINGS: Mapping[str, list[str]] = {"parse": []}
_SETTLING_PAUSES = (0.0, 0.5, 1.0, 2.0)
"""Seconds before each try to answer a press: the first may overtake our own acknowledgement."""
_MAX_IN_MEMORY = 100 * 1024 * 1024
_TOO_LARGE = 40005
_UNKNOWN_MESSAGE = 10008
_HAS_THREAD = 160004
"""The code of "A thread has already been created for this message"."""
RICH_KINDS = frozenset({RichKind.BUTTONS, RichKind.CARDS})
_OF_BOT = (Quota(50, 1.0, burst=10),)


def limits(config: DiscordConfig, target: DiscordTarget) -> Limits:
    """50 requests a second of a bot in all; Discord's answers say what a channel takes, and that they are not to be
    built in (https://docs.discord.com/developers/topics/rate-limits)."""
    return Limits(config.bot_token, _channel(config, target) or target.token, _OF_BOT)


def shows_waiting(config: DiscordConfig, target: DiscordTarget) -> bool:
    """Discord shows 'is thinking' for a command."""
    return target.deferred


def continued(target: DiscordTarget) -> DiscordTarget:
    """The answer to a command stays: the message follows it up."""
    return replace(target, deferred=False, reply_to="")


class Delivery:
    """The reference of a draft is the id of its message. For a command it replaces 'is thinking'."""

    typing_seconds = 8.0
    """Discord shows it for ten seconds."""

    def __init__(self, dependencies: ChannelDependencies, api: DiscordApi) -> None:
        self._clock = dependencies.clock
        self._artifacts = dependencies.artifacts
        self._api = api

    def render(self, config: DiscordConfig, target: DiscordTarget, answer: Answer) -> list[OutboundMessage]:
        """Texts, the choices and links under the last of them, each card, then each file; without any, 'is thinking'
        is taken away."""
        most = embeds.links_beside(len(answer.choices))
        answer, links = rich.with_links(answer, most, embeds.LONGEST_URL, embeds.LONGEST_LABEL)
        payloads = messages.text_payloads(messages.rendered(answer, Markup.DISCORD, TEXT_LIMIT), answer)
        payloads = rich.under_last(payloads, links)
        payloads = messages.in_place_of_draft(payloads, answer.draft, has_text=bool(payloads))
        for card in answer.rich.cards if answer.rich else ():
            payloads += embeds.card_payloads(card)
        payloads += messages.file_payloads(answer)
        if not payloads and target.deferred:
            payloads = [{"kind": messages.WITHDRAWN}]
        return [OutboundMessage({**payload, "index": index}) for index, payload in enumerate(payloads)]

    async def send(
        self, config: DiscordConfig, target: DiscordTarget, message: OutboundMessage, key: str
    ) -> Sent:
        payload, draft = message.payload, text(message.payload, "draft")
        withdraw = partial(self._withdraw, config, target, draft)
        if payload.get("kind") == messages.WITHDRAWN:
            return await withdraw()
        first = payload.get("index", 0) == 0

        async def send_text(content: str) -> Sent:
            body = _message(content, payload)

            async def post() -> Sent:
                return (await self._post(config, target, key, first, body)).sent

            change = partial(self._change, config, target, draft, body)
            return await (messages.replaced(change, withdraw, post) if draft else post())

        async def upload(artifact: Artifact, content: bytes) -> Sent | None:
            body = {"allowed_mentions": NO_PINGS, "attachments": [{"id": "0", "filename": artifact.name}]}
            file = FormFile("files[0]", artifact.name, artifact.mime_type, content)
            result = await self._post(config, target, key, first, body, file)
            return None if result.status == 413 or result.code == _TOO_LARGE else result.sent

        if payload.get("kind") == files.FILE:
            limit = min(target.max_file or MAX_FILE, _MAX_IN_MEMORY)
            sent = await files.send_file(self._artifacts, payload, limit, upload, send_text)
        else:
            sent = await send_text(text(payload, "text"))
        if first and sent.outcome is Outcome.PERMANENT and target.deferred:
            await self._withdraw(config, target)
        of_recipient = sent.of_recipient and _channel(config, target) != config.default_channel_id
        return replace(sent, of_recipient=of_recipient)

    async def _post(
        self,
        config: DiscordConfig,
        target: DiscordTarget,
        key: str,
        first: bool,
        message: Mapping[str, Any],
        file: FormFile | None = None,
    ) -> ApiResult:
        """Sends a message; the `first` one answers what `target` names. Discord makes one message of those
        with the same nonce, which is the same for every try."""
        if self._has_token(target):
            result = await self._respond(target, first, message, file)
            if result.code in TOKEN_GONE and self._age(target) < SETTLING_SECONDS:
                return replace(result, sent=Sent(Outcome.TRANSIENT, result.sent.detail))
            if not result.is_gone:
                return result
        channel = _channel(config, target)
        if not channel:
            detail = "There is no conversation to answer in; set config.defaultChannelId."
            return ApiResult(Sent(Outcome.PERMANENT, detail))
        body = {**message, "nonce": hashlib.sha256(key.encode()).hexdigest()[:25], "enforce_nonce": True}
        if target.thread_of:
            return await self._in_thread(config, target, body, file)
        if first and (message_id := target.reply_to):
            body["message_reference"] = {"message_id": message_id, "fail_if_not_exists": False}
        return await self._api.as_bot(config, "POST", f"/channels/{segment(channel)}/messages", body, file)

    async def _in_thread(
        self, config: DiscordConfig, target: DiscordTarget, body: Mapping[str, Any], file: FormFile | None
    ) -> ApiResult:
        """Begins the thread unless it exists, and sends into it; into the channel if the bot may not begin it."""
        channel = f"/channels/{segment(target.channel_id)}"
        path = f"{channel}/messages/{segment(target.thread_of)}/threads"
        begun = await self._api.as_bot(config, "POST", path, {"name": target.thread_name})
        if begun.sent.outcome is Outcome.SENT or begun.code == _HAS_THREAD:
            channel = f"/channels/{segment(target.thread_of)}"
        elif begun.sent.outcome is not Outcome.PERMANENT:
            return replace(begun, sent=outcomes.repeatable(begun.sent))
        return await self._api.as_bot(config, "POST", f"{channel}/messages", body, file)

    async def _respond(
        self, target: DiscordTarget, first: bool, message: Mapping[str, Any], file: FormFile | None
    ) -> ApiResult:
        """A command's first message takes the place of 'is thinking'."""
        if first and target.deferred:
            result = await self._api.by_token(target, "PATCH", "/messages/@original", message, file)
            if result.code != _UNKNOWN_MESSAGE or self._age(target) < SETTLING_SECONDS:
                return result
        return await self._api.by_token(target, "POST", "", message, file)

    async def _change(
        self, config: DiscordConfig, target: DiscordTarget, message_id: str, message: Mapping[str, Any]
    ) -> Sent:
        result = await self._on_message(config, target, "PATCH", message_id, message)
        return outcomes.edited(result.sent, message_id)

    async def _withdraw(self, config: DiscordConfig, target: DiscordTarget, message_id: str = "") -> Sent:
        """Deletes a message, or takes 'is thinking' away. One that is gone counts as deleted."""
        if message_id:
            result = await self._on_message(config, target, "DELETE", message_id, {})
            return Sent(Outcome.SENT) if result.is_gone else outcomes.repeatable(result.sent)
        if not self._has_token(target):
            return Sent(Outcome.SENT)
        result = await self._api.by_token(target, "DELETE", "/messages/@original", {})
        if result.is_gone and self._age(target) >= SETTLING_SECONDS:
            return Sent(Outcome.SENT)
        return (
            replace(result.sent, outcome=Outcome.TRANSIENT)
            if result.is_gone
            else outcomes.repeatable(result.sent)
        )

    async def _on_message(
        self,
        config: DiscordConfig,
        target: DiscordTarget,
        method: str,
        message_id: str,
        body: Mapping[str, Any],
    ) -> ApiResult:
        path = f"/messages/{segment(message_id)}"
        if self._has_token(target):
            result = await self._api.by_token(target, method, path, body)
            if not result.is_gone:
                return result
        channel = segment(_channel(config, target))
        return await self._api.as_bot(config, method, f"/channels/{channel}{path}", body)

    def _has_token(self, target: DiscordTarget) -> bool:
        return bool(target.token) and self._age(target) < TOKEN_SECONDS

    def _age(self, target: DiscordTarget) -> float:
        return 0.0 if target.since is None else self._clock.now().timestamp() - target.since

    def preview(self, config: DiscordConfig, target: DiscordTarget) -> Preview | None:
        if not (target.token or _channel(config, target)):
            return None
        return messages.preview(Markup.DISCORD, TEXT_LIMIT, DRAFT_SECONDS)

    async def draft(
        self, config: DiscordConfig, target: DiscordTarget, message: OutboundMessage, draft: str, key: str
    ) -> Sent:
        body = _message(text(message.payload, "text"))
        if draft:
            return await self._change(config, target, draft, body)
        return (await self._post(config, target, key, True, body)).sent

    async def typing(self, config: DiscordConfig, target: DiscordTarget) -> Sent | None:
        """Shows 'typing'; a command shows 'is thinking' by itself."""
        if not target.channel_id or target.deferred:
            return None
        path = f"/channels/{segment(target.channel_id)}/typing"
        return (await self._api.as_bot(config, "POST", path, {})).sent

    async def react(
        self, config: DiscordConfig, target: DiscordTarget, message_id: str, emoji: str, *, present: bool
    ) -> Sent:
        """`emoji` is a character, or 'name:id' of one of the server's own."""
        message = f"/channels/{segment(target.channel_id)}/messages/{segment(message_id)}"
        path = f"{message}/reactions/{quote(emoji, safe='')}/@me"
        return (await self._api.as_bot(config, "PUT" if present else "DELETE", path, {})).sent

    def prompt_target(
        self,
        config: DiscordConfig,
        target: DiscordTarget,
        message: OutboundMessage,
        ref: str,
        press: DiscordTarget | None,
    ) -> DiscordTarget | None:
        """The token of a press is good for the message with the button. What the token of a command calls the
        original may be another message, so the prompt is named."""
        if not message.payload.get("choices"):
            return None
        channel = _channel(config, target)
        return press or replace(target, channel_id=channel, prompt_id=ref, prompt_message=ref)

    async def acknowledge_press(self, config: DiscordConfig, target: DiscordTarget, notice: str) -> None:
        """Shows a text to the person who pressed and nobody else; a press without text needs no answer, unless
        Discord still waits for one."""
        if target.interaction:
            data = {"content": notice, "flags": EPHEMERAL, "allowed_mentions": NO_PINGS}
            first = {"type": 4, "data": data} if notice else {"type": 6}
            await self._api.acknowledge(target.interaction, target.token, first)
            return
        if not notice or not target.token:
            return
        body = {"content": notice, "flags": EPHEMERAL, "allowed_mentions": NO_PINGS}
        for pause in _SETTLING_PAUSES:
            await asyncio.sleep(pause)
            if (await self._api.by_token(target, "POST", "", body)).code not in TOKEN_GONE:
                return

    def shows_form(self, config: DiscordConfig, target: DiscordTarget, form: Form) -> bool:
        return forms.shows_form(config, target, form)

    async def open_form(
        self, config: DiscordConfig, target: DiscordTarget, form: Form, reference: str
    ) -> None:
        await self._api.acknowledge(target.interaction, target.token, forms.modal(form, reference))

    async def close_prompt(self, config: DiscordConfig, target: DiscordTarget, closed: ClosedPrompt) -> None:
        """Replaces a prompt and its buttons with the outcome."""
        prompt, named = target.prompt_id, target.prompt_message
        shown = await messages.closed_text(Markup.DISCORD, closed, TEXT_LIMIT)
        if not prompt or shown is None:
            return
        body = {"content": shown.text, "components": [], "allowed_mentions": NO_PINGS}
        if target.token:
            path = f"/messages/{segment(named) if named else '@original'}"
            if (await self._api.by_token(target, "PATCH", path, body)).sent.outcome is Outcome.SENT:
                return
        path = f"/channels/{segment(target.channel_id)}/messages/{segment(prompt)}"
        await self._api.as_bot(config, "PATCH", path, body)


def _channel(config: DiscordConfig, target: DiscordTarget) -> str:
    """A thread has the id of the message below which it began."""
    return target.thread_of or target.channel_id or config.default_channel_id


def _message(content: str, payload: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A message with the buttons, links and the card of its payload."""
    message: dict[str, Any] = {"content": content, "allowed_mentions": NO_PINGS}
    buttons = [
        {"type": 2, "style": 2, "label": label, "custom_id": value}
        for label, value in messages.labelled(items(payload, "choices"), embeds.LONGEST_LABEL)
    ]
    if rows := embeds.rows(buttons) + embeds.rows(embeds.link_buttons(items(payload, rich.LINKS))):
        message["components"] = rows
    if embed := at(payload, "embed"):
        message["embeds"] = [embed]
    return message
