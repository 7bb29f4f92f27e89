"""Posts answers: text as posts, files uploaded and then posted."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from adapters.outbound.channels.common.bodies import items, text
from adapters.outbound.channels.common.drafts import WITHDRAWN, in_place_of_draft, replaced
from adapters.outbound.channels.common.files import FILE, send_file
from adapters.outbound.channels.common.messages import file_payloads, split_question, text_payloads
from adapters.outbound.channels.common.outcomes import repeatable
from adapters.outbound.channels.community_chat.api import MattermostApi, outcome
from adapters.outbound.channels.community_chat.buttons import attached
from adapters.outbound.channels.community_chat.config import (
    BUTTONS,
    POST_LIMIT,
    SOCKET,
    MattermostConfig,
    MattermostTarget,
)
from adapters.outbound.channels.community_chat.posting import Posting, in_channel
from adapters.outbound.rendering import Markup, render
from domain.channels.answers import Answer, Artifact, OutboundMessage
from domain.channels.limits import Limits
from domain.channels.messages import Outcome, Sent
from ports.channels import ChannelDependencies
from ports.http import FormFile

MAX_CONCURRENCY = 16
"""Our choice, as a server is often small."""
MAX_FILE_BYTES = 100 * 1024 * 1024
"""The server's default limit (`FileSettings.MaxFileSize`); a larger file goes as a link."""
_TOO_LARGE = 413


def limits(config: MattermostConfig, target: MattermostTarget) -> Limits:
    """A server's rate limit binds the account that calls. Its numbers are the server's own setting, off by default
    (https://docs.mattermost.com/configure/rate-limiting-configuration-settings.html)."""
    return Limits(f"{config.server_url} {config.token}", max_concurrency=MAX_CONCURRENCY)


class Delivery:
    typing_seconds = 4.0
    """Clients show it for five seconds, unless the server's TimeBetweenUserTypingUpdatesMilliseconds is changed."""

    def __init__(self, dependencies: ChannelDependencies, api: MattermostApi, posting: Posting) -> None:
        self._artifacts = dependencies.artifacts
        self._api = api
        self._posting = posting

    def render(
        self, config: MattermostConfig, target: MattermostTarget, answer: Answer
    ) -> list[OutboundMessage]:
        """The text split within the limit, the choices under the last post of it, then one post for each file."""
        parts = [part for part in split_question(answer) if part.strip()]
        rendered = [piece for part in parts for piece in render(Markup.MATTERMOST, part, POST_LIMIT)]
        payloads = text_payloads(rendered, answer)
        for payload in payloads:
            payload["message"] = payload.pop("text")
        if answer.choices:
            payloads[-1]["callback"] = answer.callback_url
        payloads = in_place_of_draft(payloads, answer.draft, has_text=bool(payloads))
        return [OutboundMessage(payload) for payload in payloads + file_payloads(answer)]

    async def send(
        self, config: MattermostConfig, target: MattermostTarget, message: OutboundMessage, key: str
    ) -> Sent:
        """`key` keeps the server from making the same post twice."""
        target = in_channel(config, target)
        payload = message.payload
        draft, content = text(payload, "draft"), text(payload, "message")
        withdraw = partial(self._posting.withdraw, config, draft)
        if payload["kind"] == WITHDRAWN:
            return await withdraw()
        send_text = partial(self._send_text, config, target, key)
        if payload["kind"] == FILE:
            upload = partial(self._upload, config, target, key)
            return await send_file(self._artifacts, payload, MAX_FILE_BYTES, upload, send_text)
        props = _buttons(config, target, payload)
        if not draft:
            return await send_text(content, props)
        fields = {"message": content, **({"props": props} if props else {})}
        change = partial(self._posting.change, config, draft, fields)
        return await replaced(change, withdraw, partial(send_text, content, props))

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
        post = partial(self._posting.post, config, target, key, content, **more)
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
        """None where the file is too large for the server. An upload alone shows nothing and can be repeated."""
        file = FormFile("files", artifact.name, artifact.mime_type, content)
        answer = await self._api.upload(config, target.channel, file)
        if isinstance(answer, Sent):
            return repeatable(answer)
        if not answer.ok:
            return None if answer.status == _TOO_LARGE else outcome(answer)
        ids = [text(info, "id") for info in items(answer.json(), "file_infos")]
        if not ids:
            return Sent(Outcome.PERMANENT, "The upload gave no file id.")
        return await self._posting.post(config, target, key, "", file_ids=ids)

    async def typing(self, config: MattermostConfig, target: MattermostTarget) -> Sent:
        body = {"channel_id": in_channel(config, target).channel, "parent_id": target.root}
        return await self._api.post(config, "/users/me/typing", body, timeout=5.0)


def buttons(config: MattermostConfig, target: MattermostTarget) -> int:
    """Presses come to the callback address, which a server that is read over a WebSocket need not reach."""
    return 0 if config.connection == SOCKET else BUTTONS


def _buttons(
    config: MattermostConfig, target: MattermostTarget, payload: Mapping[str, Any]
) -> Mapping[str, Any] | None:
    choices = payload.get("choices")
    return attached(config, target, text(payload, "callback"), choices) if choices else None
