"""Posts answers: text, drafts, buttons, files, reactions.

Source: https://developers.mattermost.com/api-documentation/
"""

import logging
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from adapters.outbound.channels.common import files, messages, outcomes
from adapters.outbound.channels.common.bodies import at, items, text
from adapters.outbound.net.urls import segment
from adapters.outbound.rendering import Markup, render
from domain.channels.answers import Answer, Artifact, ClosedPrompt, OutboundMessage, Preview
from domain.channels.limits import Limits
from domain.channels.messages import Outcome, Sent
from domain.channels.rich import Card
from domain.conversations.choices import literal
from domain.conversations.rich_text import links_text
from ports.channels import ChannelDependencies
from ports.http import FormFile

from .api import Bots, MattermostApi, outcome
from .config import BUTTONS, POST_LIMIT, SOCKET, MattermostConfig, MattermostTarget
from .webhook import attached

MAX_CONCURRENCY = 16
"""Our choice, as a server is often small."""
MAX_FILE_BYTES = 100 * 1024 * 1024
"""The server's default limit (`FileSettings.MaxFileSize`); a larger file goes as a link."""
DRAFT_SECONDS = 1.0
"""Our choice: what a server takes is its own setting (10 requests a second if its limit is switched on)."""
_TOO_LARGE = 413

log = logging.getLogger(__name__)


def limits(config: MattermostConfig, target: MattermostTarget) -> Limits:
    """A server's rate limit binds the account that calls. Its numbers are the server's own setting, off by default
    (https://docs.mattermost.com/configure/rate-limiting-configuration-settings.html)."""
    return Limits(f"{config.server_url} {config.token}", max_concurrency=MAX_CONCURRENCY)


def buttons(config: MattermostConfig, target: MattermostTarget) -> int:
    """Presses come to the callback address, which a server that is read over a WebSocket need not reach."""
    return 0 if config.connection == SOCKET else BUTTONS


