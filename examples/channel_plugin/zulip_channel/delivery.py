"""Renders answers and sends them: https://zulip.com/api/send-message."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence

from adapters.outbound.channels.common.bodies import text
from adapters.outbound.channels.common.files import link_text
from adapters.outbound.channels.common.outcomes import by_status, send
from adapters.outbound.rendering import Markup, render
from domain.channels.answers import Answer, OutboundMessage
from domain.channels.limits import Limits
from domain.channels.messages import Sent
from ports.http import Http, HttpAnswer, HttpRequest
from zulip_channel.config import DEFINITION, ZulipConfig, ZulipTarget


class Delivery:
    def __init__(self, http: Http) -> None:
        self._http = http

    def render(self, config: ZulipConfig, target: ZulipTarget, answer: Answer) -> Sequence[OutboundMessage]:
        """Zulip's markup is close to Mattermost's. Files are sent as links."""
        texts = [rendered.text for rendered in render(Markup.MATTERMOST, answer.text, DEFINITION.text_limit)]
        texts += [link_text(artifact) for artifact in answer.artifacts]
        return [OutboundMessage({"content": content}) for content in texts]

    async def send(
        self, config: ZulipConfig, target: ZulipTarget, message: OutboundMessage, key: str
    ) -> Sent:
        """Zulip has no idempotency key."""
        credentials = base64.b64encode(f"{config.bot_email}:{config.api_key}".encode()).decode()
        place = {"type": "stream", "to": str(target.to), "topic": target.topic}
        if target.direct:
            place = {"type": "direct", "to": json.dumps([target.to])}
        request = HttpRequest(
            "POST",
            f"{config.site.rstrip('/')}/api/v1/messages",
            headers={"authorization": f"Basic {credentials}"},
            form={**place, "content": text(message.payload, "content")},
            user_address=True,
        )
        return await send(self._http, request, _outcome)

    def limits(self, config: ZulipConfig, target: ZulipTarget) -> Limits:
        return Limits(account=f"{config.site} {config.bot_email}", conversation=f"{target.to}:{target.topic}")


def _outcome(answer: HttpAnswer) -> Sent:
    body = answer.json()
    return by_status(answer, text(body, "msg"), ref=text(body, "id"))
