"""Sends answers to Slack: messages in mrkdwn, buttons, files, drafts and reactions.

A message goes by the first way that reaches the conversation.
"""

import hashlib
import json
import logging
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import UUID

from adapters.outbound.channels.common import messages, outcomes, rich
from adapters.outbound.channels.common.bodies import text
from adapters.outbound.channels.common.files import FILE, send_file
from adapters.outbound.rendering import Markup, render
from domain.channels.answers import Answer, Artifact, ClosedPrompt, OutboundMessage, Preview
from domain.channels.limits import Limits, Quota
from domain.channels.messages import Outcome, Sent
from domain.channels.rich import Form, RichKind
from ports.channels import ChannelDependencies
from ports.http import HttpRequest

from . import blocks, forms
from .api import RESPONSE_URL, WebApi
from .config import TEXT_LIMIT, SlackConfig, SlackTarget

RESPONSE_URL_SECONDS = 30 * 60 - 30
RESPONSE_URL_USES = 4
"""Slack takes five answers in 30 minutes; one is left for a message that has to be sent again."""
MAX_FILE = 100 * 1024 * 1024
"""Slack takes 1 GB; our limit bounds the memory that an upload takes."""
UPLOAD_TIMEOUT = 120.0
DRAFT_SECONDS = 1.5
"""https://docs.slack.dev/reference/methods/chat.update takes about 50 calls a minute."""
NOT_OPENED = "The form could not be opened. Please press the button again."
UNANSWERED = "unanswered"
NO_ANSWER = "Done. There is no answer to show."
TYPING = "is writing ..."
log = logging.getLogger(__name__)

RICH_KINDS = frozenset({RichKind.BUTTONS, RichKind.CARDS})
_NOT_THERE = ("not_in_channel", "channel_not_found", "is_archived", "restricted_action")
_NOT_EDITABLE = (
    "message_not_found", "cant_update_message", "edit_window_closed", "channel_not_found", "is_archived",
)  # fmt: skip
_DELETED = ("message_not_found", "cant_delete_message")
_REACTED = ("already_reacted", "no_reaction", "message_not_found")
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
    """Return True for a command, whose sender sees that it is being worked on."""
    return bool(target.response_url)


