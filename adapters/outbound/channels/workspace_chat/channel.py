"""The workspace-chat channel: Slack (https://docs.slack.dev/)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime

from adapters.outbound.channels.common.bodies import text
from adapters.outbound.channels.common.files import FILE
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
from domain.channels.model import ChannelDefinition
from ports.channels import ChannelDependencies

from . import drafts, prompts, webhook
from .api import WebApi
from .definition import DEFINITION
from .delivery import Messages, is_command, render_answer
from .downloads import Downloads
from .drafts import StreamingReply
from .limits import limits
from .prompts import Prompts
from .uploads import Uploads


class WorkspaceChat:
    """Slack, as the faces of `ports.channels` see it."""

    facts_ttl = 3600.0
    draft_seconds = 1.5

    def __init__(self, dependencies: ChannelDependencies) -> None:
        self._api = WebApi(dependencies)
        self._drafts = StreamingReply(self._api)
        self._messages = Messages(dependencies, self._api, self._drafts)
        self._uploads = Uploads(dependencies, self._api, self._messages)
        self._downloads = Downloads(dependencies, self._api)
        self._prompts = Prompts(dependencies, self._api)

    @property
    def definition(self) -> ChannelDefinition:
        return DEFINITION

    def receive(self, config: Config, call: RawCall, known: ChannelMetadata, now: datetime) -> Received:
        return webhook.receive(config, call, known, now)

    async def facts(self, config: Config) -> ChannelMetadata:
        """The bot's own user id, by which it is mentioned."""
        me = await self._api.ask(config, "auth.test", timeout=2.0)
        return {"user_id": text(me, "user_id")}

    def render(self, config: Config, target: Target, answer: Answer) -> Sequence[OutboundMessage]:
        return render_answer(target, answer)

    def limits(self, config: Config, target: Target) -> Limits:
        return limits(config, target)

    async def send(self, config: Config, target: Target, part: OutboundMessage, key: str) -> Sent:
        sender = self._uploads if part.payload.get("kind") == FILE else self._messages
        return await sender.send(config, target, part.payload, key)

    def beginning(self, config: Config, target: Target, text: str) -> str:
        return drafts.beginning(target, text)

    async def draft(self, config: Config, target: Target, beginning: str, draft: str, key: str) -> Sent:
        return await self._drafts.show(config, target, beginning, draft, key)

    def shows_waiting(self, config: Config, target: Target) -> bool:
        return is_command(target)

    async def decided(self, config: Config, target: Target, closed: ClosedPrompt) -> None:
        await self._prompts.decided(config, target, closed)

    async def noticed(self, config: Config, target: Target, words: str) -> None:
        await self._prompts.noticed(config, target, words)

    def as_pressed(
        self, config: Config, target: Target, part: OutboundMessage, ref: str, press: Target
    ) -> Target | None:
        return prompts.as_pressed(config, target, part, ref, press)

    async def probe(self, config: Config) -> None:
        await self._api.check_scopes(config)

    def fetch(self, config: Config, attachment: Attachment) -> AsyncIterator[bytes]:
        return self._downloads.fetch(config, attachment)


def build(dependencies: ChannelDependencies) -> WorkspaceChat:
    return WorkspaceChat(dependencies)
