"""Sends answers to Slack: messages in mrkdwn, buttons and files, by the ways that reach a conversation."""

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from adapters.outbound.channels.common.bodies import text
from adapters.outbound.channels.common.drafts import WITHDRAWN, in_place_of_draft
from adapters.outbound.channels.common.files import FILE, send_file
from adapters.outbound.channels.common.messages import file_payloads, split_question, text_payloads
from adapters.outbound.channels.common.outcomes import repeatable, send
from adapters.outbound.rendering import Markup, render
from domain.channels.answers import Answer, Artifact, OutboundMessage
from domain.channels.limits import Limits, Quota
from domain.channels.messages import Outcome, Sent
from ports.channels import ChannelDependencies
from ports.http import HttpRequest

from .api import RESPONSE_URL, WebApi
from .config import TEXT_LIMIT, SlackConfig, SlackTarget
from .messages import BLOCK_LIMIT, message_of, posted
from .streaming import SlackStreaming, is_gone

RESPONSE_URL_SECONDS = 30 * 60 - 30
RESPONSE_URL_USES = 4
"""Slack takes five answers in 30 minutes; one is left for a message that has to be sent again."""
MAX_FILE = 100 * 1024 * 1024
"""Slack takes 1 GB; our limit bounds the memory that an upload takes."""
UPLOAD_TIMEOUT = 120.0
UNANSWERED = "unanswered"
NO_ANSWER = "Done. There is no answer to show."
_NOT_THERE = ("not_in_channel", "channel_not_found", "is_archived", "restricted_action")
_OF_CHANNEL = (Quota(4, 4.0, burst=2),)
_EDITS = (Quota(50, 60.0, burst=10),)
"""https://docs.slack.dev/reference/methods/chat.update: tier 3, in a workspace."""


def limits(config: SlackConfig, target: SlackTarget) -> Limits:
    """One message a second in a channel with its threads, short bursts allowed; a response_url counts alone.

    Source: https://docs.slack.dev/apis/web-api/rate-limits/#rate-limits-for-posting-messages. The limit of a whole
    workspace ("several hundred a minute") has no number: Slack's answers say when it is reached.
    """
    conversation = _channel(config, target) or target.response_url
    return Limits(config.bot_token, conversation, per_conversation=_OF_CHANNEL, edits=_EDITS)


def shows_waiting(config: SlackConfig, target: SlackTarget) -> bool:
    """Whether the sender of a command was told that it is being worked on."""
    return bool(target.response_url)


def _channel(config: SlackConfig, target: SlackTarget) -> str:
    return target.channel or config.default_channel


