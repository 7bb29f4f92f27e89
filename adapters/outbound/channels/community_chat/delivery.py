"""Posts answers: text as posts, files uploaded and then posted."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Any

from adapters.outbound.channels.common.bodies import at, items, text
from adapters.outbound.channels.common.files import (
    FILE,
    FileUnavailable,
    artifact_of,
    content_of,
    file_payload,
    link_text,
)
from adapters.outbound.channels.common.outcomes import failed
from adapters.outbound.channels.community_chat.api import Server, outcome
from adapters.outbound.channels.community_chat.definition import POST_LIMIT
from adapters.outbound.rendering import Markup, render
from domain.channels.messages import Answer, OutboundMessage, Outcome, Sent, Target
from ports.channels import ArtifactReader
from ports.http import FormFile, HttpAnswer, HttpFailed

MAX_FILE_BYTES = 100 * 1024 * 1024
"""The server's default limit (`FileSettings.MaxFileSize`); a larger file goes as a link."""

_TOO_LARGE = 413


def parts(answer: Answer) -> Sequence[OutboundMessage]:
    """The text split within the limit, then one post for each file."""
    rendered = render(Markup.MATTERMOST, answer.text, POST_LIMIT) if answer.text.strip() else []
    posts = [OutboundMessage({"kind": "text", "message": each.text}) for each in rendered]
    return [*posts, *(OutboundMessage(file_payload(artifact)) for artifact in answer.artifacts)]


async def send(
    server: Server, reader: ArtifactReader, target: Target, part: OutboundMessage, key: str
) -> Sent:
    """Sends one part; `key` keeps the server from making the same post twice."""
    if part.payload["kind"] == FILE:
        return await _send_file(server, reader, target, part, key)
    return await _send_text(server, target, part.payload["message"], key)


async def _send_text(server: Server, target: Target, message: str, key: str) -> Sent:
    response_url = target.get("responseUrl")
    if not response_url:
        return await _post(server, target, message, key)
    sent = await _outcome(server.respond(response_url, {"text": message, "response_type": "in_channel"}))
    if sent.outcome is Outcome.PERMANENT:  # it ends after 30 minutes or five answers
        return await _post(server, target, message, key)
    return sent


async def _send_file(
    server: Server, reader: ArtifactReader, target: Target, part: OutboundMessage, key: str
) -> Sent:
    artifact = artifact_of(part.payload)
    try:
        content = await content_of(reader, artifact, MAX_FILE_BYTES)
    except FileUnavailable:
        return await _send_text(server, target, link_text(artifact), key)
    file = FormFile("files", artifact.name, artifact.mime_type, content)
    try:
        answer = await server.upload(str(target["channel"]), file)
    except HttpFailed as error:
        return _not_posted(failed(error))
    if answer.status == _TOO_LARGE:
        return await _send_text(server, target, link_text(artifact), key)
    ids = [text(info, "id") for info in items(answer.json(), "file_infos")]
    if not answer.ok or not ids:
        return outcome(answer) if not answer.ok else Sent(Outcome.PERMANENT, "The upload gave no file id.")
    return await _post(server, target, "", key, file_ids=ids)


def _not_posted(sent: Sent) -> Sent:
    """An upload that may have arrived shows nothing to anyone: it can be tried again."""
    return Sent(Outcome.TRANSIENT, sent.detail) if sent.outcome is Outcome.UNKNOWN else sent


async def _post(server: Server, target: Target, message: str, key: str, **more: Any) -> Sent:
    body: dict[str, Any] = {
        "channel_id": target["channel"],
        "message": message,
        "pending_post_id": key,
        **more,
    }
    root = target.get("root")
    if not root:
        return await _outcome(server.post("/posts", body))
    sent = await _outcome(server.post("/posts", {**body, "root_id": root}))
    if sent.outcome is Outcome.PERMANENT and "root" in sent.detail.lower():  # the thread is gone
        return await _outcome(server.post("/posts", body))
    return sent


async def _outcome(exchange: Awaitable[HttpAnswer]) -> Sent:
    try:
        return outcome(await exchange)
    except HttpFailed as error:
        return failed(error)


async def typing(server: Server, target: Target) -> Sent:
    """Shows that the bot is writing."""
    body = {"channel_id": at(target, "channel"), "parent_id": at(target, "root") or ""}
    return await _outcome(server.post("/users/me/typing", body, timeout=5.0))