class Delivery:
    """The reference of a draft is the id of its post."""

    typing_seconds = 4.0
    """Clients show it for five seconds, unless the server's TimeBetweenUserTypingUpdatesMilliseconds is changed."""

    def __init__(self, dependencies: ChannelDependencies, api: MattermostApi, bots: Bots) -> None:
        self._artifacts = dependencies.artifacts
        self._api = api
        self._bots = bots

    def render(
        self, config: MattermostConfig, target: MattermostTarget, answer: Answer
    ) -> list[OutboundMessage]:
        """The text split within the limit, the choices under the last post of it, then one post for each card and
        each file."""
        payloads = messages.text_payloads(messages.rendered(answer, Markup.MATTERMOST, POST_LIMIT), answer)
        for payload in payloads:
            payload["message"] = payload.pop("text")
        if answer.choices:
            payloads[-1]["callback"] = answer.callback_url
        payloads = messages.in_place_of_draft(payloads, answer.draft, has_text=bool(payloads))
        payloads += [_card_payload(card) for card in answer.rich.cards] if answer.rich else []
        return [OutboundMessage(payload) for payload in payloads + messages.file_payloads(answer)]

    async def send(
        self, config: MattermostConfig, target: MattermostTarget, message: OutboundMessage, key: str
    ) -> Sent:
        """`key` keeps the server from making the same post twice."""
        target, payload = _in_channel(config, target), message.payload
        draft, content = text(payload, "draft"), text(payload, "message")

        async def withdraw() -> Sent:
            return outcomes.deleted(await self._api.remove(config, f"/posts/{segment(draft)}"), draft)

        if payload["kind"] == messages.WITHDRAWN:
            return await withdraw()
        send_text = partial(self._send_text, config, target, key)
        if payload["kind"] == files.FILE:
            upload = partial(self._upload, config, target, key)
            return await files.send_file(self._artifacts, payload, MAX_FILE_BYTES, upload, send_text)
        choices = items(payload, "choices")
        props = attached(config, target, text(payload, "callback"), choices) if choices else None
        if card := at(payload, "card"):
            props = {"attachments": [card]}
        if not draft:
            return await send_text(content, props)
        fields = {"message": content, **({"props": props} if props else {})}
        change = partial(self._change, config, draft, fields)
        return await messages.replaced(change, withdraw, partial(send_text, content, props))

    async def _send_text(
        self,
        config: MattermostConfig,
        target: MattermostTarget,
        key: str,
        content: str,
        props: Mapping[str, Any] | None = None,
    ) -> Sent:
        """A post with buttons is the bot's own where that may post: it can be changed."""
        more = {"props": props} if props else {}
        post = partial(self._post, config, target, key, content, **more)
        if not target.response_url:
            return await post()
        if props:
            sent = await post()
            if sent.outcome is not Outcome.PERMANENT:
                return sent
        body = {"text": content, "response_type": "in_channel", **(props or {})}
        sent = await self._api.respond(config, target.response_url, body)
        if sent.outcome is not Outcome.PERMANENT or props:  # it ends after 30 minutes or five answers
            return sent
        return await post()

    async def _upload(
        self, config: MattermostConfig, target: MattermostTarget, key: str, artifact: Artifact, content: bytes
    ) -> Sent | None:
        """Return None if the file is too large for the server. An upload alone shows nothing and can be repeated."""
        file = FormFile("files", artifact.name, artifact.mime_type, content)
        answer = await self._api.upload(config, target.channel, file)
        if isinstance(answer, Sent):
            return outcomes.repeatable(answer)
        if not answer.ok:
            return None if answer.status == _TOO_LARGE else outcome(answer)
        ids = [text(info, "id") for info in items(answer.json(), "file_infos")]
        if not ids:
            return Sent(Outcome.PERMANENT, "The upload gave no file id.")
        return await self._post(config, target, key, "", file_ids=ids)

    async def _post(
        self, config: MattermostConfig, target: MattermostTarget, key: str, message: str, **more: Any
    ) -> Sent:
        """Posts in the thread, beside it if it is gone. `key` keeps the server from making a post twice."""
        body = {"channel_id": target.channel, "message": message, "pending_post_id": key, **more}
        sent = await self._api.post(
            config, "/posts", {**body, "root_id": target.root} if target.root else body
        )
        if target.root and sent.outcome is Outcome.PERMANENT and "root" in sent.detail.lower():
            sent = await self._api.post(config, "/posts", body)
        # A failure in the channel of the instance itself concerns the instance.
        return replace(sent, of_recipient=sent.of_recipient and target.channel != config.channel_id)

    async def _change(self, config: MattermostConfig, post_id: str, fields: Mapping[str, Any]) -> Sent:
        return outcomes.edited(await self._api.change(config, post_id, fields), post_id)

    def preview(self, config: MattermostConfig, target: MattermostTarget) -> Preview | None:
        """A slash command is answered at another address, where nothing can be changed."""
        return None if target.response_url else messages.preview(Markup.MATTERMOST, POST_LIMIT, DRAFT_SECONDS)

    async def draft(
        self,
        config: MattermostConfig,
        target: MattermostTarget,
        message: OutboundMessage,
        draft: str,
        key: str,
    ) -> Sent:
        content = text(message.payload, "text")
        if draft:
            return await self._change(config, draft, {"message": content})
        return await self._post(config, _in_channel(config, target), key, content)

    async def typing(self, config: MattermostConfig, target: MattermostTarget) -> Sent:
        body = {"channel_id": _in_channel(config, target).channel, "parent_id": target.root}
        return await self._api.post(config, "/users/me/typing", body, timeout=5.0)

    async def react(
        self,
        config: MattermostConfig,
        target: MattermostTarget,
        message_id: str,
        emoji: str,
        *,
        present: bool,
    ) -> Sent:
        name = emoji.strip(":")
        own = await self._bots.account(config)
        if own is None:
            return Sent(Outcome.TRANSIENT, "Mattermost does not tell whose token it is")
        if present:
            body = {"user_id": own, "post_id": message_id, "emoji_name": name}
            return await self._api.post(config, "/reactions", body)
        path = f"/users/{segment(own)}/posts/{segment(message_id)}/reactions/{segment(name)}"
        return await self._api.remove(config, path)

    def prompt_target(
        self,
        config: MattermostConfig,
        target: MattermostTarget,
        message: OutboundMessage,
        ref: str,
        press: MattermostTarget | None,
    ) -> MattermostTarget | None:
        """A post of a slash command's address has no id: there the press names it."""
        if not message.payload.get("choices"):
            return None
        return replace(_in_channel(config, target), prompt=ref) if ref else press

    async def close_prompt(
        self, config: MattermostConfig, target: MattermostTarget, closed: ClosedPrompt
    ) -> None:
        shown = await messages.closed_text(Markup.MATTERMOST, closed, POST_LIMIT)
        if not target.prompt or shown is None:
            return
        fields = {"message": shown.text, "props": {"attachments": []}}
        sent = await self._change(config, target.prompt, fields)
        if sent.outcome is not Outcome.SENT:
            log.warning("a decided prompt could not be replaced: %s", sent.detail)

    async def acknowledge_press(
        self, config: MattermostConfig, target: MattermostTarget, notice: str
    ) -> None:
        """Answers below the prompt, by the name of who pressed: a bot has no posts for one person alone."""
        if not notice:
            return
        name = f"@{target.user_name}: " if target.user_name else ""
        root = target.root or target.prompt
        below = {"root_id": root} if root else {}
        body = {"channel_id": target.channel, "message": f"{name}{notice}", **below}
        await self._api.post(config, "/posts", body, timeout=10.0)


def _in_channel(config: MattermostConfig, target: MattermostTarget) -> MattermostTarget:
    """The target with a channel: that of the config if it names none."""
    return replace(target, channel=target.channel or config.channel_id)


def _card_payload(card: Card) -> dict[str, Any]:
    """A post with the title and one attachment. Links stand in its text: buttons of Mattermost open nothing.

    https://developers.mattermost.com/integrate/reference/message-attachments/
    """
    shown = _shown("\n\n".join(filter(None, (card.text.strip(), links_text(card.buttons)))))
    fields = [
        {"title": _shown(literal(field.name)), "value": _shown(literal(field.value)), "short": True}
        for field in card.fields
    ]
    attachment: dict[str, Any] = {
        "fallback": card.title,
        **({"text": shown} if shown else {}),
        **({"fields": fields} if fields else {}),
        **({"image_url": card.picture} if card.picture else {}),
    }
    return {"kind": "text", "message": _shown(f"**{literal(card.title)}**"), "card": attachment}


def _shown(markdown: str) -> str:
    """The text as Mattermost shows it, without mentions that would call all people of a channel."""
    return "\n\n".join(piece.text for piece in render(Markup.MATTERMOST, markdown, POST_LIMIT))