class Delivery:
    """Sends each message by the first way that works."""

    def __init__(self, dependencies: ChannelDependencies, api: WebApi, streaming: SlackStreaming) -> None:
        self._clock = dependencies.clock
        self._artifacts = dependencies.artifacts
        self._api = api
        self._streaming = streaming

    def render(self, config: SlackConfig, target: SlackTarget, answer: Answer) -> list[OutboundMessage]:
        """Texts, the choices under the last of them, then each file; for a command without any of these a note.

        The first text replaces the draft; an answer without text deletes it.
        """
        before, question = split_question(answer)
        pieces = [*render(Markup.MRKDWN, before, TEXT_LIMIT), *render(Markup.MRKDWN, question, BLOCK_LIMIT)]
        payloads = text_payloads(pieces, answer, with_plain=True)
        if not payloads and not answer.artifacts and shows_waiting(config, target):
            payloads = [{"kind": UNANSWERED}]
        has_text = bool(pieces or answer.choices)
        payloads = in_place_of_draft(payloads, answer.draft, has_text=has_text) + file_payloads(answer)
        return [OutboundMessage({**payload, "index": index}) for index, payload in enumerate(payloads)]

    async def send(
        self, config: SlackConfig, target: SlackTarget, message: OutboundMessage, key: str
    ) -> Sent:
        payload = message.payload
        if payload.get("kind") == WITHDRAWN:
            return await self._streaming.withdraw(config, text(payload, "draft"))
        if payload.get("kind") == UNANSWERED:
            return await self._end_command(target)
        if payload.get("kind") == FILE:
            return await send_file(
                self._artifacts,
                payload,
                MAX_FILE,
                partial(self._upload, config, target),
                lambda link: self._send_text(config, target, {**payload, "text": link, "plain": link}, key),
            )
        return await self._send_text(config, target, payload, key)

    async def _send_text(
        self, config: SlackConfig, target: SlackTarget, payload: Mapping[str, Any], key: str
    ) -> Sent:
        sent = await self._place(config, target, payload, message_of(payload), key)
        if sent.outcome is Outcome.PERMANENT and "invalid_blocks" in sent.detail:
            sent = await self._place(config, target, payload, {"text": payload["plain"]}, key)
        of_recipient = sent.of_recipient and _channel(config, target) != config.default_channel
        return replace(sent, of_recipient=of_recipient)

    async def _place(
        self,
        config: SlackConfig,
        target: SlackTarget,
        payload: Mapping[str, Any],
        message: Mapping[str, Any],
        key: str,
    ) -> Sent:
        """Replaces the draft; without one, or where it is gone, sends a new message."""
        if draft := text(payload, "draft"):
            sent = await self._streaming.change(config, draft, message)
            if not is_gone(sent):
                return sent
        sent = Sent(Outcome.PERMANENT, "There is no conversation to answer in; set config.defaultChannel.")
        later: Sent | None = None
        async for sent in self._ways(config, target, message, int(payload.get("index", 0)), key):
            if not _other_way_may_help(sent):
                break
            if sent.outcome is Outcome.TRANSIENT:
                later = sent
        return later if later and sent.outcome is Outcome.PERMANENT else sent

    async def _ways(
        self, config: SlackConfig, target: SlackTarget, message: Mapping[str, Any], index: int, key: str
    ) -> AsyncIterator[Sent]:
        """A slash command may come from a conversation that the bot is not in: its response_url comes
        first there, and a direct message to the person last. A question is posted where the bot may do so:
        response_url tells no id, by which a typed decision could take the buttons away."""
        url = target.response_url
        usable = bool(url) and index < RESPONSE_URL_USES and self._is_fresh(target)
        asks = "blocks" in message
        response = {"response_type": "in_channel", "replace_original": False, **message}
        if usable and not asks:
            yield await self._api.respond(url, response)
        if channel := _channel(config, target):
            body = posted(channel, target.thread_ts, message, key)
            yield await self._api.post(config, "chat.postMessage", **body)
        if usable and asks:
            yield await self._api.respond(url, response)
        if user := target.user:
            yield await self._api.post(config, "chat.postMessage", **posted(user, "", message, key))

    def _is_fresh(self, target: SlackTarget) -> bool:
        now = self._clock.now().timestamp()
        return target.since is None or now - target.since < RESPONSE_URL_SECONDS

    async def _end_command(self, target: SlackTarget) -> Sent:
        """Replaces 'Working on it', which the sender alone sees, as long as the address works."""
        if not self._is_fresh(target):
            return Sent(Outcome.SENT)
        note = {"response_type": "ephemeral", "replace_original": True, "text": NO_ANSWER}
        sent = await self._api.respond(target.response_url, note)
        return Sent(Outcome.SENT) if sent.outcome is Outcome.PERMANENT else sent

    async def _upload(
        self, config: SlackConfig, target: SlackTarget, artifact: Artifact, content: bytes
    ) -> Sent | None:
        """Uploads a file in three steps (https://docs.slack.dev/messaging/working-with-files#upload).

        None where Slack does not take it. Nobody sees anything before the last step, so the others can be repeated.
        """
        size = {"filename": artifact.name, "length": str(len(content))}
        sent, upload = await self._api.call(config, "files.getUploadURLExternal", form=size)
        url, file_id = text(upload, "upload_url"), text(upload, "file_id")
        if sent.outcome is Outcome.SENT:
            request = HttpRequest("POST", url, content=content, timeout=UPLOAD_TIMEOUT)
            sent = await send(self._api.client.http, request) if url and file_id else Sent(Outcome.PERMANENT)
        if sent.outcome is not Outcome.SENT:
            return None if sent.outcome is Outcome.PERMANENT else repeatable(sent)
        form = {
            "files": json.dumps([{"id": file_id, "title": artifact.name}]),
            "channel_id": _channel(config, target),
        }
        if thread := target.thread_ts:
            form["thread_ts"] = thread
        sent, _ = await self._api.call(config, "files.completeUploadExternal", form=form)
        if sent.outcome is Outcome.PERMANENT:
            return None
        return replace(sent, ref=file_id) if sent.outcome is Outcome.SENT else sent


def _other_way_may_help(sent: Sent) -> bool:
    """Whether the message is surely not there, for a reason that lies with the way."""
    if sent.outcome is Outcome.TRANSIENT:
        return RESPONSE_URL in sent.detail
    return sent.outcome is Outcome.PERMANENT and (
        RESPONSE_URL in sent.detail or sent.detail.startswith(_NOT_THERE)
    )
