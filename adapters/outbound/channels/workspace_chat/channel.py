"""The workspace-chat channel: Slack (https://docs.slack.dev/)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime

from adapters.outbound.channels.common.bodies import text
from domain.channels.limits import Limits
from domain.channels.messages import (
    Answer,
    Attachment,
    ChannelMetadata,
    ClosedPrompt,
    Config,
    OutboundMessage,
    RawCall,
    Received,
    Sent,
    Target,
)
from domain.channels.typed import RAW
from ports.channels import Channel, ChannelDependencies

from . import delivery, downloads, webhook
from .api import WebApi
from .definition import DEFINITION
from .drafts import Drafts
from .prompts import Prompts


class WorkspaceChat:
    """Slack, with the capabilities of `ports.channels`."""

    metadata_seconds = 3600.0
    draft_seconds = Drafts.draft_seconds

    def __init__(self, dependencies: ChannelDependencies) -> None:
        self._api = WebApi(dependencies)
        self._drafts = Drafts(self._api)
        self._delivery = delivery.Delivery(dependencies, self._api, self._drafts)
        self._prompts = Prompts(self._api)

    def receive(self, config: Config, call: RawCall, known: ChannelMetadata, now: datetime) -> Received:
        return webhook.receive(config, call, known, now)

    async def fetch_metadata(self, config: Config) -> ChannelMetadata:
        """The bot's own user id, by which it is mentioned."""
        me = await self._api.read(config, "auth.test", timeout=2.0)
        return {"user_id": text(me, "user_id")}

    def render(self, config: Config, target: Target, answer: Answer) -> Sequence[OutboundMessage]:
        return self._delivery.render(config, target, answer)

    def limits(self, config: Config, target: Target) -> Limits:
        return delivery.limits(config, target)

    async def send(self, config: Config, target: Target, part: OutboundMessage, key: str) -> Sent:
        return await self._delivery.send(config, target, part, key)

    def beginning(self, config: Config, target: Target, text: str) -> str:
        return self._drafts.beginning(config, target, text)

    async def draft(self, config: Config, target: Target, beginning: str, draft: str, key: str) -> Sent:
        return await self._drafts.draft(config, target, beginning, draft, key)

    def shows_waiting(self, config: Config, target: Target) -> bool:
        return delivery.is_command(target)

    async def decided(self, config: Config, target: Target, closed: ClosedPrompt) -> None:
        await self._prompts.decided(config, target, closed)

    async def noticed(self, config: Config, target: Target, words: str) -> None:
        await self._prompts.noticed(config, target, words)

    def as_pressed(
        self, config: Config, target: Target, part: OutboundMessage, ref: str, press: Target | None
    ) -> Target | None:
        return self._prompts.as_pressed(config, target, part, ref, press)

    async def probe(self, config: Config) -> None:
        await self._api.check_scopes(config)

    def fetch(self, config: Config, attachment: Attachment) -> AsyncIterator[bytes]:
        return downloads.fetch(self._api, config, attachment)


def build(dependencies: ChannelDependencies) -> Channel[Config, Target]:
    channel = WorkspaceChat(dependencies)
    return Channel(
        definition=DEFINITION,
        config=RAW,
        target=RAW,
        webhook=channel,
        metadata=channel,
        sender=channel,
        limits=channel,
        probe=channel,
        fetcher=channel,
        waiting=channel,
        streaming=channel,
        button_ack=channel,
        prompt_closer=channel,
    )
