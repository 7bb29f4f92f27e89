"""Writes answers to Slack: messages in mrkdwn, buttons, and the ways by which they reach a conversation."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any

from adapters.outbound.channels.common.bodies import at, text
from adapters.outbound.channels.common.files import file_payload
from adapters.outbound.channels.common.messages import parted
from adapters.outbound.channels.common.outcomes import by_status, exchange
from adapters.outbound.rendering import Markup, Rendered, render
from domain.channels.messages import Answer, Config, OutboundMessage, Outcome, Sent, Target
from ports.channels import ChannelDependencies
from ports.http import HttpRequest

from .api import WebApi, judged
from .definition import TEXT_LIMIT
from .drafts import StreamingReply, is_gone
from .messages import BLOCK_LIMIT, message_id, message_of

RESPONSE_URL_SECONDS = 30 * 60 - 30
RESPONSE_URL_USES = 4
"""Slack takes five answers in 30 minutes; one is left for a part that has to be sent again."""
WITHDRAWN, UNANSWERED = "withdrawn", "unanswered"
NO_ANSWER = "Done. There is no answer to show."
_RESPONSE_URL = "response_url"
_NOT_THERE = ("not_in_channel", "channel_not_found", "is_archived", "restricted_action")


def is_command(target: Target) -> bool:
    """Whether the target is a slash command, whose sender was told that it is being worked on."""
    return bool(text(target, "response_url"))


def render_answer(target: Target, answer: Answer) -> list[OutboundMessage]:
    """The answer as parts: texts, the choices under the last of them, then each file. Where a command gets none of
    these, its sender is told so."""
    before, question = parted(answer)
    pieces = [*render(Markup.MRKDWN, before, TEXT_LIMIT), *render(Markup.MRKDWN, question, BLOCK_LIMIT)]
    texts = [_text_part(each) for each in pieces]
    if answer.choices:
        texts = texts or [_text_part(Rendered("?", "?"))]
        texts[-1]["choices"] = [[each.label, each.value] for each in answer.choices]
    parts = _in_place_of(answer.draft, texts) + [file_payload(each) for each in answer.artifacts]
    if not texts and not answer.artifacts and is_command(target):
        parts.append({"kind": UNANSWERED})
    return [OutboundMessage({**each, "index": index}) for index, each in enumerate(parts)]


def _in_place_of(draft: str, texts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The first text takes the place of the draft; an answer without text takes the draft away."""
    if not draft:
        return texts
    first = texts[:1] or [{"kind": WITHDRAWN}]
    return [{**first[0], "draft": draft}, *texts[1:]]


def _text_part(rendered: Rendered) -> dict[str, Any]:
    return {"kind": "text", "text": rendered.text, "plain": rendered.plain}


class Messages:
    """Sends one message by the first way that works."""

    def __init__(self, dependencies: ChannelDependencies, api: WebApi, drafts: StreamingReply) -> None:
        self._dependencies = dependencies
        self._api = api
        self._drafts = drafts

    async def send(self, config: Config, target: Target, payload: Mapping[str, Any], key: str) -> Sent:
        if payload.get("kind") == WITHDRAWN:
            return await self._drafts.withdraw(config, payload["draft"])
        if payload.get("kind") == UNANSWERED:
            return await self._unanswered(target)
        sent = await self._placed(config, target, payload, message_of(payload), key)
        if sent.outcome is Outcome.PERMANENT and "invalid_blocks" in sent.detail:
            sent = await self._placed(config, target, payload, {"text": payload["plain"]}, key)
        return sent

    async def _placed(
        self, config: Config, target: Target, payload: Mapping[str, Any], message: Mapping[str, Any], key: str
    ) -> Sent:
        """In the place of the draft; where there is none, or it is gone, as a message of its own."""
        if draft := text(payload, "draft"):
            sent = await self._drafts.change(config, draft, message)
            if not is_gone(sent):
                return sent
        return await self._by_ways(config, target, message, int(payload.get("index", 0)), key)

    async def _by_ways(
        self, config: Config, target: Target, message: Mapping[str, Any], index: int, key: str
    ) -> Sent:
        sent = Sent(Outcome.PERMANENT, "There is no conversation to answer in; set config.defaultChannel.")
        later: Sent | None = None
        async for tried in self._ways(config, target, message, index, key):
            sent = tried
            if not _other_way_may_help(sent):
                break
            if sent.outcome is Outcome.TRANSIENT:
                later = sent
        return later if later and sent.outcome is Outcome.PERMANENT else sent

    async def _ways(
        self, config: Config, target: Target, message: Mapping[str, Any], index: int, key: str
    ) -> AsyncIterator[Sent]:
        """A slash command may come from a conversation that the bot is not in: its response_url comes
        first there, and a direct message to the person last. A question is posted where the bot may do so:
        response_url tells no id, by which a typed decision could take the buttons away."""
        response_url = text(target, "response_url")
        usable = bool(response_url) and index < RESPONSE_URL_USES and self._is_fresh(target)
        asks = "blocks" in message
        if usable and not asks:
            yield await self._respond(response_url, message)
        if channel := text(target, "channel") or text(config, "defaultChannel"):
            yield await self._post(config, channel, text(target, "thread_ts"), message, key)
        if usable and asks:
            yield await self._respond(response_url, message)
        if user := text(target, "user"):
            yield await self._post(config, user, "", message, key)

    def _is_fresh(self, target: Target) -> bool:
        since = target.get("since")
        age = self._dependencies.clock.now().timestamp() - since if isinstance(since, int | float) else 0.0
        return age < RESPONSE_URL_SECONDS

    async def _unanswered(self, target: Target) -> Sent:
        """Ends 'working on it', for the sender alone. Where the address is used up or too old there is no way."""
        if not self._is_fresh(target):
            return Sent(Outcome.SENT)
        ended = {"response_type": "ephemeral", "replace_original": True, "text": NO_ANSWER}
        sent = await self._respond(text(target, "response_url"), ended)
        return Sent(Outcome.SENT) if sent.outcome is Outcome.PERMANENT else sent

    async def _respond(self, address: str, message: Mapping[str, Any]) -> Sent:
        body = {"response_type": "in_channel", "replace_original": False, **message}
        request = HttpRequest("POST", address, json=body, user_address=True)
        answer = await exchange(self._dependencies.http, request)
        if isinstance(answer, Sent):
            return replace(answer, detail=f"{_RESPONSE_URL}: {answer.detail}")
        if at(answer.json(), "ok") is False:
            sent = judged(answer)
            return replace(sent, detail=f"{_RESPONSE_URL}: {sent.detail}")
        return by_status(answer, detail=f"{_RESPONSE_URL} was refused")

    async def _post(
        self, config: Config, channel: str, thread: str, message: Mapping[str, Any], key: str
    ) -> Sent:
        body: dict[str, Any] = {"channel": channel, **message, "client_msg_id": message_id(key)}
        if thread:
            body["thread_ts"] = thread
        sent, _ = await self._api.deliver(self._api.request(config, "chat.postMessage", json=body))
        return sent


def _other_way_may_help(sent: Sent) -> bool:
    """Whether the message is surely not there, for a reason that lies with the way."""
    if sent.outcome is Outcome.TRANSIENT:
        return _RESPONSE_URL in sent.detail
    return sent.outcome is Outcome.PERMANENT and (
        _RESPONSE_URL in sent.detail or sent.detail.startswith(_NOT_THERE)
    )
