"""Posts answers: text as posts, files uploaded and then posted."""

from dataclasses import replace
from functools import partial
from typing import Any

from adapters.outbound.channels.common.bodies import items, text
from adapters.outbound.channels.common.files import FILE, send_file
from adapters.outbound.channels.common.messages import file_payloads
from adapters.outbound.channels.common.outcomes import repeatable
from adapters.outbound.channels.community_chat.api import MattermostApi, outcome
from adapters.outbound.channels.community_chat.config import POST_LIMIT, MattermostConfig, MattermostTarget
from adapters.outbound.rendering import Markup, render
from domain.channels.limits import Limits
from domain.channels.messages import Answer, Artifact, OutboundMessage, Outcome, Sent
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
    """Choices are typed."""

    typing_seconds = 4.0
    """Clients show it for five seconds, unless the server's TimeBetweenUserTypingUpdatesMilliseconds is changed."""

    def __init__(self, dependencies: ChannelDependencies, api: MattermostApi) -> None:
        self._artifacts = dependencies.artifacts
        self._api = api

    def render(
        self, config: MattermostConfig, target: MattermostTarget, answer: Answer
    ) -> list[OutboundMessage]:
        """The text split within the limit, then one post for each file."""
        rendered = render(Markup.MATTERMOST, answer.text, POST_LIMIT) if answer.text.strip() else []
        payloads = [{"kind": "text", "message": piece.text} for piece in rendered]
        return [OutboundMessage(payload) for payload in payloads + file_payloads(answer)]

    async def send(
        self, config: MattermostConfig, target: MattermostTarget, message: OutboundMessage, key: str
    ) -> Sent:
        """`key` keeps the server from making the same post twice."""
        target = _in_channel(config, target)
        send_text = partial(self._send_text, config, target, key)
        if message.payload["kind"] == FILE:
            upload = partial(self._upload, config, target, key)
            return await send_file(self._artifacts, message.payload, MAX_FILE_BYTES, upload, send_text)
        return await send_text(text(message.payload, "message"))

    async def _send_text(
        self, config: MattermostConfig, target: MattermostTarget, key: str, content: str
    ) -> Sent:
        if target.response_url:
            body = {"text": content, "response_type": "in_channel"}
            sent = await self._api.respond(config, target.response_url, body)
            if sent.outcome is not Outcome.PERMANENT:  # it ends after 30 minutes or five answers
                return sent
        return await self._post(config, target, key, content)

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
        return await self._post(config, target, key, "", file_ids=ids)

    async def _post(
        self, config: MattermostConfig, target: MattermostTarget, key: str, message: str, **more: Any
    ) -> Sent:
        body = {"channel_id": target.channel, "message": message, "pending_post_id": key, **more}
        if target.root:
            sent = await self._api.post(config, "/posts", {**body, "root_id": target.root})
            thread_is_gone = sent.outcome is Outcome.PERMANENT and "root" in sent.detail.lower()
            if not thread_is_gone:
                return sent
        return await self._api.post(config, "/posts", body)

    async def typing(self, config: MattermostConfig, target: MattermostTarget) -> Sent:
        body = {"channel_id": _in_channel(config, target).channel, "parent_id": target.root}
        return await self._api.post(config, "/users/me/typing", body, timeout=5.0)


def _in_channel(config: MattermostConfig, target: MattermostTarget) -> MattermostTarget:
    return replace(target, channel=target.channel or config.channel_id)