class Delivery:
    """The reference of a draft is 'channel:ts', with the channel that Slack's answer named: chat.update needs it."""

    typing_seconds = 100.0
    """Slack shows it for two minutes."""

    def __init__(self, dependencies: ChannelDependencies, api: WebApi) -> None:
        self._clock = dependencies.clock
        self._artifacts = dependencies.artifacts
        self._api = api

    def render(self, config: SlackConfig, target: SlackTarget, answer: Answer) -> list[OutboundMessage]:
        """Texts, the choices and links under the last of them, each card, then each file; for a command without any
        of these a note.

        The first text replaces the draft; an answer without text deletes it.
        """
        answer, links = rich.with_links(answer, blocks.MOST_LINKS, blocks.LONGEST_URL, blocks.LONGEST_LABEL)
        before, question = messages.split_question(answer)
        first_limit = blocks.BLOCK_LIMIT if links else TEXT_LIMIT
        pieces = [
            *render(Markup.MRKDWN, before, first_limit),
            *render(Markup.MRKDWN, question, blocks.BLOCK_LIMIT),
        ]
        payloads = messages.text_payloads(pieces, answer, with_plain=True)
        payloads = rich.under_last(payloads, links)
        has_text = bool(payloads)
        payloads += [blocks.card_payload(card) for card in answer.rich.cards] if answer.rich else []
        if not payloads and not answer.artifacts and shows_waiting(config, target):
            payloads = [{"kind": UNANSWERED}]
        payloads = messages.in_place_of_draft(payloads, answer.draft, has_text=has_text)
        payloads += messages.file_payloads(answer)
        return [OutboundMessage({**payload, "index": index}) for index, payload in enumerate(payloads)]

    async def send(
        self, config: SlackConfig, target: SlackTarget, message: OutboundMessage, key: str
    ) -> Sent:
        payload = message.payload
        if payload.get("kind") == messages.WITHDRAWN:
            draft = text(payload, "draft")
            channel, _, ts = draft.rpartition(":")
            sent = await self._api.post(config, "chat.delete", channel=channel, ts=ts)
            return outcomes.deleted(sent, draft, _DELETED)
        if payload.get("kind") == UNANSWERED:
            # Replaces 'Working on it', which the sender alone sees, as long as the address works.
            if not self._is_fresh(target):
                return Sent(Outcome.SENT)
            note = {"response_type": "ephemeral", "replace_original": True, "text": NO_ANSWER}
            sent = await self._api.respond(target.response_url, note)
            return Sent(Outcome.SENT) if sent.outcome is Outcome.PERMANENT else sent
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
        plain = rich.with_addresses(payload)
        message: dict[str, Any] = {"text": payload["text"] or plain}
        if shown := blocks.of_payload(payload):
            message["blocks"] = shown
        sent = await self._deliver(config, target, payload, message, key)
        if sent.outcome is Outcome.PERMANENT and "invalid_blocks" in sent.detail:
            sent = await self._deliver(config, target, payload, {"text": plain}, key)
        of_recipient = sent.of_recipient and _channel(config, target) != config.default_channel
        return replace(sent, of_recipient=of_recipient)

    async def _deliver(
        self,
        config: SlackConfig,
        target: SlackTarget,
        payload: Mapping[str, Any],
        message: Mapping[str, Any],
        key: str,
    ) -> Sent:
        """Replaces the draft; without one, or if it cannot be changed any more, sends a new message."""
        if draft := text(payload, "draft"):
            sent = await self._change(config, draft, message)
            if sent.outcome is not Outcome.PERMANENT or not sent.detail.startswith(_NOT_EDITABLE):
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
        """Outcomes of one way after the other. A slash command may come from a conversation that the bot is not in:
        its response_url comes first there, and a direct message to the person last. A question is posted where the
        bot may do so: response_url returns no id, by which a typed decision could take the buttons away."""
        url, asks = target.response_url, "blocks" in message
        usable = bool(url) and index < RESPONSE_URL_USES and self._is_fresh(target)
        response = {"response_type": "in_channel", "replace_original": False, **message}
        if usable and not asks:
            yield await self._api.respond(url, response)
        if channel := _channel(config, target):
            body = _post(channel, target.thread_ts, message, key)
            yield await self._api.post(config, "chat.postMessage", **body)
        if usable and asks:
            yield await self._api.respond(url, response)
        if user := target.user:
            yield await self._api.post(config, "chat.postMessage", **_post(user, "", message, key))

    def _is_fresh(self, target: SlackTarget) -> bool:
        now = self._clock.now().timestamp()
        return target.since is None or now - target.since < RESPONSE_URL_SECONDS

    async def _upload(
        self, config: SlackConfig, target: SlackTarget, artifact: Artifact, content: bytes
    ) -> Sent | None:
        """Uploads a file in three steps (https://docs.slack.dev/messaging/working-with-files#upload).

        None if Slack does not take it. Nobody sees anything before the last step, so the others can be repeated.
        """
        size = {"filename": artifact.name, "length": str(len(content))}
        sent, upload = await self._api.call(config, "files.getUploadURLExternal", form=size)
        url, file_id = text(upload, "upload_url"), text(upload, "file_id")
        if sent.outcome is Outcome.SENT:
            request = HttpRequest("POST", url, content=content, timeout=UPLOAD_TIMEOUT)
            sent = (
                await outcomes.send(self._api.client.http, request)
                if url and file_id
                else Sent(Outcome.PERMANENT)
            )
        if sent.outcome is not Outcome.SENT:
            return None if sent.outcome is Outcome.PERMANENT else outcomes.repeatable(sent)
        files = json.dumps([{"id": file_id, "title": artifact.name}])
        form = {"files": files, "channel_id": _channel(config, target)}
        if target.thread_ts:
            form["thread_ts"] = target.thread_ts
        sent, _ = await self._api.call(config, "files.completeUploadExternal", form=form)
        if sent.outcome is Outcome.PERMANENT:
            return None
        return replace(sent, ref=file_id) if sent.outcome is Outcome.SENT else sent

    def preview(self, config: SlackConfig, target: SlackTarget) -> Preview | None:
        """A slash command is answered at another address, so it has no draft."""
        if target.response_url or not target.channel:
            return None
        return messages.preview(Markup.MRKDWN, TEXT_LIMIT, DRAFT_SECONDS)

    async def draft(
        self, config: SlackConfig, target: SlackTarget, message: OutboundMessage, draft: str, key: str
    ) -> Sent:
        shown = {"text": message.payload["text"]}
        if draft:
            return await self._change(config, draft, shown)
        body = _post(target.channel, target.thread_ts, shown, key)
        sent, answer = await self._api.call(config, "chat.postMessage", json=body)
        channel = text(answer, "channel") or target.channel
        return replace(sent, ref=f"{channel}:{sent.ref}") if sent.ref else sent

    async def _change(self, config: SlackConfig, draft: str, message: Mapping[str, Any]) -> Sent:
        channel, _, ts = draft.rpartition(":")
        return outcomes.edited(
            await self._api.post(config, "chat.update", channel=channel, ts=ts, **message), draft
        )

    async def typing(self, config: SlackConfig, target: SlackTarget) -> Sent | None:
        """Sets the status of the bot in a thread, until the bot writes there. Outside of threads it has no status.

        Source: https://docs.slack.dev/reference/methods/assistant.threads.setStatus
        """
        if not target.channel or not target.thread_ts:
            return None
        thread = {"channel_id": target.channel, "thread_ts": target.thread_ts}
        return await self._api.post(config, "assistant.threads.setStatus", **thread, status=TYPING)

    async def react(
        self, config: SlackConfig, target: SlackTarget, message_id: str, emoji: str, *, present: bool
    ) -> Sent:
        """`message_id` is 'channel:ts' (https://docs.slack.dev/reference/methods/reactions.add)."""
        channel, _, timestamp = message_id.rpartition(":")
        method = "reactions.add" if present else "reactions.remove"
        name = emoji.strip(":")
        sent = await self._api.post(config, method, channel=channel, timestamp=timestamp, name=name)
        return Sent(Outcome.SENT) if sent.detail.startswith(_REACTED) else sent

    def prompt_target(
        self,
        config: SlackConfig,
        target: SlackTarget,
        message: OutboundMessage,
        ref: str,
        press: SlackTarget | None,
    ) -> SlackTarget | None:
        """`ref` is the prompt's ts, behind 'channel:' if it replaced a draft. A press names its message itself, also
        if the prompt went to the sender directly."""
        draft_channel, _, ts = ref.rpartition(":")
        channel = draft_channel or target.channel or config.default_channel
        if not message.payload.get("choices") or not channel:
            return None
        return press or SlackTarget(channel=channel, prompt_ts=ts)

    async def close_prompt(self, config: SlackConfig, target: SlackTarget, closed: ClosedPrompt) -> None:
        prompt, channel = target.prompt_ts, target.channel
        shown = await messages.closed_text(Markup.MRKDWN, closed, blocks.BLOCK_LIMIT)
        if not prompt or shown is None:
            return
        message = {"text": shown.text, "blocks": [blocks.section(shown.text)]}
        if not await self._respond(target, {"replace_original": True, **message}):
            await self._api.post(config, "chat.update", channel=channel, ts=prompt, **message)

    async def acknowledge_press(self, config: SlackConfig, target: SlackTarget, notice: str) -> None:
        """Shows a text to the person who pressed and nobody else; a press without text needs no answer."""
        if not notice:
            return
        message = {"response_type": "ephemeral", "replace_original": False, "text": notice}
        if not await self._respond(target, message):
            body = {"channel": target.channel, "user": target.user, "text": notice}
            if target.thread_ts:
                body["thread_ts"] = target.thread_ts
            await self._api.post(config, "chat.postEphemeral", **body)

    def shows_form(self, config: SlackConfig, target: SlackTarget, form: Form) -> bool:
        return forms.shows_form(config, target, form)

    async def open_form(self, config: SlackConfig, target: SlackTarget, form: Form, reference: str) -> None:
        view = forms.view(form, reference, target)
        sent = await self._api.post(config, "views.open", trigger_id=target.trigger_id, view=view)
        if sent.outcome is not Outcome.SENT:
            log.warning("a form could not be opened: %s", sent.detail)
            await self.acknowledge_press(config, target, NOT_OPENED)

    async def _respond(self, target: SlackTarget, body: Mapping[str, Any]) -> bool:
        """Posts to the response_url of a press. Return False if it does not work."""
        url = target.prompt_url
        return bool(url) and (await self._api.respond(url, body)).outcome is Outcome.SENT


def _channel(config: SlackConfig, target: SlackTarget) -> str:
    return target.channel or config.default_channel


def _other_way_may_help(sent: Sent) -> bool:
    """Return True if the message is surely not there, for a reason that lies with the way."""
    if sent.outcome is Outcome.TRANSIENT:
        return RESPONSE_URL in sent.detail
    return sent.outcome is Outcome.PERMANENT and (
        RESPONSE_URL in sent.detail or sent.detail.startswith(_NOT_THERE)
    )


def _post(channel: str, thread: str, message: Mapping[str, Any], key: str) -> dict[str, Any]:
    """The body of chat.postMessage. Its client_msg_id, a UUID, is the same for every try."""
    message_id = str(UUID(bytes=hashlib.sha256(key.encode()).digest()[:16], version=4))
    body = {"channel": channel, **message, "client_msg_id": message_id}
    return {**body, "thread_ts": thread} if thread else body
