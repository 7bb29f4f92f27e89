"""Sends files to Slack in three steps (https://docs.slack.dev/messaging/working-with-files#upload)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from adapters.outbound.channels.common.bodies import text
from adapters.outbound.channels.common.files import FileUnavailable, artifact_of, content_of, link_text
from adapters.outbound.channels.common.outcomes import by_status, exchange
from domain.channels.messages import Artifact, Config, Outcome, Sent, Target
from ports.channels import ChannelDependencies
from ports.http import HttpRequest

from .api import WebApi
from .delivery import Messages

MAX_FILE = 100 * 1024 * 1024
"""Slack takes 1 GB; more than this is held in memory by no one."""
UPLOAD_TIMEOUT = 120.0


class Uploads:
    """Sends files; where Slack does not take one, its link is sent."""

    def __init__(self, dependencies: ChannelDependencies, api: WebApi, messages: Messages) -> None:
        self._dependencies = dependencies
        self._api = api
        self._messages = messages

    async def send(self, config: Config, target: Target, payload: Mapping[str, Any], key: str) -> Sent:
        artifact = artifact_of(payload)
        try:
            content = await content_of(self._dependencies.artifacts, artifact, MAX_FILE)
        except FileUnavailable:
            return await self._send_link(config, target, payload, key)
        sent = await self._upload(config, target, artifact, content)
        if sent.outcome is Outcome.PERMANENT:
            return await self._send_link(config, target, payload, key)
        return sent

    async def _upload(self, config: Config, target: Target, artifact: Artifact, content: bytes) -> Sent:
        asked, place = await self._place(config, artifact, content)
        if asked.outcome is not Outcome.SENT:
            return asked
        request = HttpRequest("POST", text(place, "upload_url"), content=content, timeout=UPLOAD_TIMEOUT)
        answer = await exchange(self._dependencies.http, request)
        carried = answer if isinstance(answer, Sent) else by_status(answer)
        if carried.outcome is not Outcome.SENT:
            return _repeatable(carried)
        return await self._complete(config, target, artifact, text(place, "file_id"))

    async def _place(
        self, config: Config, artifact: Artifact, content: bytes
    ) -> tuple[Sent, Mapping[str, Any]]:
        fields = {"filename": artifact.name, "length": str(len(content))}
        request = self._api.request(config, "files.getUploadURLExternal", form=fields)
        sent, place = await self._api.deliver(request)
        if sent.outcome is Outcome.SENT and not (text(place, "upload_url") and text(place, "file_id")):
            sent = Sent(Outcome.PERMANENT, "Slack gave no upload address.")
        return _repeatable(sent), place

    async def _complete(self, config: Config, target: Target, artifact: Artifact, file_id: str) -> Sent:
        fields = {
            "files": json.dumps([{"id": file_id, "title": artifact.name}]),
            "channel_id": text(target, "channel") or text(config, "defaultChannel"),
        }
        if thread := text(target, "thread_ts"):
            fields["thread_ts"] = thread
        request = self._api.request(config, "files.completeUploadExternal", form=fields)
        sent, _ = await self._api.deliver(request)
        return replace(sent, ref=file_id) if sent.outcome is Outcome.SENT else sent

    async def _send_link(self, config: Config, target: Target, payload: Mapping[str, Any], key: str) -> Sent:
        words = link_text(artifact_of(payload))
        text_payload = {"text": words, "plain": words, "index": payload.get("index", 0)}
        return await self._messages.send(config, target, text_payload, key)


def _repeatable(sent: Sent) -> Sent:
    """Before the last step nothing is seen by anyone: what may have arrived can be sent again."""
    return replace(sent, outcome=Outcome.TRANSIENT) if sent.outcome is Outcome.UNKNOWN else sent
